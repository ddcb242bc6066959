// Reads the parts of a bundle: files, JSON, expressions. A part of evo_tune.hpp: do not include
// this file directly.
#ifndef EVO_TUNE_INDEX_HPP_V3
#define EVO_TUNE_INDEX_HPP_V3

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <locale>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace evo_tune {
inline namespace v3 {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Values = std::map<std::string, double>;  ///< values of names in expressions

namespace detail {

inline std::string text_of(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.15g", value);
  return text.data();
}

inline std::string read_file(const std::string& file) try {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error("");
  return {std::istreambuf_iterator<char>(in), {}};
} catch (const std::exception&) {  // for example if `file` is a folder
  throw Error(file + ": cannot be read");
}

/// The SHA-256 hash (FIPS 180-4) in hexadecimal.
inline std::string sha256(const std::string& data) {
  static constexpr std::array<std::uint32_t, 64> kRound = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
      0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
      0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
      0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
      0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
      0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
      0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
      0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
      0xc67178f2};
  std::array<std::uint32_t, 8> hash = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const auto turned = [](std::uint32_t x, int by) { return x >> by | x << (32 - by); };
  const std::size_t padded = (data.size() + 8) / 64 * 64 + 64;
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    if (i < data.size()) return static_cast<unsigned char>(data[i]);
    if (i == data.size()) return 0x80;
    const std::uint64_t bits = std::uint64_t{data.size()} * 8;
    return i < padded - 8 ? 0 : bits >> (8 * (padded - 1 - i)) & 0xff;
  };
  for (std::size_t block = 0; block < padded; block += 64) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 64; ++i) {
      if (i < 16) {
        for (std::size_t b = 0; b < 4; ++b) w[i] = w[i] << 8 | byte(block + 4 * i + b);
        continue;
      }
      const std::uint32_t x = w[i - 15], y = w[i - 2];
      w[i] = w[i - 16] + (turned(x, 7) ^ turned(x, 18) ^ x >> 3) + w[i - 7] +
             (turned(y, 17) ^ turned(y, 19) ^ y >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = hash;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) +
                                  ((e & f) ^ (~e & g)) + kRound[i] + w[i];
      const std::uint32_t second =
          (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    const std::array<std::uint32_t, 8> mixed = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) hash[i] += mixed[i];
  }
  std::string text;
  for (const std::uint32_t word : hash) {
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", static_cast<unsigned>(word));
    text += digits.data();
  }
  return text;
}

/// The first line of an index, which has the hash of all other lines.
inline std::string index_head(const std::string& rest) {
  return "{\"sha256\": \"" + sha256(rest) + "\",\n";
}

/// Throws Error if the index was changed after evo-export wrote it.
inline void require_unchanged(const std::string& text) {
  const std::size_t line = text.find('\n');
  const std::size_t rest = line == std::string::npos ? text.size() : line + 1;
  if (text.compare(0, rest, index_head(text.substr(rest))) == 0) return;
  throw Error("was damaged, changed by hand or written by another version: export it again");
}

/// Converts `value` to a whole number from 0 to `most`, else throws Error. `what`: the name of the
/// value in the message.
inline std::size_t whole(double value, double most, const std::string& what) {
  if (value >= 0 && value <= most && value == std::floor(value)) {
    return static_cast<std::size_t>(value);
  }
  throw Error(what + " is " + text_of(value) + "; allowed: a whole number from 0 to " +
              text_of(most));
}

struct Json {
  enum Kind { kNull, kNumber, kString, kArray, kObject };  // true and false become 1 and 0
  static constexpr std::array<const char*, 5> kKindNames = {"null", "a number", "a string",
                                                            "an array", "an object"};
  Kind kind = kNull;
  double value = 0;
  std::string string;
  std::vector<std::string> keys;  ///< of an object's items
  std::vector<Json> items;

  const Json* find(const std::string& key) const {
    const auto found = std::find(keys.begin(), keys.end(), key);
    return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
  }
  const Json& at(const std::string& key, Kind wanted = kObject) const {
    const Json* found = find(key);
    if (found == nullptr) throw Error("'" + key + "' is missing");
    if (found->kind != wanted) throw Error("'" + key + "': allowed: " + kKindNames[wanted]);
    return *found;
  }
  const std::string& text(const std::string& key) const { return at(key, kString).string; }
  double number(const std::string& key) const { return at(key, kNumber).value; }
  const std::vector<Json>& list(const std::string& key) const { return at(key, kArray).items; }
  std::vector<std::string> names(const std::string& key) const {
    std::vector<std::string> texts;
    for (const Json& item : list(key)) {
      if (item.kind != kString) throw Error("'" + key + "': allowed: an array of strings");
      texts.push_back(item.string);
    }
    return texts;
  }
};

struct JsonReader {
  const char* begin;
  const char* at;

