#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/compile/compiler.hpp"
#include "engine/problem/problem.hpp"
#include "engine/space/space.hpp"
#include "tests/agreement/agreement_case.hpp"

namespace evo::agreement {

/// A search space with its problem and its template's source. A TemplateRun makes test cases of
/// candidates.
class TemplateRun {
 public:
  /// `root`: the project's folder; `space_file`: the name of a file under search_spaces/.
  TemplateRun(const std::filesystem::path& root, const std::string& space_file);

  [[nodiscard]] const Space& space() const { return *space_; }
  [[nodiscard]] const Problem& problem() const { return problem_; }

  /// True if the template supports the shape.
  [[nodiscard]] bool supports(const Shape& shape) const;

  /// The request to compile a candidate for `shape` and the space's architecture.
  [[nodiscard]] CompileRequest request(const Candidate& candidate, const Shape& shape) const;

  /// One launch of a candidate on `shape` with inputs that depend only on the shape. `sm_count`:
  /// the number of SMs of the device, on which the grids of persistent kernels depend. Outputs are
  /// filled with NaN before the launch, workspaces with zeros.
  [[nodiscard]] AgreementCase make_case(const Candidate& candidate, const Shape& shape,
                                        int sm_count) const;

 private:
  std::unique_ptr<Space> space_;
  Problem problem_;
  const KernelSpec* kernel_;
  KernelSource source_;
};

}  // namespace evo::agreement
