#pragma once

#include <stdexcept>
#include <string>

namespace evo {

/// Exit codes shared by every program of the project.
enum class ExitCode : int {
  kGreen = 0,          ///< the program ran and found a green winner (or did the work asked for)
  kNothingGreen = 1,   ///< the program ran, but no candidate passed every gate
  kBadInput = 2,       ///< bad usage or input
  kMissing = 3,        ///< the toolkit or the device is missing
  kInterrupted = 130,  ///< stopped by a signal; everything finished so far is stored
};

/// Base of every exception of this project: the machine, the input or the program is broken. A
/// failing candidate is never an exception but a Rejection.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ExitCode exit_code() const { return code_; }

 private:
  ExitCode code_;
};

/// Bad usage or input; the message names file, key, value and what is allowed.
class InputError : public Error {
 public:
  explicit InputError(const std::string& message) : Error(ExitCode::kBadInput, message) {}
};

/// A search space file, or a candidate given for it, that cannot be used.
class SpaceError : public InputError {
 public:
  using InputError::InputError;
};

/// A problem file that cannot be used.
class ProblemError : public InputError {
 public:
  using InputError::InputError;
};

/// The database cannot be opened, read or written, or belongs to another program.
class DbError : public InputError {
 public:
  using InputError::InputError;
};

/// A toolkit, library or device is missing. The message says how to get it.
class MissingError : public Error {
 public:
  explicit MissingError(const std::string& message) : Error(ExitCode::kMissing, message) {}
};

/// This machine has no GPU (as opposed to a GPU that cannot be used).
class NoCardError : public MissingError {
 public:
  using MissingError::MissingError;
};

/// A call of the CUDA driver failed for a reason other than the candidate.
class CudaError : public MissingError {
 public:
  using MissingError::MissingError;
};

/// The device has less memory than requested.
class DeviceMemoryError : public CudaError {
 public:
  using CudaError::CudaError;
};

/// NVRTC itself failed (not the kernel it was given).
class NvrtcError : public MissingError {
 public:
  using MissingError::MissingError;
};

}  // namespace evo
