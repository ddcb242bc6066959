#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "engine/core/error.hpp"
#include "engine/core/gzip.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/core/measurement.hpp"
#include "engine/study/recorded_space.hpp"

namespace evo {
namespace {

/// Longer times mark failed configurations: Kernel Tuner writes 1e20, or in older versions the
/// largest double. No kernel runs for 1e10 ms (four months).
constexpr double kLongestTimeMs = 1e10;

/// The data about one configuration in a recording of Kernel Tuner or in T4 results.
struct RawEntry {
  std::vector<Json> values;  ///< in the order of the parameters
  std::optional<double> time_ms = {};
  std::string failure = {};
};

struct RawRecording {
  std::vector<std::string> names;
  std::vector<RawEntry> entries;
};

/// Returns the message "`where`: `before``name``after`".
std::string message(const std::string& where, const char* before, const std::string& name,
                    const char* after) {
  return std::string(where).append(": ").append(before).append(name).append(after);
}

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  // 16 and 16.0 are the same value, so both give the same text.
  if (value.is_number_float() && value.get<double>() == std::floor(value.get<double>()) &&
      std::abs(value.get<double>()) < 1e15) {
    return std::to_string(value.get<std::int64_t>());
  }
  return value.dump();
}

std::optional<double> number_of(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
  if (value.is_number()) return value.get<double>();
  return std::nullopt;
}

void set_outcome(RawEntry& entry, const Json& time) {
  if (time.is_number() && time.get<double>() > 0 && time.get<double>() < kLongestTimeMs) {
    entry.time_ms = time.get<double>();
  } else {
    entry.failure = time.is_string() ? time.get<std::string>() : "failed";
    if (entry.failure.empty()) entry.failure = "failed";
  }
}

/// Appends closing brackets for all brackets that are still open. The cache file of an unfinished
/// search with Kernel Tuner usually ends with an entry and a comma. An incomplete last entry is
/// dropped.
std::string completed(std::string text) {
  std::vector<char> open;
  std::vector<char> open_at_entry_end;
  std::size_t entry_end = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{' || c == '[') open.push_back(c == '{' ? '}' : ']');
    if ((c == '}' || c == ']') && !open.empty()) {
      open.pop_back();
      // A brace after which two brackets are still open, that of the file and that of "cache" or
      // "results", ends a complete entry.
      if (c == '}' && open.size() == 2) {
        entry_end = i + 1;
        open_at_entry_end = open;
      }
    }
  }
  if (open.empty() || entry_end == 0) return text;
  text.resize(entry_end);
  text.append(open_at_entry_end.rbegin(), open_at_entry_end.rend());
  return text;
}

/// Throws SpaceError if brackets nest deeper than in any file of Kernel Tuner or T4. nlohmann's
/// parser callback could also detect this, but it examines all members of an object again after
/// each member, which takes quadratic time.
void limit_depth(const std::string& text, const std::string& file) {
  constexpr int kDeepest = 64;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '}' || c == ']') --depth;
    if ((c == '{' || c == '[') && ++depth > kDeepest) {
      throw SpaceError(file + ": nested too deeply; allowed: 64 levels");
    }
  }
}

/// Parses a text. Returns a JSON value for which is_discarded() is true if the text is not JSON.
Json parse_text(const std::string& text, const std::string& file) {
  limit_depth(text, file);
  return Json::parse(text, nullptr, false);
}

Json parse(const std::filesystem::path& file) {
  std::string text = read_plain_or_gzip(file);
  Json json = parse_text(text, file.string());
  if (json.is_discarded()) json = parse_text(completed(std::move(text)), file.string());
  if (json.is_discarded()) throw SpaceError(file.string() + ": not JSON");
  if (!json.is_object() || !(json.contains("cache") || json.contains("results"))) {
    throw SpaceError(file.string() +
                     ": neither a Kernel Tuner cache (key 'cache') nor T4 results ('results')");
  }
  return json;
}

RawEntry cache_entry(const Json& entry, const std::vector<std::string>& names,
                     const std::string& objective, const std::string& where) {
  RawEntry raw;
  for (const std::string& name : names) {
    if (!entry.is_object() || !entry.contains(name)) {
      throw SpaceError(message(where, "parameter '", name, "' is missing"));
    }
    raw.values.push_back(entry[name]);
  }
  if (entry.contains("__error__")) {
    raw.failure = entry["__error__"].is_string() ? entry["__error__"].get<std::string>() : "failed";
  } else if (entry.contains(objective)) {
    set_outcome(raw, entry[objective]);
  } else {
    throw SpaceError(where + ": neither '" + objective + "' nor '__error__'");
  }
  return raw;
}

RawRecording from_cache(const Json& json, const std::string& file) {
  RawRecording raw;
  const char* keys = "tune_params_keys";
  if (!json.contains(keys) || !json[keys].is_array() || json[keys].empty()) {
    throw SpaceError(file + ": tune_params_keys: allowed: a list of parameter names");
  }
  raw.names = json[keys].get<std::vector<std::string>>();
  const std::set<std::string> distinct(raw.names.begin(), raw.names.end());
  if (distinct.size() < raw.names.size()) {
    throw SpaceError(file + ": tune_params_keys: a parameter appears twice");
  }
  const std::string objective =
      json.contains("objective") && json["objective"].is_string() ? json["objective"] : "time";
  for (const auto& [key, entry] : json["cache"].items()) {
    raw.entries.push_back(
        cache_entry(entry, raw.names, objective, message(file, "cache.", key, "")));
  }
  return raw;
}

