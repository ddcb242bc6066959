#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/compile/source.hpp"
#include "engine/core/measurement.hpp"
#include "engine/core/rejection.hpp"

namespace evo {

/// Everything that determines the result of a compilation, except for the compiler's version and
/// the files that the compiler opens in include paths; Dependency (file_watch.hpp) records these
/// files.
struct CompileRequest {
  KernelSource source;
  std::vector<std::string> entries;  ///< C++ names of the kernels, without repetition
  std::string arch;                  ///< for example "sm_89"
  std::vector<std::string> options;  ///< -D… and other options, in order

  /// The key by which the database finds earlier compilations (CompilationFacts::request_key): a
  /// hash of source, headers, entries, architecture, options and the compiler's version.
  [[nodiscard]] std::string key(const std::string& compiler_version) const;
};

/// A successfully compiled kernel.
struct Compiled {
  std::string ptx;
  std::string cubin;
  std::string log;
  std::string ptx_hash;  ///< hash of the PTX without comments and line information
  /// largest_of() all entries; compiled_entries() gives the resources of each entry
  Resources resources;
  double compile_ms = 0;
  /// PTX and cubin as Zstandard frames for the database; empty if not compressed yet.
  std::string packed_ptx = {};
  std::string packed_cubin = {};
};

/// A failure of the compiler, which the kernel may not have caused, so that the compilation is
/// repeated in a new process before the kernel is rejected.
struct CompilerFailure {
  enum class Kind {
    kInternal,     ///< an internal error of the compiler
    kOutOfMemory,  ///< the machine had no memory left, or the process reached its memory limit
  };
  Kind kind = Kind::kInternal;
  std::string reason;
  std::string detail = {};
};

/// The final result of a compilation: a kernel or a rejection.
using CompileOutcome = std::variant<Compiled, Rejection>;
/// The result of one run of the compiler: a kernel, a rejection, or a failure of the compiler.
using CompileAnswer = std::variant<Compiled, Rejection, CompilerFailure>;

/// The interface to the compiler. Throws NvrtcError or MissingError if the toolchain is broken.
class Compiler {
 public:
  virtual ~Compiler() = default;
  /// Name and version of the compiler, such as "nvrtc 13.0".
  [[nodiscard]] virtual std::string version() const = 0;
  [[nodiscard]] virtual CompileAnswer compile(const CompileRequest& request) = 0;
};

/// Makes the result of one run of the compiler final: a failure of the compiler becomes a rejection
/// by the build gate.
[[nodiscard]] CompileOutcome outcome_of(CompileAnswer answer);

}  // namespace evo
