#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/gate/correctness/correctness.hpp"

namespace evo {

/// Checks a part of a kernel's work on a shape with too much work for a virtual GPU:
///
/// 1. If the template declares independent CTAs, trace the stores of all CTAs without computing the
///    stored values (GridCover). The CTAs must write all elements of the outputs, each element
///    once, and nothing else.
/// 2. If step 1 succeeds, run a sample of CTAs (draw_part). The sample must write exactly the
///    traced elements, in whole rows. All rows that the sample writes are compared.
/// 3. If steps 1 and 2 find no sample that represents the grid, run the whole grid. The grid must
///    write every element. A random selection of rows is compared.
/// 4. The reference computes the compared rows of every output. The compared rows of the
///    reference also serve to audit the tolerance (ToleranceAudit).
class SampledCheck {
 public:
  /// All objects passed by reference must outlive this object. The device must be able to run a
  /// part of a grid. `flops`: approximate limit of the floating-point operations of a sample of
  /// CTAs.
  SampledCheck(Device& device, const Problem& problem, CaseSet& cases, ToleranceAudit& tolerances,
               double flops)
      : device_(device), problem_(problem), cases_(cases), tolerances_(tolerances), flops_(flops) {}

  /// Whether SampledCheck can check a shape: the problem has no check program, the reference is a
  /// kernel that names the CTA of each row, every output is write-only and compared as a whole, and
  /// all outputs with elements have the same number of rows. `values`: CaseSet::values_of the
  /// shape.
  [[nodiscard]] static bool is_possible(const Problem& problem, const Values& values);

  /// Checks the kernel on the first seed.
  [[nodiscard]] CorrectnessResult check(const LoadedKernel& kernel, const Shape& shape,
                                        const Workspace& workspace, const Progress& progress);

 private:
  struct Ran;

  [[nodiscard]] Ran run(const LoadedKernel& kernel, const CheckCase& data,
                        const std::vector<KernelArgument>& arguments,
                        const std::vector<std::uint64_t>& ctas);
  [[nodiscard]] std::variant<Ran, std::string> run_sample(
      const LoadedKernel& kernel, const CheckCase& data,
      const std::vector<KernelArgument>& arguments);
  [[nodiscard]] Ran run_whole(const LoadedKernel& kernel, const CheckCase& data,
                              const std::vector<KernelArgument>& arguments);
  [[nodiscard]] std::optional<Fault> unwritten(const Ran& ran) const;
  [[nodiscard]] std::vector<std::size_t> written_rows(const Ran& ran, std::size_t all) const;
  void compare_rows(const LoadedKernel& kernel, const CheckCase& data, const Ran& ran,
                    CorrectnessResult& result) const;

  Device& device_;
  const Problem& problem_;
  CaseSet& cases_;
  ToleranceAudit& tolerances_;
  double flops_;
};

}  // namespace evo
