// Parses JSON input files with nlohmann's SAX interface, under stricter rules: no duplicate keys,
// limited nesting and sizes, UTF-8 without a byte order mark.

#include <algorithm>
#include <iterator>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/core/printable.hpp"
#include "engine/core/utf8.hpp"

namespace evo {
namespace {

constexpr std::size_t kDeepestJson = 64;
constexpr std::size_t kMostValues = 5'000'000;

/// The position of a byte, such as "line 3, column 7"; lines and columns count from 1.
std::string position(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin = before.find_last_of('\n') + 1;  // npos + 1 is 0
  return "line " + std::to_string(lines + 1) + ", column " +
         std::to_string(offset - line_begin + 1);
}

/// An input iterator for nlohmann's lexer that also reports its position to the Builder.
class WatchedIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  WatchedIterator(const char* at, const char** seen) : at_(at), seen_(seen) {}
  reference operator*() const { return *at_; }
  pointer operator->() const { return at_; }
  WatchedIterator& operator++() {
    *seen_ = ++at_;
    return *this;
  }
  WatchedIterator operator++(int) {
    WatchedIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const WatchedIterator& other) const { return at_ == other.at_; }
  bool operator!=(const WatchedIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** seen_;
};

/// Builds the JSON value, and throws InputError where the file breaks a rule of this parser.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, const std::string& file, const char* const* seen)
      : text_(text), file_(file), seen_(seen) {}

  [[nodiscard]] Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& written) override {
    if (written.find_first_of(".eE") == std::string::npos) {
      fail(written +
           ": allowed: whole numbers of 64 bits; write larger numbers with an exponent, such as "
           "1e30");
    }
    return add(value);
  }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& /*value*/) override { fail("binary data is not allowed"); }

  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    Level& level = levels_.back();
    level.key = std::move(key);
    if (level.value->contains(level.key)) fail("this key appears twice; remove one");
    return true;
  }

  bool parse_error(std::size_t /*offset*/, const std::string& token,
                   const Json::exception& error) override {
    if (dynamic_cast<const Json::out_of_range*>(&error) != nullptr) {
      fail(shortened(token) + ": allowed: numbers up to 1.7e308");
    }
    constexpr std::size_t kLongest = 300;
    throw InputError(file_ + ": not JSON: " + shortened(error.what(), kLongest));
  }

 private:
  struct Level {
    Json* value;
    std::string key = {};  ///< key of the current member
  };

  [[nodiscard]] std::size_t seen() const { return static_cast<std::size_t>(*seen_ - text_.data()); }

  /// The position of the value under construction, such as "parameters[3].values".
  [[nodiscard]] std::string path() const {
    std::string path;
    for (const Level& level : levels_) {
      if (level.value->is_array()) {
        // The array already contains its element under construction if the element is an object or
        // array, so the size minus 1 is the element's index.
        const std::size_t begun = &level == &levels_.back() ? 0 : 1;
        path += "[" + std::to_string(level.value->size() - begun) + "]";
      } else if (!level.key.empty()) {
        path.append(path.empty() ? "" : ".").append(shortened(level.key));
      }
    }
    return path.empty() ? "top level" : path;
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(file_ + ": " + path() + ": " + problem + " (" + position(text_, seen()) + ")");
  }

  Json* insert(Json value) {
    if (++values_ > kMostValues) {
      fail("too many values; allowed: " + std::to_string(kMostValues) + " in a file");
    }
    if (levels_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Level& level = levels_.back();
    if (level.value->is_array()) {
      level.value->push_back(std::move(value));
      return &level.value->back();
    }
    Json& place = (*level.value)[level.key];
    place = std::move(value);
    return &place;
  }

  template <typename T>
  bool add(T&& value) {
    insert(Json(std::forward<T>(value)));
    return true;
  }

  bool open(Json value) {
    if (levels_.size() == kDeepestJson) {
      fail("nested too deeply; allowed: " + std::to_string(kDeepestJson) + " levels");
    }
    levels_.push_back({insert(std::move(value))});
    return true;
  }

  bool close() {
    levels_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& file_;
  const char* const* seen_;
  Json root_;
  std::vector<Level> levels_;
  std::size_t values_ = 0;
};

/// Reports a byte order mark, an empty file, NUL bytes and invalid UTF-8, because nlohmann's
/// messages about them are less helpful.
void require_plain_text(std::string_view text, const std::string& file) {
  if (text.starts_with("\xef\xbb\xbf")) {
    throw InputError(file + ": begins with a byte order mark; allowed: UTF-8 without it");
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw InputError(file + ": is empty; allowed: a JSON object {…}");
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    throw InputError(file + ": " + position(text, nul) + ": holds a NUL byte; allowed: text");
  }
  if (const auto wrong = find_invalid_utf8(text)) {
    throw InputError(file + ": " + position(text, *wrong) + ": is not UTF-8");
  }
}

}  // namespace

Json parse_json(const std::string& text, const std::string& file) {
  if (text.size() > kLargestJson) {
    throw InputError(file + ": has " + std::to_string(text.size()) +
                     " bytes; allowed: " + std::to_string(kLargestJson));
  }
  require_plain_text(text, file);
  const char* seen = text.data();
  Builder builder(text, file, &seen);
  const char* end = text.data() + text.size();
  Json::sax_parse(WatchedIterator(text.data(), &seen), WatchedIterator(end, &seen), &builder,
                  Json::input_format_t::json, true, true);
  return builder.take();
}

}  // namespace evo
