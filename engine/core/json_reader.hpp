#pragma once

#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/formulas.hpp"

namespace evo {

using Json = nlohmann::json;

/// Default limit of the number of entries of a list in an input file.
inline constexpr std::size_t kMostEntries = 10000;

/// Reads one object of a JSON input file, strictly. Each getter that throws InputError names the
/// file, the key, the value and the allowed values. finish() rejects keys that no getter asked for.
class JsonReader {
 public:
  /// `file`: name for messages. `path`: position of `object` in the file, for example
  /// "parameters[3]".
  /// Throws InputError if `object` is not an object.
  JsonReader(const Json& object, std::string file, std::string path = {});

  /// Makes expression() replace the names of `formulas` by the formulas, in this reader and in
  /// children that are made later. `formulas` must outlive this reader and its children.
  void insert(const Formulas* formulas) { formulas_ = formulas; }
  [[nodiscard]] const Formulas* inserted() const { return formulas_; }

  [[nodiscard]] bool has(std::string_view key) const;

  [[nodiscard]] std::string string(std::string_view key) const;
  /// The string under `key`, which is one line of at most 200 bytes.
  [[nodiscard]] std::string line(std::string_view key) const;
  [[nodiscard]] std::string string_or(std::string_view key, std::string fallback) const;
  [[nodiscard]] double number(std::string_view key) const;
  [[nodiscard]] double number_or(std::string_view key, double fallback) const;
  [[nodiscard]] std::int64_t integer(std::string_view key) const;
  [[nodiscard]] std::int64_t integer_or(std::string_view key, std::int64_t fallback) const;
  [[nodiscard]] bool boolean_or(std::string_view key, bool fallback) const;

  /// The text of an expression, given as a string or as a number, with the formulas of insert()
  /// in place of their names.
  [[nodiscard]] std::string expression(std::string_view key) const;
  [[nodiscard]] std::string expression_or(std::string_view key, std::string fallback) const;

  /// The name of a space, problem, template or shape under `key`, see is_plain_name().
  [[nodiscard]] std::string plain_name(std::string_view key) const;

  /// The string under `key`, which is one of `allowed`.
  [[nodiscard]] std::string one_of(std::string_view key,
                                   std::initializer_list<std::string_view> allowed) const;

  /// The formulas of the object under `key`, by name; empty if the key is absent. If a formula
  /// contains the name of another formula, that formula replaces the name.
  [[nodiscard]] Formulas formulas(std::string_view key) const;

  /// The array of strings under `key`, with at most `most` entries; empty if the key is absent.
  [[nodiscard]] std::vector<std::string> strings(std::string_view key,
                                                 std::size_t most = 256) const;

  /// The value under `key`, of any type.
  [[nodiscard]] const Json& value(std::string_view key) const { return at(key); }
  /// The array or object under `key`.
  [[nodiscard]] const Json& array(std::string_view key) const;
  [[nodiscard]] const Json& object(std::string_view key) const;
  [[nodiscard]] JsonReader child(std::string_view key) const;
  /// A reader for each object of the array under `key`, which has at most `most` objects; empty if
  /// the key is absent.
  [[nodiscard]] std::vector<JsonReader> children(std::string_view key,
                                                 std::size_t most = kMostEntries) const;
  /// Throws InputError if the array or object under `key` has more than `most` entries.
  void require_at_most(std::string_view key, std::size_t most) const;

  /// The position of `key` for messages: "file: path.key"; without `key`, the position of this
  /// reader's object: "file: path", or "file: top level".
  [[nodiscard]] std::string where(std::string_view key = {}) const;
  /// Throws InputError with the text "file: path.key: value: problem".
  [[noreturn]] void fail(std::string_view key, const std::string& problem) const;

  /// Throws InputError if the object has keys that no getter asked for.
  void finish() const;

 private:
  const Json& at(std::string_view key) const;

  const Json* object_;
  std::string file_;
  std::string path_;
  const Formulas* formulas_ = nullptr;
  mutable std::set<std::string, std::less<>> seen_;
};

/// Size limit of a JSON input file: 64 MiB.
inline constexpr std::size_t kLargestJson = std::size_t{1} << 26;
/// Default size limit of read_text_file(): 1 GiB.
inline constexpr std::size_t kLargestFile = std::size_t{1} << 30;

/// Parses JSON text, in which comments are allowed. Throws InputError naming `file`, line and
/// column for text that is not JSON or not UTF-8, for duplicate keys, for more than 64 levels of
/// nesting or 5 million values, and for whole numbers beyond 64 bits. Throws InputError naming
/// `file` for text that is empty or longer than kLargestJson.
[[nodiscard]] Json parse_json(const std::string& text, const std::string& file);

/// Parses a JSON file, in which comments are allowed. Throws InputError naming the file, and line
/// and column of a syntax error.
[[nodiscard]] Json read_json_file(const std::filesystem::path& file);

/// Whether `path` is a regular file, after following links; false if the operating system reports
/// an error, for example for circular links.
[[nodiscard]] bool is_file(const std::filesystem::path& path);

/// The whole content of a file. Throws InputError if the file cannot be read, is a pipe, a socket
/// or a device, or is larger than `most_bytes`.
[[nodiscard]] std::string read_text_file(const std::filesystem::path& file,
                                         std::size_t most_bytes = kLargestFile);

/// A file to be written and its content.
struct NewFile {
  std::filesystem::path file;
  std::string_view content;
};

/// Writes `files`. All contents are on the disk, under temporary names, before the first file gets
/// its final name, so that a full disk leaves all old files unchanged. The files get their final
/// names in the given order. Throws InputError on failure, and never replaces a database, a pipe, a
/// socket or a device.
void write_files(const std::vector<NewFile>& files);

/// Writes the whole file or nothing: writes a temporary file in the same folder, flushes it to the
/// disk, and renames it. Throws InputError on failure and keeps the old file. Never replaces a
/// database, a pipe, a socket or a device.
void write_file(const std::filesystem::path& file, std::string_view content);

}  // namespace evo
