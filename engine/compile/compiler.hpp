#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/compile/source.hpp"
#include "engine/core/measurement.hpp"
#include "engine/core/rejection.hpp"

namespace evo {

/// Everything that determines a compilation, but for the files in include paths that it opens
/// (Dependency).
struct CompileRequest {
  KernelSource source;
  std::vector<std::string> entries;  ///< in C++, different ones
  std::string arch;                  ///< "sm_89"
  std::vector<std::string> options;  ///< -D… and others, in order

  /// The content key: source, headers, entries, architecture, every option and the compiler's
  /// version.
  [[nodiscard]] std::string key(const std::string& compiler_version) const;
};

/// A kernel that built.
struct Compiled {
  std::string ptx;
  std::string cubin;
  std::string log;
  std::string ptx_hash;  ///< of the PTX without comments and line information
  Resources resources;   ///< the largest of all entries; of each: compiled_entries()
  double compile_ms = 0;
  /// PTX and cubin as ZstdFrames, to be stored; empty where nobody packed them.
  std::string packed_ptx = {};
  std::string packed_cubin = {};
};

/// The compiler gave up for a reason that need not be the kernel's: tried again in a fresh process
/// before the kernel is blamed.
struct CompilerFailure {
  enum class Kind {
    kInternal,     ///< an error of the compiler itself
    kOutOfMemory,  ///< of the machine, or of the process's limit: says nothing of the kernel
  };
  Kind kind = Kind::kInternal;
  std::string reason;
  std::string detail = {};
};

/// A kernel as it is judged: built, or rejected.
using CompileOutcome = std::variant<Compiled, Rejection>;
/// What one run of the compiler says.
using CompileAnswer = std::variant<Compiled, Rejection, CompilerFailure>;

/// The boundary to the compiler. Throws NvrtcError or MissingError when the toolchain is broken.
class Compiler {
 public:
  virtual ~Compiler() = default;
  /// E.g. "nvrtc 13.0".
  [[nodiscard]] virtual std::string version() const = 0;
  [[nodiscard]] virtual CompileAnswer compile(const CompileRequest& request) = 0;
};

/// An answer where there is no second try: a failure is a rejection at the build gate.
[[nodiscard]] CompileOutcome outcome_of(CompileAnswer answer);

}  // namespace evo
