#include "engine/compile/compiler_options.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "engine/compile/allowed_options.hpp"
#include "engine/core/error.hpp"
#include "engine/core/names.hpp"

namespace evo {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& why) {
  throw InputError(std::string("\"").append(option).append("\": ").append(why));
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  const std::size_t end = text.find_last_not_of(" \t");
  return std::string(text.substr(begin, end == std::string_view::npos ? 0 : end + 1 - begin));
}

struct Split {
  const KnownOption* known = nullptr;
  std::string name;                  ///< as written
  std::optional<std::string> value;  ///< the value, if the same word contains it
};

/// Splits a compiler option into its name and its value: "--ftz=true", "--ftz true", "-O3",
/// "-DX=1".
Split split(const std::vector<KnownOption>& table, const std::string& word) {
  const std::size_t end = word.find_first_of("= \t");
  const std::string name = word.substr(0, end);
  for (const KnownOption& known : table) {
    for (const std::string_view spelling : known.spellings) {
      if (name == spelling) {
        if (end == std::string::npos) return {&known, name, std::nullopt};
        return {&known, name, trimmed(std::string_view(word).substr(end + 1))};
      }
      // The value of a one-letter option may follow the letter directly, as in -O3.
      const bool letter = spelling.size() == 2 && spelling[1] != '-';
      if (letter && word.starts_with(spelling)) {
        return {&known, std::string(spelling), trimmed(std::string_view(word).substr(2))};
      }
    }
  }
  return {nullptr, name, std::nullopt};
}

std::string checked_number(const KnownOption& known, const std::string& option,
                           const std::string& value) {
  int number = 0;
  const auto result = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool whole = result.ec == std::errc() && result.ptr == value.data() + value.size();
  if (!whole || number < known.low || number > known.high) {
    refuse(option, "allowed: " + text_of(known));
  }
  return std::string(known.canonical) + "=" + std::to_string(number);
}

std::string checked_define(const std::string& option, const std::string& value,
                           const OptionRules& rules, std::set<std::string>& defined) {
  const std::size_t equals = value.find('=');
  const std::string head = value.substr(0, equals);
  const std::string body = equals == std::string::npos ? "" : value.substr(equals + 1);
  const std::size_t bracket = head.find('(');
  const std::string name = head.substr(0, bracket);
  const bool parameters = bracket == std::string::npos ||
                          (head.back() == ')' &&
                           head.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRS"
                                                  "TUVWXYZ0123456789_,. ()") == std::string::npos);
  if (!is_identifier(name) || !parameters) refuse(option, "allowed: -DNAME, -DNAME=VALUE");
  if (name.starts_with("__")) {
    refuse(option, "macros that begin with two underscores belong to the compiler");
  }
  const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::any_of(body.begin(), body.end(), control) || body.ends_with('\\') ||
      body.find("//") != std::string::npos || body.find("/*") != std::string::npos) {
    refuse(option, "the value of a macro is one line without comments");
  }
  const auto& taken = rules.taken_macros;
  if (std::find(taken.begin(), taken.end(), name) != taken.end()) {
    refuse(option, "macro " + name + " is set by the space or the problem");
  }
  if (!defined.insert(name).second) refuse(option, "macro " + name + " is defined twice");
  return std::string("-D").append(value);
}

std::string checked_include(const std::string& option, const std::string& value,
                            const OptionRules& rules) {
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::canonical(rules.base / std::filesystem::path(value), error);
  if (error || !std::filesystem::is_directory(folder)) refuse(option, "there is no such folder");
  std::string roots;
  std::set<std::filesystem::path> named;
  for (const std::filesystem::path& root : rules.include_roots) {
    const std::filesystem::path real = std::filesystem::weakly_canonical(root, error);
    if (is_inside(folder, real)) return std::string("-I").append(folder.string());
    if (!named.insert(real).second) continue;
    roots += (roots.empty() ? "" : ", ") + real.string();
  }
  refuse(option, "allowed: folders inside " + roots +
                     "; the environment variable EVO_INCLUDE_PATH names more, separated by ':'");
}

class Normaliser {
 public:
  Normaliser(const std::vector<std::string>& given, const OptionRules& rules)
      : given_(given), rules_(rules) {}

  std::vector<std::string> run() {
    while (at_ < given_.size()) take_compiler_option();
    if (!pending_.empty()) refuse(pending_, "its value is missing");
    return std::move(result_);
  }

