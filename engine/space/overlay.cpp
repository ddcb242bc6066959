#include "engine/space/overlay.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace evo {
namespace {

/// The lists of a space file, and the key that identifies an entry of each list.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kLists = {
    {{"parameters", "macro"}, {"milestones", "name"}, {"constraints", "name"}}};

/// True if `entry` has the identifying key `key`; an entry without it replaces no other entry.
bool has_name(const Json& entry, std::string_view key) {
  return entry.is_object() && entry.contains(key);
}

Json merged_lists(const Json& over, Json base, std::string_view key) {
  for (const Json& entry : over) {
    const auto known = std::find_if(base.begin(), base.end(), [&](const Json& other) {
      return has_name(entry, key) && has_name(other, key) && other.at(key) == entry.at(key);
    });
    if (known == base.end()) {
      base.push_back(entry);
    } else {
      *known = entry;
    }
  }
  return base;
}

Json merged_values(std::string_view key, const Json& over, const Json& base) {
  if ((key == "resources" || key == "let") && over.is_object() && base.is_object()) {
    Json both = base;
    both.update(over);
    return both;
  }
  for (const auto& [list, name] : kLists) {
    if (key == list && over.is_array() && base.is_array()) return merged_lists(over, base, name);
  }
  return over;
}

}  // namespace

Json laid_over(const Json& overlay, Json base) {
  for (const auto& [key, value] : overlay.items()) {
    base[key] = base.contains(key) ? merged_values(key, value, base.at(key)) : value;
  }
  return base;
}

}  // namespace evo
