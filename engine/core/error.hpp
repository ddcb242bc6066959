#pragma once

#include <stdexcept>
#include <string>

namespace evo {

/// Exit codes shared by every program of the project.
enum class ExitCode : int {
  kGreen = 0,          ///< the program found a green winner, or did what was asked
  kNothingGreen = 1,   ///< the program ran, but no candidate passed all gates
  kBadInput = 2,       ///< bad usage or input
  kMissing = 3,        ///< a toolkit, library or device is missing or cannot be used
  kInterrupted = 130,  ///< stopped by a signal; all finished results are stored
};

/// Base of the exceptions for a broken machine, a bad input, a bad usage and an interruption. A
/// candidate that fails causes a Rejection, never an Error.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ExitCode exit_code() const { return code_; }

 private:
  ExitCode code_;
};

/// Bad usage or input. The message says where the error is, and what is allowed there.
class InputError : public Error {
 public:
  explicit InputError(const std::string& message) : Error(ExitCode::kBadInput, message) {}
};

/// A search space file, or a configuration for a space, that cannot be used.
class SpaceError : public InputError {
 public:
  using InputError::InputError;
};

/// A problem that cannot be used, for example because of its file, its data files, its reference or
/// its programs.
class ProblemError : public InputError {
 public:
  using InputError::InputError;
};

/// The database cannot be opened, read or written, or belongs to another program.
class DbError : public InputError {
 public:
  using InputError::InputError;
};

/// A toolkit, library or device is missing or cannot be used.
class MissingError : public Error {
 public:
  explicit MissingError(const std::string& message) : Error(ExitCode::kMissing, message) {}
};

/// This machine has no GPU. A GPU that cannot be used causes a MissingError of another class.
class NoGpuError : public MissingError {
 public:
  using MissingError::MissingError;
};

/// A call of the CUDA driver failed, and the candidate is not the cause.
class CudaError : public MissingError {
 public:
  using MissingError::MissingError;
};

/// The device has less memory than requested.
class DeviceMemoryError : public CudaError {
 public:
  using CudaError::CudaError;
};

/// NVRTC itself failed, although the kernel may be right.
class NvrtcError : public MissingError {
 public:
  using MissingError::MissingError;
};

}  // namespace evo
