#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/gate/correctness_result.hpp"
#include "engine/gate/workspace.hpp"

namespace evo {

/// The correctness of a part of a grid, on a device that runs parts, where all that is expected is
/// known: a reference of data. Not where rows are judged by their own size (max_row_error): parts
/// of rows have none.
///
/// CTAs are drawn by their place in the grid: first, last or between in each dimension. What those
/// of one place write is the share of that place; the shares, each times the CTAs of its place,
/// must add up to the whole output (of an inout argument: to the elements that are expected to
/// change). A kernel that leaves out a part of its share, or whose CTAs overlap, does not: it is no
/// sample, and the whole grid must run. All elements that were written are compared.
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
  /// CTAs that lie alike in the grid.
  struct Place {
    std::uint64_t ctas = 0;
    std::vector<std::uint64_t> drawn;  ///< linear indices
  };
  /// An output, and which of its elements were written.
  struct Output {
    std::size_t position = 0;  ///< of the argument
    BufferId buffer = 0;
    std::vector<std::byte> before = {};  ///< what an inout argument held
    std::vector<std::byte> expected = {};
    std::vector<std::byte> content = {};
    std::vector<bool> written = {};
    std::uint64_t count = 0;          ///< of those
    std::uint64_t of_all_places = 0;  ///< what the shares add up to
  };

  [[nodiscard]] std::vector<Place> places_of(const LoadedKernel& kernel,
                                             const CheckCase& data) const;
  [[nodiscard]] std::vector<Output> outputs_of(const CheckCase& data,
                                               const std::vector<KernelArgument>& arguments);
  void look(Output& output) const;
  [[nodiscard]] std::uint64_t expected_count(const Output& output) const;
  void compare(const LoadedKernel& kernel, const CheckCase& data, const Output& output,
               CorrectnessResult& result) const;

  BufferWork& work_;
  Device& device_;
  const Problem& problem_;
  CaseSet& cases_;
  double flops_;
};

}  // namespace evo
