#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// A line of a comparison of two texts.
struct DiffLine {
  enum class Kind {
    kBoth,     ///< in both
    kRemoved,  ///< only in the old text
    kAdded,    ///< only in the new text
    kLeftOut   ///< stands for equal lines; `text` is empty
  };
  Kind kind = Kind::kBoth;
  std::string text = {};
  std::size_t lines = 1;  ///< the number of these lines

  bool operator==(const DiffLine&) const = default;
};

/// The shortest line-by-line difference; texts that differ in thousands of lines are compared in
/// parts. The result keeps `context` equal lines around each difference. Within a difference,
/// removed lines come before added lines.
[[nodiscard]] std::vector<DiffLine> line_diff(std::string_view before, std::string_view after,
                                              std::size_t context = 3);

}  // namespace evo
