#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/gate/correctness/correctness.hpp"

namespace evo {

/// Checks a kernel on a shape that is too much work for an interpreter, by a part of it:
///
/// 1. Where the template says that CTAs are independent, the stores of all CTAs are traced without
///    computing what they store (GridCover). They must be all elements of the outputs, each written
///    by one CTA, and nothing else.
/// 2. Then some CTAs run (draw_part). They must write just what was traced, and whole rows, all of
///    which are compared.
/// 3. Other kernels run whole and must write every element; some rows are drawn and compared.
/// 4. The reference computes the rows that are compared. A row counts in every output. By what is
///    expected there the tolerance is looked at too, where no whole result is known.
class SampledCheck {
 public:
  /// All references must outlive this. The device must have a sampler. `flops`: about the work that
  /// is run of each kernel.
  SampledCheck(Device& device, const Problem& problem, CaseSet& cases, ToleranceAudit& tolerances,
               double flops)
      : device_(device), problem_(problem), cases_(cases), tolerances_(tolerances), flops_(flops) {}

  /// Whether a shape can be checked so: the reference says which CTA computes a row, every output
  /// is written only, and all that have elements have the same number of rows.
  /// `values`: CaseSet::values_of the shape.
  [[nodiscard]] static bool is_possible(const Problem& problem, const Values& values);

  /// One seed.
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
