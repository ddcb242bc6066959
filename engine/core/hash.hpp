#pragma once

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

  /// The key of all fields added so far: 32 hexadecimal digits.
  [[nodiscard]] std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The 128-bit key of one text: 32 hexadecimal digits.
[[nodiscard]] std::string content_key(std::string_view text);

}  // namespace evo
