#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "engine/gate/correctness/cases.hpp"

namespace evo {

/// Which CTA of a grid writes which element of the outputs, found without computing what they write
/// (Interpreting::write_map). This proves what a sample of CTAs stands for: each writes its own
/// elements and nothing else, whichever CTAs run.
class GridCover {
 public:
  /// Or why the sample stands for nothing: the writes depend on what is computed, two CTAs write
  /// one element, or something besides outputs is written. `arguments`: of the launch on `data`,
  /// which has one step. What the outputs hold stays.
  [[nodiscard]] static std::variant<GridCover, std::string> prove(
      Device& device, const Problem& problem, const LoadedKernel& kernel, const CheckCase& data,
      const std::vector<KernelArgument>& arguments);

  /// By element of the argument at `position`: the linear index of its CTA plus 1, 0 for nobody.
  /// Empty unless the argument is an output.
  [[nodiscard]] const std::vector<std::uint32_t>& owners(std::size_t position) const {
    return owners_.at(position);
  }

  /// Whether every element of every output is written.
  [[nodiscard]] bool is_whole() const;

  /// By element of the argument at `position`: whether one of `ctas` (sorted) writes it.
  [[nodiscard]] std::vector<bool> written_by(const std::vector<std::uint64_t>& ctas,
                                             std::size_t position) const;

 private:
  std::vector<std::vector<std::uint32_t>> owners_;
};

}  // namespace evo
