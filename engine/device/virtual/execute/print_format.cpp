#include "engine/device/virtual/execute/print_format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <optional>

namespace evo::ptx {
namespace {

constexpr int kMostArguments = 32;  // CUDA C++ Programming Guide, "Formatted Output"
constexpr int kMostWidth = 4096;
constexpr std::size_t kMostText = 1 << 20;

enum class Size : std::uint8_t { kInt, kShort, kChar, kLong };

/// A conversion specification of a format, such as "%-8.3f".
struct Conversion {
  std::string flags;
  std::optional<int> width;
  std::optional<int> precision;
  bool width_is_argument = false;
  bool precision_is_argument = false;
  Size size = Size::kInt;
  char type = '\0';
  std::size_t length = 0;  ///< number of characters
};

class ConversionParser {
 public:
  explicit ConversionParser(std::string_view text) : text_(text) {}

  Conversion run() {
    Conversion found;
    while (std::string_view("-+ #0").find(peek()) != std::string_view::npos && peek() != '\0')
      found.flags += text_[at_++];
    found.width_is_argument = take('*');
    if (!found.width_is_argument) found.width = number();
    if (take('.')) {
      found.precision_is_argument = take('*');
      if (!found.precision_is_argument) found.precision = number().value_or(0);
    }
    found.size = size();
    found.type = peek();
    found.length = std::min(at_ + 1, text_.size());
    return found;
  }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  std::optional<int> number() {
    if (peek() < '0' || peek() > '9') return std::nullopt;
    int value = 0;
    while (peek() >= '0' && peek() <= '9')
      value = std::min(value * 10 + (text_[at_++] - '0'), kMostWidth);
    return value;
  }
  Size size() {
    if (take('h')) return take('h') ? Size::kChar : Size::kShort;
    if (take('l')) {
      take('l');
      return Size::kLong;
    }
    return take('z') || take('j') || take('t') ? Size::kLong : Size::kInt;
  }

  std::string_view text_;
  std::size_t at_ = 1;
};

/// Formats one value with the host's printf.
template <typename T>
std::string print_one(const Conversion& conversion, const char* type, T value) {
  const std::string spec = "%" + conversion.flags + "*" + (conversion.precision ? ".*" : "") + type;
  const int width = conversion.width.value_or(0);
  std::array<char, 2 * kMostWidth + 512> buffer;  // an f64 has up to 309 digits before the point
  const int length = conversion.precision
                         ? std::snprintf(buffer.data(), buffer.size(), spec.c_str(), width,
                                         *conversion.precision, value)
                         : std::snprintf(buffer.data(), buffer.size(), spec.c_str(), width, value);
  return {buffer.data(),
          std::min(static_cast<std::size_t>(std::max(length, 0)), buffer.size() - 1)};
}

class Formatter {
 public:
  Formatter(std::string_view format, const PrintSource& source)
      : format_(format), source_(source) {}

  PrintedText run() {
    for (std::size_t at = 0; at < format_.size() && result_.text.size() < kMostText;) {
      if (format_[at] != '%') {
        result_.text += format_[at++];
        continue;
      }
      Conversion conversion = ConversionParser(format_.substr(at)).run();
      const std::string_view written = format_.substr(at, conversion.length);
      at += std::max<std::size_t>(conversion.length, 1);
      if (written == "%%") {
        result_.text += '%';
      } else if (!is_known(conversion.type) ||
                 result_.arguments + needed(conversion) > kMostArguments) {
        result_.text += written;
      } else {
        print(conversion);
      }
    }
    return std::move(result_);
  }

 private:
  static bool is_known(char type) {
    return type != '\0' &&
           std::string_view("diuoxXcfFeEgGaAsp").find(type) != std::string_view::npos;
  }
  static int needed(const Conversion& conversion) {
    return 1 + (conversion.width_is_argument ? 1 : 0) + (conversion.precision_is_argument ? 1 : 0);
  }

  std::uint64_t argument(std::uint32_t bytes) {
    offset_ = (offset_ + bytes - 1) / bytes * bytes;
    const std::uint64_t value = source_.argument(offset_, bytes);
    offset_ += bytes;
    ++result_.arguments;
    return value;
  }
  int small_argument() {
    return std::clamp(static_cast<int>(static_cast<std::uint32_t>(argument(4))), -kMostWidth,
                      kMostWidth);
  }

  void print(Conversion& conversion) {
    if (conversion.width_is_argument) {
      conversion.width = small_argument();
    }
    if (conversion.precision_is_argument) {
      // printf ignores a negative precision.
      if (const int precision = small_argument(); precision >= 0) conversion.precision = precision;
    }
    const char type = conversion.type;
    if (std::string_view("di").find(type) != std::string_view::npos) {
      result_.text += print_one(conversion, "lld", signed_argument(conversion.size));
    } else if (std::string_view("uoxX").find(type) != std::string_view::npos) {
      const std::string spec = std::string("ll") + type;
      result_.text += print_one(conversion, spec.c_str(), unsigned_argument(conversion.size));
    } else if (type == 'c') {
      result_.text += print_one(conversion, "c", static_cast<int>(argument(4) & 0xffU));
    } else if (type == 'p') {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the pointer is only printed
      result_.text += print_one(conversion, "p", reinterpret_cast<void*>(argument(8)));
    } else if (type == 's') {
      print_string(conversion);
    } else {
      const std::string spec(1, type);
      result_.text += print_one(conversion, spec.c_str(), std::bit_cast<double>(argument(8)));
    }
  }

  void print_string(const Conversion& conversion) {
    const std::uint64_t address = argument(8);
    std::string text = address == 0 ? "(null)" : source_.string(address);
    if (conversion.precision) {
      text.resize(
          std::min<std::size_t>(text.size(), static_cast<std::size_t>(*conversion.precision)));
    }
    const int width = conversion.width.value_or(0);
    const auto wide = static_cast<std::size_t>(width < 0 ? -width : width);
    const bool left = width < 0 || conversion.flags.find('-') != std::string::npos;
    const std::string padding(wide > text.size() ? wide - text.size() : 0, ' ');
    result_.text += left ? text + padding : padding + text;
  }

  long long signed_argument(Size size) {
    const std::uint64_t value = argument(size == Size::kLong ? 8 : 4);
    if (size == Size::kLong) return static_cast<long long>(value);
    if (size == Size::kShort) return static_cast<std::int16_t>(value);
    if (size == Size::kChar) return static_cast<std::int8_t>(value);
    return static_cast<std::int32_t>(value);
  }
  unsigned long long unsigned_argument(Size size) {
    const std::uint64_t value = argument(size == Size::kLong ? 8 : 4);
    if (size == Size::kShort) return value & 0xffffU;
    if (size == Size::kChar) return value & 0xffU;
    return value;
  }

  std::string_view format_;
  const PrintSource& source_;
  PrintedText result_;
  std::uint32_t offset_ = 0;
};

}  // namespace

PrintedText format_print(std::string_view format, const PrintSource& source) {
  return Formatter(format, source).run();
}

}  // namespace evo::ptx
