#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/compile/source.hpp"
#include "engine/core/measurement.hpp"
#include "engine/core/rejection.hpp"

namespace evo {

/// Everything that determines a compilation, except the files that it opens in include paths
/// (Dependency).
struct CompileRequest {
  KernelSource source;
  std::vector<std::string> entries;  ///< C++ names, without repetition
  std::string arch;                  ///< "sm_89"
  std::vector<std::string> options;  ///< -D… and other options, in order

  /// The content key: a hash of source, headers, entries, architecture, options and the compiler's
  /// version.
  [[nodiscard]] std::string key(const std::string& compiler_version) const;
};

/// A successfully compiled kernel.
struct Compiled {
  std::string ptx;
  std::string cubin;
  std::string log;
  std::string ptx_hash;  ///< hash of the PTX without comments and line information
  /// the maximum over all entries; compiled_entries() gives those of each entry
  Resources resources;
  double compile_ms = 0;
  /// PTX and cubin as ZstdFrames for storage; empty if they have not been packed.
  std::string packed_ptx = {};
  std::string packed_cubin = {};
};

/// The compiler failed for a reason that may not be the kernel's fault. The compilation is repeated
/// in a fresh process before the kernel is rejected.
struct CompilerFailure {
  enum class Kind {
    kInternal,     ///< an internal error of the compiler
    kOutOfMemory,  ///< the machine or the process's limit ran out of memory; not the kernel's fault
  };
  Kind kind = Kind::kInternal;
  std::string reason;
  std::string detail = {};
};

/// The result of a compilation: a kernel or a rejection.
using CompileOutcome = std::variant<Compiled, Rejection>;
/// The result of one run of the compiler.
using CompileAnswer = std::variant<Compiled, Rejection, CompilerFailure>;

/// The interface to the compiler. Throws NvrtcError or MissingError if the toolchain is broken.
class Compiler {
 public:
  virtual ~Compiler() = default;
  /// For example "nvrtc 13.0".
  [[nodiscard]] virtual std::string version() const = 0;
  [[nodiscard]] virtual CompileAnswer compile(const CompileRequest& request) = 0;
};

/// The final result if there is no second try: a failure becomes a rejection by the build gate.
[[nodiscard]] CompileOutcome outcome_of(CompileAnswer answer);

}  // namespace evo