  [[noreturn]] void fail(const std::string& problem) const {
    throw Error("byte " + std::to_string(at - begin) + ": " + problem);
  }
  char next() { return *(at += std::strspn(at, " \t\r\n")); }
  bool take(char c) { return next() == c && *at++ != '\0'; }
  void expect(char c) {
    if (!take(c)) fail(std::string("'") + c + "' is expected");
  }
  Json read(int depth = 0) {
    constexpr int kDeepest = 500;  // far above evo-tune's own limit for the depth of expressions
    if (depth > kDeepest) fail("nested too deeply");
    Json json;
    const char open = next();
    if (open == '"') {
      json.kind = Json::kString;
      json.string = string();
    } else if (open == '{' || open == '[') {
      json.kind = open == '{' ? Json::kObject : Json::kArray;
      if (++at, take(open == '{' ? '}' : ']')) return json;
      do {
        if (open == '{') json.keys.push_back(string());
        if (open == '{') expect(':');
        json.items.push_back(read(depth + 1));
      } while (take(','));
      expect(open == '{' ? '}' : ']');
    } else {
      const std::string word(at, std::strcspn(at, ",]} \t\r\n"));
      std::istringstream in(word == "true" ? "1" : word == "false" ? "0" : word);
      in.imbue(std::locale::classic());  // the program's locale may have a decimal comma
      json.kind = word == "null" ? Json::kNull : Json::kNumber;
      const bool is_number = in >> json.value && in.peek() == EOF;
      if (json.kind == Json::kNumber && !is_number) fail("no value");
      at += word.size();
    }
    return json;
  }
  std::string string() {
    std::string result;
    for (expect('"'); *at != '"' && *at != '\0'; ++at) {
      result += *at;
      if (*at != '\\') continue;
      const std::size_t known = std::string("\"\\/bfnrtu").find(*++at);
      if (known == std::string::npos) fail("an unknown escape");
      result.back() = "\"\\/\b\f\n\r\t?"[known];  // evo-export writes no other control characters
      if (*at == 'u') at += std::min<std::size_t>(4, std::strlen(at + 1));
    }
    expect('"');
    return result;
  }
};

/// The value of an expression's "tree" (docs/bundle.md): a number, a name, or an operation with its
/// operands. The operator ? evaluates only the branch taken.
inline double evaluate(const Json& tree, const Values& values) {
  if (tree.kind == Json::kNumber) return tree.value;
  if (tree.kind == Json::kString) {
    const auto found = values.find(tree.string);
    return found != values.end() ? found->second : throw Error("'" + tree.string + "' is unknown");
  }
  const std::string op = tree.items.empty() ? "" : tree.items[0].string;
  const auto operand = [&](std::size_t i) {
    if (i >= tree.items.size()) throw Error("'" + op + "' lacks an operand");
    return evaluate(tree.items[i], values);
  };
  const auto real = [&](double x) { return std::isfinite(x) ? x : throw Error(op + ": no value"); };
  double a = operand(1);
  if (op == "?") return operand(a != 0 ? 2 : 3);
  if (op == "min" || op == "max") {
    for (std::size_t i = 2; i < tree.items.size(); ++i) {
      a = op == "max" ? std::max(a, operand(i)) : std::min(a, operand(i));
    }
    return a;
  }
  if (op == "floor") return std::floor(a);
  if (op == "ceil") return std::ceil(a);
  if (op == "round") return std::round(a);
  if (op == "exp") return real(std::exp(a));
  if (op == "sqrt") return real(std::sqrt(a));
  if (op == "ln") return real(std::log(a));
  if (op == "log2") return real(std::log2(a));
  const double b = operand(2);
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "^") return real(std::pow(a, b));
  if (op == "==") return a == b ? 1 : 0;
  if (op == "<") return a < b ? 1 : 0;
  if (op == "whole" || op == "within") {
    const double c = operand(3);
    if (a >= b && a <= c && (a == std::floor(a) || op == "within")) return a;
    throw Error(text_of(a) + "; allowed: a " + (op == "whole" ? "whole " : "") + "number from " +
                text_of(b) + " to " + text_of(c));
  }
  if (b == 0) throw Error("division by zero");
  if (op == "/") return a / b;
  double rest = std::fmod(a, b);  // as in Python, the remainder has the sign of the divisor
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
  if (op == "%") return rest;
  return op == "//" ? std::round((a - rest) / b) : throw Error("'" + op + "' is unknown");
}

/// The value of an expression of the index, {"expression", "tree"}: evaluates the tree. Error
/// messages quote the text of "expression".
inline double value_of(const Json& expression, const Values& values) {
  const Json* tree = expression.find("tree");
  try {
    const double value = tree != nullptr ? evaluate(*tree, values) : throw Error("has no tree");
    return std::isfinite(value) ? value : throw Error("the value is not finite");
  } catch (const Error& error) {
    throw Error(expression.text("expression") + ": " + error.what());
  }
}

}  // namespace detail
}  // namespace v3
}  // namespace evo_tune

#endif  // EVO_TUNE_INDEX_HPP_V3
