#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// A line of the difference between an old and a new text.
struct DiffLine {
  enum class Kind {
    kBoth,     ///< in both texts
    kRemoved,  ///< only in the old text
    kAdded,    ///< only in the new text
    kLeftOut   ///< replaces equal lines that are left out; `text` is empty
  };
  Kind kind = Kind::kBoth;
  std::string text = {};
  std::size_t lines = 1;  ///< of kLeftOut: the number of lines that are left out

  bool operator==(const DiffLine&) const = default;
};

/// The shortest line-by-line difference of two texts. Texts that differ in thousands of lines are
/// compared in parts, so their difference may not be the shortest. The result keeps `context` equal
/// lines around each difference. Within a difference, removed lines come before added lines.
[[nodiscard]] std::vector<DiffLine> line_diff(std::string_view before, std::string_view after,
                                              std::size_t context = 3);

}  // namespace evo
