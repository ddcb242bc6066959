// Format of .npy files: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

#include "engine/problem/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/core/error.hpp"
#include "engine/core/file_reader.hpp"
#include "engine/core/json_reader.hpp"

namespace evo {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;  ///< alignment of the data's offset in the file

/// NumPy's code for a type, such as "<f4"; empty if NumPy has no such type.
std::string npy_code(const DtypeRow& row) {
  const std::string_view kind = row.kind == NumberKind::kFloat    ? "float"
                                : row.kind == NumberKind::kSigned ? "int"
                                                                  : "uint";
  if (row.numpy != fmt::format("{}{}", kind, 8 * row.bytes)) return {};
  return fmt::format("{}{}{}", row.bytes == 1 ? '|' : '<', kind.front(), row.bytes);
}

/// The type for a NumPy code such as "<f4"; nullopt if no type has this code.
std::optional<Dtype> dtype_of(std::string_view code) {
  for (const DtypeRow& row : dtype_rows()) {
    if (!code.empty() && npy_code(row) == code) return row.dtype;
  }
  return std::nullopt;
}

/// The header that NumPy writes: a Python dictionary with the keys "descr", "fortran_order" and
/// "shape". read() returns nullopt for any other text, because NumPy may read it differently.
struct NpyHeader {
  std::string_view type = {};   ///< the text between the quotes, or the list for a structured type
  std::string_view order = {};  ///< True or False
  std::string_view shape = {};  ///< the text between the parentheses

  [[nodiscard]] static std::optional<NpyHeader> read(std::string_view text);
};

/// A read position in the header of a .npy file.
class HeaderWords {
 public:
  explicit HeaderWords(std::string_view text) : rest_(text) { skip_spaces(); }

  [[nodiscard]] bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    skip_spaces();
    return true;
  }

  /// The text between `open` and the next `close`; nullopt unless `open` comes next.
  [[nodiscard]] std::optional<std::string_view> between(char open, char close) {
    const std::size_t end = rest_.find(close, 1);
    if (!rest_.starts_with(open) || end == std::string_view::npos) return std::nullopt;
    const std::string_view inside = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    skip_spaces();
    return inside;
  }

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  void skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
  }

  std::string_view rest_;
};

std::optional<NpyHeader> NpyHeader::read(std::string_view text) {
  HeaderWords words(text);
  NpyHeader header;
  if (!words.take("{")) return std::nullopt;
  const auto set = [](std::string_view& entry, std::optional<std::string_view> value) {
    if (!value || value->empty() || !entry.empty()) return false;
    entry = *value;
    return true;
  };
  const auto flag = [&]() -> std::optional<std::string_view> {
    if (words.take("True")) return "True";
    if (words.take("False")) return "False";
    return std::nullopt;
  };
  bool has_shape = false;
  while (!words.take("}")) {
    const auto key = words.between('\'', '\'');
    if (!key || !words.take(":")) return std::nullopt;
    if (*key == "descr") {
      auto type = words.between('\'', '\'');
      if (!set(header.type, type ? type : words.between('[', ']'))) return std::nullopt;
    } else if (*key == "fortran_order") {
      if (!set(header.order, flag())) return std::nullopt;
    } else if (*key == "shape" && !has_shape) {
      const auto shape = words.between('(', ')');
      if (!shape) return std::nullopt;
      header.shape = *shape;
      has_shape = true;
    } else {
      return std::nullopt;
    }
    if (words.take(",")) continue;
    if (!words.take("}")) return std::nullopt;
    break;
  }
  const bool is_whole = !header.type.empty() && !header.order.empty() && has_shape;
  return is_whole && words.at_end() ? std::optional(header) : std::nullopt;
}

/// The product of a shape such as "3, 4", "3," or ""; nullopt for any other text and for a product
/// above 2^40.
std::optional<std::uint64_t> elements_of(std::string_view shape) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  std::uint64_t product = 1;
  while (!shape.empty()) {
    const std::size_t comma = std::min(shape.find(','), shape.size());
    std::string_view word = shape.substr(0, comma);
    shape.remove_prefix(std::min(comma + 1, shape.size()));
    word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
    word = word.substr(0, word.find_last_not_of(' ') + 1);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    if (number > kMost || (number > 0 && product > kMost / number)) return std::nullopt;
    product *= number;
  }
  return product;
}

