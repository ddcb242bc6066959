#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/compile/source.hpp"
#include "engine/core/measurement.hpp"
#include "engine/core/rejection.hpp"

namespace evo {

/// Everything that determines a compilation.
struct CompileRequest {
  KernelSource source;
  std::string entry;
  std::string arch;                  ///< "sm_89"
  std::vector<std::string> options;  ///< -D… and others, in order

  /// The content key: source, headers, entry, architecture, every option and the compiler's
  /// version.
  [[nodiscard]] std::string key(const std::string& compiler_version) const;
};

/// A kernel that built.
struct Compiled {
  std::string ptx;
  std::string cubin;
  std::string log;
  std::string ptx_hash;  ///< of the PTX without comments and line information
  Resources resources;
  double compile_ms = 0;
};

using CompileOutcome = std::variant<Compiled, Rejection>;

/// The boundary to the compiler. Throws NvrtcError or MissingError when the toolchain is broken.
class Compiler {
 public:
  virtual ~Compiler() = default;
  /// E.g. "nvrtc 13.0".
  [[nodiscard]] virtual std::string version() const = 0;
  [[nodiscard]] virtual CompileOutcome compile(const CompileRequest& request) = 0;
};

/// The hash under which two compilations are one kernel: comments, blank lines, `.loc`, `.file` and
/// debug sections do not count.
[[nodiscard]] std::string hash_ptx(const std::string& ptx);

}  // namespace evo
