#include "engine/compile/kept_macros.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace evo {
namespace {

/// The file name that the compiler gives for errors in the directives of macro_check().
constexpr std::string_view kCheckFile = "evo_macro_check";
constexpr std::string_view kUndefined = "evo: undefined macro ";

/// The text between `before` and the next `"` in `line`; empty if `line` does not contain `before`.
std::string_view quoted_behind(std::string_view line, std::string_view before) {
  const std::size_t at = line.find(before);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + before.size());
  return rest.substr(0, rest.find('"'));
}

/// The position of an error: "k.cu:3" for "k.cu(3): error: …". An error in the directives of
/// macro_check() lies in no file of the user, so the position of the macro's definition, "(declared
/// at line 3 of k.cu)", is used, or else the name of the source.
std::string place_of(std::string_view line, const std::string& source_name) {
  constexpr std::string_view kDeclared = "(declared at line ";
  constexpr std::string_view kOf = " of ";
  const std::size_t declared = line.find(kDeclared);
  if (line.starts_with(kCheckFile)) {
    if (declared == std::string_view::npos) return source_name;
    line.remove_prefix(declared + kDeclared.size());
    const std::size_t of = line.find(kOf);
    if (of == std::string_view::npos) return source_name;
    const std::string_view file = line.substr(of + kOf.size());
    return fmt::format("{}:{}", file.substr(0, file.find(')')), line.substr(0, of));
  }
  const std::size_t close = line.find("): ");
  const std::size_t open = line.rfind('(', close);
  if (open == std::string_view::npos || close == std::string_view::npos) return source_name;
  return fmt::format("{}:{}", line.substr(0, open), line.substr(open + 1, close - open - 1));
}

}  // namespace

std::vector<GivenMacro> given_macros(const std::vector<std::string>& options) {
  std::vector<GivenMacro> macros;
  for (const std::string& option : options) {
    if (!option.starts_with("-D")) continue;
    const std::size_t sign = std::min(option.find('='), option.size());
    const bool has_value = sign < option.size();
    macros.emplace_back(option.substr(2, sign - 2), has_value ? option.substr(sign + 1) : "1");
  }
  return macros;
}

std::string macro_check(const std::vector<GivenMacro>& macros) {
  if (macros.empty()) return {};
  // Enables warning 47 (incompatible redefinition of a macro), because a source may have disabled
  // it.
  std::string text = fmt::format("\n\n#line 1 \"{}\"\n#pragma nv_diag_warning 47\n", kCheckFile);
  for (const auto& [name, value] : macros) {
    text += fmt::format("#ifndef {0}\n#error \"{1}{0}\"\n#endif\n#define {0} {2}\n", name,
                        kUndefined, value);
  }
  return text;
}

std::optional<std::string> changed_macro_in(std::string_view log,
                                            const std::vector<GivenMacro>& macros,
                                            const std::string& source_name) {
  constexpr std::string_view kRedefined = "incompatible redefinition of macro \"";
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    const bool is_check = line.starts_with(kCheckFile);
    const std::string_view undefined = is_check ? quoted_behind(line, kUndefined) : "";
    const std::string_view name = undefined.empty() ? quoted_behind(line, kRedefined) : undefined;
    const auto given = std::ranges::find(macros, name, &GivenMacro::first);
    if (name.empty() || given == macros.end()) continue;
    return fmt::format(
        "{}: #{} {}: the configuration sets this macro to {}, and this line changes it, so the "
        "kernel would not match its "
        "configuration; allowed: a default inside #ifndef {}, or inside an "
        "#if that a -D option of \"compiler_options\" turns off",
        place_of(line, source_name), undefined.empty() ? "define" : "undef", name, given->second,
        name);
  }
  return std::nullopt;
}

}  // namespace evo
