#include "engine/core/suggestion.hpp"

#include <algorithm>

#include "engine/core/names.hpp"

namespace evo {
namespace {

/// The optimal string alignment distance of two names.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above.back();
}

}  // namespace

std::string nearest_name(std::string_view given, const std::vector<std::string>& known) {
  constexpr std::size_t kShareOfLetters = 3;
  const std::string wanted = lower_case(std::string(given));
  std::string nearest;
  std::size_t least = std::max<std::size_t>(wanted.size() / kShareOfLetters, 1) + 1;
  std::vector<std::string> completions;
  for (const std::string& name : known) {
    const std::string candidate = lower_case(name);
    if (!wanted.empty() && candidate.starts_with(wanted)) completions.push_back(name);
    const std::size_t distance = edits(wanted, candidate);
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  if (nearest.empty() && completions.size() == 1) return completions.front();
  return nearest;
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(given, known);
  return nearest.empty() ? std::string() : "; did you mean " + nearest + "?";
}

std::string unknown_name(std::string_view kind, std::string_view given,
                         const std::vector<std::string>& known) {
  std::string list;
  for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
  std::string text = "unknown " + std::string(kind) + " '" + std::string(given) + "'";
  const std::string nearest = nearest_name(given, known);
  if (!nearest.empty()) text += "; did you mean '" + nearest + "'?";
  return text + (nearest.empty() ? "; allowed: " : " Allowed: ") + list;
}

}  // namespace evo
