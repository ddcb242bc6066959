#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/gate/correctness/correctness_result.hpp"
#include "engine/gate/correctness/grid_cover.hpp"
#include "engine/gate/correctness/workspace.hpp"

namespace evo {

/// The correctness of a part of a grid, on a device that runs parts, where all that is expected is
/// known: a reference of data. Not where rows are judged by their own size (max_row_error): parts
/// of rows have none.
///
/// GridCover proves what the drawn CTAs (draw_part) stand for: the CTAs of the grid write all
/// elements of every output, each element once (of an inout argument: all elements that are
/// expected to change). All elements that the drawn CTAs own are compared. Otherwise the whole grid
/// must run.
class ElementSample {
 public:
  /// All must outlive this. `flops`: about what the sample may cost.
  ElementSample(BufferWork& work, const Problem& problem, CaseSet& cases, double flops)
      : work_(work), device_(work.device()), problem_(problem), cases_(cases), flops_(flops) {}

  [[nodiscard]] static bool is_possible(const Problem& problem, const KernelSpec& kernel);

  /// Nothing where a part of the grid cannot stand for all.
  [[nodiscard]] std::optional<CorrectnessResult> check(const LoadedKernel& kernel,
                                                       const Shape& shape,
                                                       const Workspace& workspace);

 private:
  /// An output, and which of its elements the drawn CTAs own.
  struct Output {
    std::size_t position = 0;  ///< of the argument
    BufferId buffer = 0;
    std::vector<std::byte> before = {};  ///< what an inout argument held
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