constexpr std::size_t kMostHeader = std::size_t{1} << 20;

class NpyFile {
 public:
  /// Reads the header.
  explicit NpyFile(const std::filesystem::path& file) : name_(file.string()), reader_(file) {
    constexpr std::size_t kFirst = 12;  // magic, version, and the longest form of the length
    require_head(kFirst, "is not a .npy file");
    if (!head_.starts_with(kMagic)) fail("is not a .npy file");
    const auto version = static_cast<unsigned char>(head_[6]);
    if (version < 1 || version > 3) {
      fail("has .npy version " + std::to_string(version) + "; allowed: 1 to 3");
    }
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    std::uint32_t length = 0;
    std::memcpy(&length, head_.data() + 8, length_bytes);
    const std::size_t start = 8 + length_bytes;
    if (length > kMostHeader) {
      fail("its header has " + std::to_string(length) + " bytes; allowed: at most " +
           std::to_string(kMostHeader));
    }
    require_head(start + length, "ends within its header");
    const auto header = NpyHeader::read(std::string_view(head_).substr(start, length));
    if (!header) {
      fail("its header differs from NumPy's format: {'descr': …, 'fortran_order': …, 'shape': …}");
    }
    header_ = *header;
    data_start_ = start + length;
  }
  NpyFile(const NpyFile&) = delete;
  NpyFile& operator=(const NpyFile&) = delete;

  /// Passes the elements to `take`. Must be called only once.
  void read(Dtype dtype, std::size_t count, const TakePart& take) {
    if (header_.order != "False") {
      fail("has Fortran order; allowed: C order (numpy.ascontiguousarray)");
    }
    const std::optional<std::uint64_t> elements = elements_of(header_.shape);
    if (!elements) {
      fail("its shape is (" + std::string(header_.shape) +
           "); allowed here: " + std::to_string(count) + " elements");
    }
    if (*elements != count) {
      fail("has " + std::to_string(*elements) +
           " elements; allowed here: " + std::to_string(count));
    }
    const std::string_view type = header_.type;
    const std::optional<Dtype> known = type == "|b1" ? Dtype::kU8 : dtype_of(type);
    if (known && *known != dtype) {
      std::vector<std::byte> data;
      read_data(count * size_of(*known), appends_to(data, count * size_of(*known)));
      return take(converted(std::move(data), *known, dtype));
    }
    const bool is_raw = type == (size_of(dtype) == 1 ? "|V1" : "|V2") || type == "<f1";
    if (!known && !(is_raw && size_of(dtype) <= 2)) {
      fail("has elements of type '" + std::string(type) +
           "'; allowed: little-endian floats, integers of 8 to 64 bits, and raw bytes of "
           "the element's size");
    }
    read_data(count * size_of(dtype), take);
  }

  /// Returns a function that appends parts to `data`, which must outlive it. The function reserves
  /// memory for `bytes` bytes instead of resizing `data`, which would fill `data` with zeros first.
  [[nodiscard]] static TakePart appends_to(std::vector<std::byte>& data, std::size_t bytes) {
    return [&data, bytes](std::span<const std::byte> part) {
      data.reserve(bytes);
      data.insert(data.end(), part.begin(), part.end());
    };
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InputError(name_ + ": " + what); }

  /// Reads on until `head_` has at least `bytes` bytes; throws with the text `complaint` if the
  /// file ends before.
  void require_head(std::size_t bytes, const std::string& complaint) {
    while (head_.size() < bytes) {
      const std::string_view part = reader_.next();
      if (part.empty()) fail(complaint);
      head_ += part;
    }
  }

  /// Passes the bytes after the header to `take`.
  void read_data(std::size_t bytes, const TakePart& take) {
    std::uint64_t found = reader_.size() - std::min<std::uint64_t>(reader_.size(), data_start_);
    if (found == bytes) {
      found = 0;
      const auto pass = [&](std::string_view part) {
        found += part.size();
        if (found <= bytes && !part.empty()) take(std::as_bytes(std::span(part)));
      };
      pass(std::string_view(head_).substr(data_start_));
      for (auto part = reader_.next(); !part.empty(); part = reader_.next()) pass(part);
    }
    if (found == bytes) return;
    fail("has " + std::to_string(found) + " bytes of data; its header says " +
         std::to_string(bytes));
  }

