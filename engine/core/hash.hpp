#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace evo {

/// Hashes a sequence of fields into a 128-bit content key (XXH3). Every field is preceded by its
/// length, so that {"ab", "c"} and {"a", "bc"} differ.
class ContentHash {
 public:
  ContentHash();
  ~ContentHash();
  ContentHash(const ContentHash&) = delete;
  ContentHash& operator=(const ContentHash&) = delete;

  ContentHash& add(std::string_view field);
  /// Adds the content of a file as a field. Throws InputError if the file cannot be read, or if the
  /// number of bytes read differs from the size that the operating system reports.
  ContentHash& add_file(const std::filesystem::path& file);

  /// The key of all fields added so far: 32 hexadecimal digits.
  [[nodiscard]] std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The 128-bit key of one text: 32 hexadecimal digits.
[[nodiscard]] std::string content_key(std::string_view text);

}  // namespace evo