 private:
  void take_compiler_option() {
    const std::string word = given_[at_++];
    Split parts = split(compiler_options(), word);
    if (parts.known == nullptr) {
      const std::string_view why = why_refused(parts.name);
      refuse(word, (why.empty() ? "" : std::string(why) + "; ") +
                       "allowed: " + allowed_text(compiler_options()));
    }
    std::string option = word;
    if (parts.known->kind != OptionKind::kFlag && (!parts.value || parts.value->empty())) {
      if (at_ == given_.size() || parts.value) refuse(word, "its value is missing");
      option += " " + given_[at_];
      parts.value = trimmed(given_[at_++]);
    }
    if (parts.known->kind == OptionKind::kAssembler) {
      take_assembler_options(option, *parts.value);
    } else {
      result_.push_back(checked(*parts.known, option, parts.value));
    }
  }

  /// Parses "-O2", "-O2,-dlcm=cg", or "-dlcm" with its value in the next option.
  void take_assembler_options(const std::string& option, const std::string& value) {
    std::size_t begin = 0;
    while (begin < value.size()) {
      const std::size_t end = std::min(value.find_first_of(", \t", begin), value.size());
      std::string word = value.substr(begin, end - begin);
      begin = end + 1;
      if (word.empty()) continue;
      if (!pending_.empty()) word = std::exchange(pending_, {}) + "=" + word;
      const Split parts = split(assembler_options(), word);
      if (word == "-v" || word == "--verbose") continue;  // nvrtc.cpp always sets this option
      if (parts.known == nullptr) {
        const std::string_view why = why_refused(parts.name);
        refuse(option, word + (why.empty() ? "" : ": " + std::string(why)) +
                           "; allowed for ptxas: " + allowed_text(assembler_options()));
      }
      if (parts.known->kind != OptionKind::kFlag && (!parts.value || parts.value->empty())) {
        pending_ = word;
        continue;
      }
      result_.push_back("--ptxas-options=" + checked(*parts.known, option, parts.value));
    }
  }

  std::string checked(const KnownOption& known, const std::string& option,
                      const std::optional<std::string>& value) {
    switch (known.kind) {
      case OptionKind::kFlag:
        if (value) refuse(option, "allowed: " + text_of(known));
        return std::string(known.canonical);
      case OptionKind::kNumber:
        return checked_number(known, option, *value);
      case OptionKind::kDefine:
        return checked_define(option, *value, rules_, defined_);
      case OptionKind::kInclude:
        return checked_include(option, *value, rules_);
      default:
        break;
    }
    static const std::vector<std::string_view> kTruth = {"true", "false"};
    const auto& choices = known.kind == OptionKind::kBoolean ? kTruth : known.choices;
    if (std::find(choices.begin(), choices.end(), *value) == choices.end()) {
      refuse(option, "allowed: " + text_of(known));
    }
    return std::string(known.canonical) + "=" + *value;
  }

  const std::vector<std::string>& given_;
  const OptionRules& rules_;
  std::size_t at_ = 0;
  std::string pending_;  ///< a ptxas option whose value is the next word
  std::set<std::string> defined_;
  std::vector<std::string> result_;
};

}  // namespace

std::vector<std::string> normalised_options(const std::vector<std::string>& given,
                                            const OptionRules& rules) {
  return Normaliser(given, rules).run();
}

std::vector<std::filesystem::path> include_folders(std::span<const std::string> options) {
  std::vector<std::filesystem::path> folders;
  for (const std::string& option : options) {
    if (option.starts_with("-I")) folders.emplace_back(option.substr(2));
  }
  return folders;
}

bool makes_all_device_code(std::span<const std::string> options) {
  return std::any_of(options.begin(), options.end(), [](const std::string& option) {
    return option == "-default-device" || option == "--device-as-default-execution-space";
  });
}

std::string join_options(std::span<const std::string> options) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-=+./:,%@";
  std::string text;
  for (const std::string& option : options) {
    if (!text.empty()) text += ' ';
    if (!option.empty() && option.find_first_not_of(kPlain) == std::string::npos) {
      text += option;
      continue;
    }
    text += '\'';
    for (const char c : option) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

std::vector<std::string> split_options(std::string_view text) {
  std::vector<std::string> options;
  std::optional<std::string> word;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'') {
      quoted = !quoted;
      if (!word) word.emplace();
    } else if (!quoted && c == '\\' && i + 1 < text.size()) {
      if (!word) word.emplace();
      *word += text[++i];
    } else if (!quoted && (c == ' ' || c == '\t')) {
      if (word) options.push_back(*std::exchange(word, std::nullopt));
    } else {
      if (!word) word.emplace();
      *word += c;
    }
  }
  if (word) options.push_back(*word);
  return options;
}

bool is_inside(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const auto [end, unused] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end() || (std::next(end) == folder.end() && end->empty());
}

}  // namespace evo
