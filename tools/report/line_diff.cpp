#include "tools/report/line_diff.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace evo {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::ptrdiff_t kMostDifferences = 2000;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

/// For every number of differences d, how far the old text is read on diagonal k (old − new) at
/// most: reach[d][d + k]; kNever where no way leads.
using Reach = std::vector<std::vector<std::ptrdiff_t>>;
constexpr std::ptrdiff_t kNever = std::numeric_limits<std::ptrdiff_t>::min() / 2;

/// How diagonal k is entered with difference number d.
struct Entry {
  std::ptrdiff_t x = 0;  ///< lines of the old text that are then read
  bool adds = false;     ///< by a line of the new text, not of the old
};

Entry entry(const Reach& reach, std::ptrdiff_t d, std::ptrdiff_t k) {
  if (d == 0) return {};
  const auto at = [&](std::ptrdiff_t diagonal) {
    return reach[static_cast<std::size_t>(d - 1)][static_cast<std::size_t>(d - 1 + diagonal)];
  };
  if (k == -d || (k != d && at(k - 1) < at(k + 1))) return {at(k + 1), true};
  return {at(k - 1) + 1, false};
}

/// Empty when there are too many differences.
Reach furthest_reaching(const Lines& before, const Lines& after) {
  const auto n = static_cast<std::ptrdiff_t>(before.size());
  const auto m = static_cast<std::ptrdiff_t>(after.size());
  Reach reach;
  for (std::ptrdiff_t d = 0; d <= std::min(n + m, kMostDifferences); ++d) {
    std::vector<std::ptrdiff_t> row(static_cast<std::size_t>(2 * d + 1), kNever);
    for (std::ptrdiff_t k = -d; k <= d; k += 2) {
      std::ptrdiff_t x = entry(reach, d, k).x;
      if (x < 0 || x > n || x - k > m) continue;
      while (x < n && x - k < m &&
             before[static_cast<std::size_t>(x)] == after[static_cast<std::size_t>(x - k)]) {
        ++x;
      }
      row[static_cast<std::size_t>(d + k)] = x;
    }
    const bool is_end = std::abs(n - m) <= d && (d - (n - m)) % 2 == 0 &&
                        row[static_cast<std::size_t>(d + n - m)] == n;
    reach.push_back(std::move(row));
    if (is_end) return reach;
  }
  return {};
}

/// The way back through what was reached.
std::vector<DiffLine> script(const Lines& before, const Lines& after, const Reach& reach) {
  std::vector<DiffLine> backwards;
  auto x = static_cast<std::ptrdiff_t>(before.size());
  auto y = static_cast<std::ptrdiff_t>(after.size());
  const auto put = [&](DiffLine::Kind kind, const Lines& lines, std::ptrdiff_t line) {
    backwards.push_back({kind, std::string(lines[static_cast<std::size_t>(line)])});
  };
  for (auto d = static_cast<std::ptrdiff_t>(reach.size()) - 1; d >= 0; --d) {
    const Entry came = entry(reach, d, x - y);
    for (; x > came.x; --x, --y) put(DiffLine::Kind::kBoth, before, x - 1);
    if (d == 0) break;
    if (came.adds) {
      put(DiffLine::Kind::kAdded, after, --y);
    } else {
      put(DiffLine::Kind::kRemoved, before, --x);
    }
  }
  std::reverse(backwards.begin(), backwards.end());
  return backwards;
}

std::vector<DiffLine> wholes(const Lines& before, const Lines& after) {
  std::vector<DiffLine> lines;
  for (const std::string_view line : before) {
    lines.push_back({DiffLine::Kind::kRemoved, std::string(line)});
  }
  for (const std::string_view line : after) {
    lines.push_back({DiffLine::Kind::kAdded, std::string(line)});
  }
  return lines;
}

/// Only `context` lines around each difference.
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
  const Lines old_lines = lines_of(before);
  const Lines new_lines = lines_of(after);
  const Reach reach = furthest_reaching(old_lines, new_lines);
  return shortened(
      reach.empty() ? wholes(old_lines, new_lines) : script(old_lines, new_lines, reach), context);
}

}  // namespace evo
