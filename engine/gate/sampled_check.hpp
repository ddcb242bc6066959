#pragma once

#include <string>
#include <vector>

#include "engine/gate/correctness.hpp"

namespace evo {

/// Checks a kernel on a shape that is too much work for an interpreter, by a part of it chosen by
/// the case's seed:
///
///   1. CTAs that are independent (the template says so, and nothing in the kernel claims work)
///   stand
///      for all: some of them run. Other kernels run whole.
///   2. Elements count that the kernel wrote. CTAs that ran alone must have written at least half
///   of
///      their share of the outputs, a whole grid all of them.
///   3. The reference computes some of the rows that were written whole; these are compared, and of
///      outputs without rows what both wrote.
class SampledCheck {
 public:
  /// All references must outlive this. The device must have a sampler.
  SampledCheck(Device& device, const Problem& problem, CaseSet& cases, double flops)
      : device_(device), problem_(problem), cases_(cases), flops_(flops) {}

  /// Whether a problem can be checked so: the reference says which CTA computes a row, and every
  /// output is written only.
  [[nodiscard]] static bool is_possible(const Problem& problem);

  /// One seed. `flops_`: about the work that is run of each kernel.
  [[nodiscard]] CorrectnessResult check(const LoadedKernel& kernel, const Shape& shape,
                                        const Progress& progress);

 private:
  struct Ran;

  [[nodiscard]] std::vector<std::uint64_t> choose_ctas(const LoadedKernel& kernel,
                                                       const CheckCase& data) const;
  [[nodiscard]] Ran run(const LoadedKernel& kernel, const CheckCase& data,
                        const std::vector<std::uint64_t>& ctas);
  [[nodiscard]] std::vector<std::size_t> choose_rows(const CheckCase& data, const Ran& ran) const;
  [[nodiscard]] std::optional<std::string> unwritten(const CheckCase& data, const Ran& ran) const;
  void compare_argument(const LoadedKernel& kernel, const CheckCase& data, const Ran& ran,
                        std::size_t position, CorrectnessResult& result) const;

  Device& device_;
  const Problem& problem_;
  CaseSet& cases_;
  double flops_;
};

}  // namespace evo
