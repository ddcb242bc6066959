#include "engine/compile/ptx_parameters.hpp"

#include <algorithm>
#include <charconv>

#include "engine/compile/ptx_words.hpp"

namespace evo {
namespace {

std::optional<std::size_t> number_of(std::string_view word) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

/// Bytes of ".u64"; nothing for what is no type of one number.
std::optional<std::size_t> bytes_of_type(std::string_view word) {
  if (word.size() < 3 || word[0] != '.') return std::nullopt;
  if (std::string_view("usbf").find(word[1]) == std::string_view::npos) return std::nullopt;
  const auto bits = number_of(word.substr(2));
  return bits && *bits % 8 == 0 ? std::optional(*bits / 8) : std::nullopt;
}

/// `.param .align 8 .b8 name[24]`, `.param .u64 .ptr .global .align 4 name`.
std::optional<PtxParameter> read_parameter(const std::vector<std::string_view>& words) {
  if (words.empty() || words[0] != ".param") return std::nullopt;
  PtxParameter parameter;
  for (const std::string_view word : words) {
    const auto bytes = bytes_of_type(word);
    if (!bytes) continue;
    parameter = {std::string(word), *bytes};
    break;
  }
  const auto open = std::ranges::find(words, "[");
  if (open != words.end()) {
    const auto count = open + 1 != words.end() ? number_of(open[1]) : std::nullopt;
    if (!count) return std::nullopt;
    parameter.bytes *= *count;
  }
  return parameter.bytes > 0 ? std::optional(parameter) : std::nullopt;
}

}  // namespace

std::optional<std::vector<PtxParameter>> parameters_of(std::string_view ptx,
                                                       std::string_view symbol) {
  const std::string begin = ".entry " + std::string(symbol) + "(";
  const std::size_t at = ptx.find(begin);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = ptx.substr(at + begin.size());
  std::vector<PtxParameter> parameters;
  std::vector<std::string_view> words;
  for (const std::string_view word : words_of(rest.substr(0, rest.find(')') + 1))) {
    if (word != "," && word != ")") {
      words.push_back(word);
      continue;
    }
    if (words.empty() && word == ")" && parameters.empty()) return parameters;
    const auto parameter = read_parameter(words);
    if (!parameter) return std::nullopt;
    parameters.push_back(*parameter);
    words.clear();
    if (word == ")") return parameters;
  }
  return std::nullopt;
}

}  // namespace evo
