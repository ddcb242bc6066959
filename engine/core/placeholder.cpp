#include "engine/core/placeholder.hpp"

#include "engine/core/error.hpp"

namespace evo {
namespace {

void collect(const Json& json, const std::string& path, std::vector<Placeholder>& found) {
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    if (text.starts_with(kPlaceholder)) found.push_back({path.empty() ? "top level" : path, text});
  } else if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      collect(value, path.empty() ? key : path + "." + key, found);
    }
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) {
      collect(json[i], path + "[" + std::to_string(i) + "]", found);
    }
  }
}

}  // namespace

std::vector<Placeholder> placeholders_in(const Json& json) {
  std::vector<Placeholder> found;
  collect(json, {}, found);
  return found;
}

void require_finished(const Json& json, const std::string& file) {
  std::string message;
  for (const Placeholder& value : placeholders_in(json)) {
    message.append(message.empty() ? "" : "\n")
        .append(file)
        .append(": ")
        .append(value.path)
        .append(": ")
        .append(value.text);
  }
  if (!message.empty()) throw InputError(message);
}

}  // namespace evo
