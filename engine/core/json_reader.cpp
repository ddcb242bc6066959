#include "engine/core/json_reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>

#include "engine/core/error.hpp"
#include "engine/core/expression.hpp"
#include "engine/core/file_reader.hpp"
#include "engine/core/names.hpp"
#include "engine/core/printable.hpp"
#include "engine/core/protected_file.hpp"

namespace evo {
namespace {

/// The value as written in the file, shortened for a message.
std::string shown(const Json& value) {
  constexpr std::size_t kLongest = 60;
  return shortened(value.dump(-1, ' ', false, Json::error_handler_t::replace), kLongest);
}

/// Writes a new file and flushes it to the disk; returns 0 or the value of errno.
int write_whole(const std::string& file, std::string_view content) {
  constexpr mode_t kForAll = 0666;  // permissions before the umask applies
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kForAll);
  if (descriptor < 0) return errno;
  int error = 0;
  while (!content.empty() && error == 0) {
    const ssize_t count = write(descriptor, content.data(), content.size());
    if (count >= 0) {
      content.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  // Some file systems report a full disk only when the file is flushed.
  if (error == 0 && fsync(descriptor) != 0 && errno != EINVAL) error = errno;
  if (close(descriptor) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace

JsonReader::JsonReader(const Json& object, std::string file, std::string path)
    : object_(&object), file_(std::move(file)), path_(std::move(path)) {
  if (!object.is_object()) {
    throw InputError(where() + ": " + shown(object) + ": allowed: an object {…}");
  }
}

std::string JsonReader::where(std::string_view key) const {
  std::string text = file_ + ": " + path_;
  if (!key.empty()) {
    if (!path_.empty()) text += ".";
    text += shortened(key);
  } else if (path_.empty()) {
    text += "top level";
  }
  return text;
}

void JsonReader::fail(std::string_view key, const std::string& problem) const {
  const auto found = object_->find(key);
  const std::string value = found == object_->end() ? "missing" : shown(*found);
  throw InputError(where(key) + ": " + value + ": " + problem);
}

bool JsonReader::has(std::string_view key) const {
  seen_.emplace(key);
  return object_->contains(key);
}

const Json& JsonReader::at(std::string_view key) const {
  if (!has(key)) throw InputError(where(key) + ": this key is required and missing");
  return *object_->find(key);
}

std::string JsonReader::string(std::string_view key) const {
  const Json& value = at(key);
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
    fail(key, "allowed: a non-empty string");
  }
  const auto& text = value.get_ref<const std::string&>();
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') || c == '\x7f';
  };
  if (std::any_of(text.begin(), text.end(), is_control)) {
    fail(key, "allowed: text without control characters");
  }
  return text;
}

std::string JsonReader::line(std::string_view key) const {
  constexpr std::size_t kLongest = 200;
  std::string text = string(key);
  if (text.size() > kLongest || text.find_first_of("\n\t") != std::string::npos) {
    fail(key, "allowed: one line of at most 200 bytes");
  }
  return text;
}

std::string JsonReader::string_or(std::string_view key, std::string fallback) const {
  return has(key) ? string(key) : std::move(fallback);
}

std::string JsonReader::plain_name(std::string_view key) const {
  std::string name = string(key);
  if (!is_plain_name(name)) fail(key, std::string(kAllowedName));
  return name;
}

double JsonReader::number(std::string_view key) const {
  const Json& value = at(key);
  if (!value.is_number()) fail(key, "allowed: a number");
  return value.get<double>();
}

double JsonReader::number_or(std::string_view key, double fallback) const {
  return has(key) ? number(key) : fallback;
}

std::int64_t JsonReader::integer(std::string_view key) const {
  const Json& value = at(key);
  const bool fits = !value.is_number_unsigned() ||
                    value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
  if (!value.is_number_integer() || !fits) fail(key, "allowed: an integer");
  return value.get<std::int64_t>();
}

std::int64_t JsonReader::integer_or(std::string_view key, std::int64_t fallback) const {
  return has(key) ? integer(key) : fallback;
}

bool JsonReader::boolean_or(std::string_view key, bool fallback) const {
  if (!has(key)) return fallback;
  const Json& value = at(key);
  if (!value.is_boolean()) fail(key, "allowed: true, false");
  return value.get<bool>();
}

std::string JsonReader::expression(std::string_view key) const {
  const Json& value = at(key);
  if (value.is_number()) return value.dump();
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
    fail(key, "allowed: a number or an expression in a string");
  }
  if (formulas_ == nullptr) return value.get<std::string>();
  try {
    return with_formulas(value.get_ref<const std::string&>(), *formulas_);
  } catch (const InputError& error) {
    fail(key, error.what());
  }
}

std::string JsonReader::expression_or(std::string_view key, std::string fallback) const {
  return has(key) ? expression(key) : std::move(fallback);
}

std::string JsonReader::one_of(std::string_view key,
                               std::initializer_list<std::string_view> allowed) const {
  const Json& value = at(key);
  std::string list;
  for (const std::string_view name : allowed) {
    if (value.is_string() && value.get_ref<const std::string&>() == name) return std::string(name);
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  fail(key, "allowed: " + list);
}

const Json& JsonReader::array(std::string_view key) const {
  const Json& value = at(key);
  if (!value.is_array()) fail(key, "allowed: an array […]");
  return value;
}

const Json& JsonReader::object(std::string_view key) const {
  const Json& value = at(key);
  if (!value.is_object()) fail(key, "allowed: an object {…}");
  return value;
}

std::vector<std::string> JsonReader::strings(std::string_view key, std::size_t most) const {
  std::vector<std::string> list;
  if (!has(key)) return list;
  const Json& entries = array(key);
  require_at_most(key, most);
  for (const Json& entry : entries) {
    if (!entry.is_string()) fail(key, "allowed: a list of strings");
    list.push_back(entry.get<std::string>());
  }
  return list;
}

JsonReader JsonReader::child(std::string_view key) const {
  const std::string path = path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  JsonReader reader(at(key), file_, path);
  reader.insert(formulas_);
  return reader;
}

Formulas JsonReader::formulas(std::string_view key) const {
  constexpr std::size_t kMost = 1000;
  if (!has(key)) return {};
  require_at_most(key, kMost);
  JsonReader entries = child(key);
  Formulas written;
  for (const auto& [name, unused] : object(key).items()) {
    const std::string why = why_no_macro(name);
    if (!why.empty()) entries.fail(name, "the name '" + name + "' " + why + "; choose another");
    written[name] = entries.expression(name);
  }
  entries.insert(&written);
  Formulas whole;
  for (const auto& [name, text] : written) {
    whole[name] = entries.expression(name);
    try {
      (void)Expression(whole[name]);
    } catch (const InputError& error) {
      entries.fail(name, error.what());
    }
  }
  return whole;
}

void JsonReader::require_at_most(std::string_view key, std::size_t most) const {
  const std::size_t count = at(key).size();
  if (count <= most) return;
  throw InputError(where(key) + ": " + std::to_string(count) + " entries; allowed: at most " +
                   std::to_string(most));
}

std::vector<JsonReader> JsonReader::children(std::string_view key, std::size_t most) const {
  std::vector<JsonReader> readers;
  if (!has(key)) return readers;
  const Json& list = array(key);
  require_at_most(key, most);
  readers.reserve(list.size());
  const std::string path = path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  for (std::size_t i = 0; i < list.size(); ++i) {
    readers.emplace_back(list[i], file_, path + "[" + std::to_string(i) + "]");
    readers.back().insert(formulas_);
  }
  return readers;
}

void JsonReader::finish() const {
  for (const auto& [key, value] : object_->items()) {
    if (seen_.contains(key)) continue;
    std::string allowed;
    for (const std::string& name : seen_) allowed += (allowed.empty() ? "" : ", ") + name;
    throw InputError(where(key) + ": " + shown(value) + ": unknown key; allowed: " + allowed);
  }
}

bool is_file(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(path, unknown);
}

std::string read_text_file(const std::filesystem::path& file, std::size_t most_bytes) {
  FileReader reader(file);
  // Reads until the end, because files of /proc and /sys report no size.
  std::string text;
  text.reserve(std::min<std::uint64_t>(reader.size(), most_bytes));
  for (std::string_view part = reader.next(); !part.empty(); part = reader.next()) {
    text += part;
    if (text.size() <= most_bytes) continue;
    throw InputError(file.string() + ": has more than " + std::to_string(most_bytes) +
                     " bytes, the allowed maximum");
  }
  return text;
}

Json read_json_file(const std::filesystem::path& file) {
  return parse_json(read_text_file(file, kLargestJson), file.string());
}

void write_files(const std::vector<NewFile>& files) {
  const auto partial = [](const NewFile& file) {
    return file.file.string() + ".partial" + std::to_string(getpid());
  };
  const auto fail = [&](const NewFile& failed, int error) {
    for (const NewFile& file : files) unlink(partial(file).c_str());
    throw InputError(failed.file.string() + ": cannot be written: " + std::strerror(error));
  };
  std::error_code ignored;
  for (const NewFile& file : files) {
    require_no_special_file(file.file, "written");
    require_no_database(file.file);
    if (std::filesystem::is_directory(file.file, ignored)) fail(file, EISDIR);
  }
  for (const NewFile& file : files) {
    if (const int error = write_whole(partial(file), file.content); error != 0) fail(file, error);
  }
  for (const NewFile& file : files) {
    if (std::rename(partial(file).c_str(), file.file.c_str()) != 0) fail(file, errno);
  }
}

void write_file(const std::filesystem::path& file, std::string_view content) {
  write_files({{file, content}});
}

}  // namespace evo