/// The value in a T4 result that was measured for the result's first objective, such as the time;
/// null if there is none.
Json t4_time(const Json& result) {
  if (!result.contains("measurements")) return nullptr;
  std::string objective = "time";
  if (result.contains("objectives") && !result.at("objectives").empty()) {
    objective = result.at("objectives").at(0).get<std::string>();
  }
  for (const Json& measurement : result.at("measurements")) {
    if (measurement.value("name", "") == objective) return measurement.value("value", Json());
  }
  return nullptr;
}

RawEntry t4_entry(const Json& result, const std::vector<std::string>& names,
                  const std::string& where) {
  RawEntry raw;
  for (const std::string& name : names) {
    if (!result.contains("configuration") || !result.at("configuration").contains(name)) {
      throw SpaceError(message(where, "configuration.", name, " is missing"));
    }
    raw.values.push_back(result.at("configuration").at(name));
  }
  const std::string verdict = result.value("invalidity", "correct");
  if (verdict == "correct") {
    set_outcome(raw, t4_time(result));
  } else {
    raw.failure = verdict;
  }
  return raw;
}

RawRecording from_t4(const Json& json, const std::string& file) {
  RawRecording raw;
  const Json& results = json["results"];
  if (!results.is_array() || results.empty() || !results.at(0).contains("configuration")) {
    throw SpaceError(file + ": results: allowed: a list of objects with 'configuration'");
  }
  for (const auto& [name, unused] : results.at(0).at("configuration").items())
    raw.names.push_back(name);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string where = file + ": results[" + std::to_string(i) + "]";
    // Skips configurations that constraints forbid, because they do not belong to the space.
    if (results[i].value("invalidity", "correct") == "constraints") continue;
    raw.entries.push_back(t4_entry(results[i], raw.names, where));
  }
  return raw;
}

/// Collects every value of a parameter that occurs in the recording: numbers in ascending order,
/// then names in alphabetical order.
RecordedParameter collect_values(const RawRecording& raw, std::size_t parameter,
                                 const std::string& file) {
  std::map<std::string, RecordedValue> by_text;
  for (const RawEntry& entry : raw.entries) {
    const std::string text = text_of(entry.values[parameter]);
    by_text.try_emplace(text, RecordedValue{text, number_of(entry.values[parameter])});
  }
  constexpr std::size_t kMostValues = 65535;  // Candidate stores 16-bit indices
  if (by_text.size() > kMostValues) {
    throw SpaceError(file + ": parameter '" + raw.names[parameter] + "' has " +
                     std::to_string(by_text.size()) + " values; allowed: at most 65535");
  }
  RecordedParameter collected{raw.names[parameter], {}};
  for (const auto& [text, value] : by_text) collected.values.push_back(value);
  std::ranges::stable_sort(collected.values, [](const RecordedValue& a, const RecordedValue& b) {
    if (a.number && b.number) return *a.number < *b.number;
    return a.number.has_value() && !b.number.has_value();
  });
  return collected;
}

std::vector<RecordedEntry> index_entries(RawRecording& raw,
                                         const std::vector<RecordedParameter>& parameters) {
  std::vector<std::map<std::string, std::uint16_t>> index(parameters.size());
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    for (std::size_t i = 0; i < parameters[p].values.size(); ++i) {
      index[p][parameters[p].values[i].text] = static_cast<std::uint16_t>(i);
    }
  }
  std::vector<RecordedEntry> entries;
  for (RawEntry& entry : raw.entries) {
    RecordedEntry& indexed = entries.emplace_back();
    indexed.time_ms = entry.time_ms;
    indexed.failure = std::move(entry.failure);
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      indexed.candidate.choice.push_back(index[p].at(text_of(entry.values[p])));
    }
  }
  return entries;
}

std::string string_or_empty(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

}  // namespace

Recording read_recording(const std::filesystem::path& file) try {
  const Json json = parse(file);
  RawRecording raw =
      json.contains("cache") ? from_cache(json, file.string()) : from_t4(json, file.string());
  if (raw.entries.empty()) throw SpaceError(file.string() + ": no configuration is recorded");
  Recording recording;
  recording.name = file.filename().string();
  recording.name = recording.name.substr(0, recording.name.find('.'));
  recording.device = string_or_empty(json, "device_name");
  const Json environment = json.value("environment", Json::object());
  recording.is_predicted =
      string_or_empty(environment, "time_kind") == to_string(TimeKind::kPredicted);
  recording.kernel = string_or_empty(json, "kernel_name");
  for (std::size_t p = 0; p < raw.names.size(); ++p) {
    recording.parameters.push_back(collect_values(raw, p, file.string()));
  }
  recording.entries = index_entries(raw, recording.parameters);
  return recording;
} catch (const Json::exception& error) {
  throw SpaceError(file.string() + ": not in the format of Kernel Tuner or T4: " + error.what());
}

}  // namespace evo
