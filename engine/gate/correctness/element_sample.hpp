#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/gate/correctness/correctness_result.hpp"
#include "engine/gate/correctness/grid_cover.hpp"
#include "engine/gate/correctness/workspace.hpp"

namespace evo {

/// Checks a sample of a grid's CTAs. The device must be able to run a part of a grid, and the
/// expected outputs must come from files or from a reference program. Tolerances for errors
/// relative to rows (max_row_error) are excluded, because a part of a row does not determine the
/// row's error.
///
/// GridCover proves that the sampled CTAs (draw_part) represent the grid: the grid's CTAs write all
/// elements of every output, each exactly once (for an inout argument, all elements that are
/// expected to change). If GridCover cannot prove this, the whole grid must run. Otherwise, all
/// elements that the sampled CTAs write are compared.
class ElementSample {
 public:
  /// All objects passed by reference must outlive this object. `flops`: approximate limit of the
  /// sample's floating-point operations.
  ElementSample(BufferWork& work, const Problem& problem, CaseSet& cases, double flops)
      : work_(work), device_(work.device()), problem_(problem), cases_(cases), flops_(flops) {}

  [[nodiscard]] static bool is_possible(const Problem& problem, const KernelSpec& kernel);

  /// Checks the kernel on `shape`. Nullopt if no part of the grid represents the whole grid.
  [[nodiscard]] std::optional<CorrectnessResult> check(const LoadedKernel& kernel,
                                                       const Shape& shape,
                                                       const Workspace& workspace);

 private:
  /// An output, and for each element whether the sampled CTAs write it.
  struct Output {
    std::size_t position = 0;  ///< index of the argument
    BufferId buffer = 0;
    std::vector<std::byte> before = {};  ///< the content of an inout argument before the launch
    std::vector<std::byte> expected = {};
    std::vector<bool> owned = {};
  };

  [[nodiscard]] std::vector<Output> outputs_of(const CheckCase& data,
                                               const std::vector<KernelArgument>& arguments) const;
  [[nodiscard]] bool covers(const GridCover& cover, const Output& output) const;
  [[nodiscard]] bool wrote_what_it_owns(const Output& output,
                                        const std::vector<std::byte>& content) const;
  void compare(const LoadedKernel& kernel, const CheckCase& data, const Output& output,
               const std::vector<std::byte>& content_of_all, CorrectnessResult& result) const;

  BufferWork& work_;
  Device& device_;
  const Problem& problem_;
  CaseSet& cases_;
  double flops_;
};

}  // namespace evo
