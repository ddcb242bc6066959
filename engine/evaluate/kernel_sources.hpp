#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/compile/compiler.hpp"
#include "engine/problem/problem.hpp"
#include "engine/space/space.hpp"

namespace evo {

/// The sources of a template and of its problem's reference kernel, and the requests for compiling
/// them for one model of device.
class KernelSources {
 public:
  /// Reads the source of the template `kernel`. `shape`: a timed shape, whose macros the problem
  /// sets. The objects passed by reference must outlive this object, except `device`. `with_lines`:
  /// as in TuningTask. Throws SpaceError or ProblemError if an option or a file is not allowed, or
  /// if the device cannot run code for the space's architecture.
  KernelSources(const Problem& problem, const KernelSpec& kernel, const Shape& shape,
                const Space& space, std::filesystem::path templates_root, const DeviceInfo& device,
                bool with_lines);

  /// The architecture for which kernels are compiled: the device's, or the architecture-specific
  /// variant that the space names, such as "sm_90a".
  [[nodiscard]] const std::string& arch() const { return arch_; }
  [[nodiscard]] const KernelSource& source() const { return source_; }
  /// The template's normalised compiler options, without macros: those of the space, the include
  /// folders of the problem, and the folders of a CUDA Toolkit if the source needs its headers.
  [[nodiscard]] const std::vector<std::string>& options() const { return options_; }
  /// Whether the template may include files of the user, whose content is not examined.
  [[nodiscard]] bool has_own_includes() const { return has_own_includes_; }
  /// The request for compiling a candidate.
  [[nodiscard]] CompileRequest request(const Candidate& candidate) const;

  /// The source of the reference kernel, which the problem must have.
  [[nodiscard]] KernelSource reference_source() const;
  [[nodiscard]] CompileRequest reference_request() const;

 private:
  [[nodiscard]] KernelSource load(const KernelSpec& spec,
                                  const std::vector<std::string>& options) const;
  [[nodiscard]] CompileRequest request_for(const KernelSpec& spec, const KernelSource& source,
                                           std::vector<std::string> options) const;

  const Problem& problem_;
  const KernelSpec& kernel_;
  const Shape& shape_;
  const Space& space_;
  std::filesystem::path templates_root_;
  bool with_lines_;
  std::vector<std::string> options_;
  KernelSource source_;
  std::string arch_;
  bool has_own_includes_;
};

}  // namespace evo
