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
    kLeftOut   ///< stands for lines that are the same; `text` is empty
  };
  Kind kind = Kind::kBoth;
  std::string text = {};
  std::size_t lines = 1;  ///< how many it stands for

  bool operator==(const DiffLine&) const = default;
};

/// The shortest comparison, line by line; shortest for each part of texts that differ in thousands
/// of lines. Of what is the same, `context` lines stay around each difference. Of a difference, the
/// lines that were removed come first.
[[nodiscard]] std::vector<DiffLine> line_diff(std::string_view before, std::string_view after,
                                              std::size_t context = 3);

}  // namespace evo