  [[noreturn]] void fail_to_hold(std::size_t element, const std::string& value,
                                 const std::string& hint = {}) const {
    fail("element " + std::to_string(element) + " is " + value +
         ", which the argument's type cannot hold" + hint);
  }

  static bool is_wide(Dtype dtype) { return !is_floating(dtype) && size_of(dtype) == 8; }

  /// Copies i64 as u64, or u64 as i64, because a double does not represent all 64-bit integers.
  [[nodiscard]] std::vector<std::byte> other_sign(std::vector<std::byte> data) const {
    for (std::size_t at = 0; at < data.size(); at += sizeof(std::int64_t)) {
      std::int64_t value = 0;
      std::memcpy(&value, data.data() + at, sizeof value);
      if (value >= 0) continue;
      const bool is_signed = header_.type == "<i8";
      fail_to_hold(at / sizeof value, is_signed
                                          ? std::to_string(value)
                                          : std::to_string(static_cast<std::uint64_t>(value)));
    }
    return data;
  }

  /// Converts the elements of the file from one type to another. Throws if an integer type cannot
  /// represent a number, or if a finite number becomes infinite. An 8-bit integer that becomes an
  /// 8-bit float must stay exact; otherwise it is probably meant as the float's bit pattern.
  [[nodiscard]] std::vector<std::byte> converted(std::vector<std::byte> data, Dtype from,
                                                 Dtype to) const {
    const bool is_code = size_of(to) == 1 && is_floating(to) && size_of(from) == 1;
    if (is_wide(from) && is_wide(to)) return other_sign(std::move(data));
    const std::vector<double> values = decode_all(from, data);
    std::vector<std::byte> bytes(values.size() * size_of(to));
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::byte* target = bytes.data() + i * size_of(to);
      encode(to, values[i], target);
      const double held = decode(to, target);
      const bool is_held = is_floating(to) && !is_code
                               ? std::isfinite(held) || !std::isfinite(values[i])
                               : held == values[i];
      if (is_held) continue;
      fail_to_hold(i, Json(values[i]).dump(),
                   is_code ? "; store its bit pattern as a raw byte, '|V1'" : "");
    }
    return bytes;
  }

  std::string name_;
  FileReader reader_;
  std::string head_;  ///< the header and, perhaps, the first bytes of the data
  NpyHeader header_;
  std::size_t data_start_ = 0;
};

}  // namespace

std::vector<std::byte> read_npy(const std::filesystem::path& file, Dtype dtype, std::size_t count) {
  std::vector<std::byte> data;
  NpyFile(file).read(dtype, count, NpyFile::appends_to(data, count * size_of(dtype)));
  return data;
}

void read_npy_parts(const std::filesystem::path& file, Dtype dtype, std::size_t count,
                    const TakePart& take) {
  NpyFile(file).read(dtype, count, take);
}

void write_npy(const std::filesystem::path& file, Dtype dtype, std::span<const std::byte> bytes) {
  std::string code = npy_code(row_of(dtype));
  std::vector<std::byte> floats;
  const std::size_t count = bytes.size() / size_of(dtype);
  if (code.empty()) {
    code = npy_code(row_of(Dtype::kF32));
    floats.resize(count * sizeof(float));
    const std::vector<double> values = decode_all(dtype, bytes);
    for (std::size_t i = 0; i < count; ++i) {
      encode(Dtype::kF32, values[i], floats.data() + i * sizeof(float));
    }
    bytes = floats;
  }
  std::string header = "{'descr': '";
  header.append(code);
  header.append("', 'fortran_order': False, 'shape': (").append(std::to_string(count));
  header.append(",), }");
  constexpr std::size_t kBefore = 10;  // magic, version, length
  header.append((kAlignment - (kBefore + header.size() + 1) % kAlignment) % kAlignment, ' ');
  header += '\n';
  const std::array<char, kBefore - kMagic.size()> version_and_length = {
      1, 0, static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  errno = 0;
  std::ofstream stream(file, std::ios::binary);
  stream << kMagic;
  stream.write(version_and_length.data(), version_and_length.size());
  stream << header;
  stream.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (!stream) throw InputError(file.string() + ": cannot be written: " + std::strerror(errno));
}

}  // namespace evo
