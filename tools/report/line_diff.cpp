#include "tools/report/line_diff.hpp"

#include <algorithm>
#include <dtl/dtl.hpp>

namespace evo {
namespace {

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

/// Compares two texts line by line. Within a difference, removed lines come before added lines.
std::vector<DiffLine> compared(const Lines& before, const Lines& after) {
  dtl::Diff<std::string_view, Lines> diff(before, after);
  diff.compose();
  std::vector<DiffLine> lines;
  std::vector<DiffLine> added;
  const auto end_change = [&] {
    std::ranges::move(added, std::back_inserter(lines));
    added.clear();
  };
  for (const auto& [line, info] : diff.getSes().getSequence()) {
    if (info.type == dtl::SES_ADD) {
      added.push_back({DiffLine::Kind::kAdded, std::string(line)});
      continue;
    }
    const bool is_common = info.type == dtl::SES_COMMON;
    if (is_common) end_change();
    lines.push_back(
        {is_common ? DiffLine::Kind::kBoth : DiffLine::Kind::kRemoved, std::string(line)});
  }
  end_change();
  return lines;
}

/// Keeps the differences and `context` equal lines around each difference.
std::vector<DiffLine> shortened(std::vector<DiffLine> lines, std::size_t context) {
  std::vector<bool> stays(lines.size(), false);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].kind == DiffLine::Kind::kBoth) continue;
    const std::size_t end = std::min(lines.size(), i + context + 1);
    for (std::size_t j = i - std::min(i, context); j < end; ++j) stays[j] = true;
  }
  std::vector<DiffLine> result;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (stays[i]) {
      result.push_back(std::move(lines[i]));
    } else if (!result.empty() && result.back().kind == DiffLine::Kind::kLeftOut) {
      ++result.back().lines;
    } else {
      result.push_back({DiffLine::Kind::kLeftOut});
    }
  }
  return result;
}

}  // namespace

std::vector<DiffLine> line_diff(std::string_view before, std::string_view after,
                                std::size_t context) {
  return shortened(compared(lines_of(before), lines_of(after)), context);
}

}  // namespace evo
