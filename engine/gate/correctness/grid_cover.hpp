#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "engine/gate/correctness/cases.hpp"

namespace evo {

/// Finds which CTA of a grid writes which element of the outputs, without computing the written
/// values (Interpreting::write_map). The result proves that a sample of CTAs is representative:
/// each CTA writes its own elements and nothing else, no matter which other CTAs run.
class GridCover {
 public:
  /// Returns the reason as text if a sample is not representative: the writes depend on computed
  /// values, two CTAs write one element, or memory besides outputs is written. `arguments`: the
  /// arguments of a launch on `data` with one step. The content of the outputs does not change.
  [[nodiscard]] static std::variant<GridCover, std::string> prove(
      Device& device, const Problem& problem, const LoadedKernel& kernel, const CheckCase& data,
      const std::vector<KernelArgument>& arguments);

  /// For each element of the argument at `position`: the linear index plus 1 of the CTA that writes
  /// the element, or 0 if no CTA does. Empty unless the argument is an output.
  [[nodiscard]] const std::vector<std::uint32_t>& owners(std::size_t position) const {
    return owners_.at(position);
  }

  /// Whether every element of every output has a CTA that writes it.
  [[nodiscard]] bool is_whole() const;

  /// For each element of the argument at `position`: whether one of `ctas` (sorted) writes it.
  [[nodiscard]] std::vector<bool> written_by(const std::vector<std::uint64_t>& ctas,
                                             std::size_t position) const;

 private:
  std::vector<std::vector<std::uint32_t>> owners_;
};

}  // namespace evo
