#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace evo {

enum class OptionKind { kFlag, kBoolean, kNumber, kChoice, kDefine, kInclude, kAssembler };

/// An option that is allowed: the spelling it is normalised to, and all that the compiler takes.
struct KnownOption {
  std::string_view canonical;
  std::vector<std::string_view> spellings;
  OptionKind kind = OptionKind::kFlag;
  int low = 0;  ///< of a number
  int high = 0;
  std::vector<std::string_view> choices = {};
};

/// Of NVRTC 12.4 to 13: what decides which code is generated from the source, and nothing else.
[[nodiscard]] const std::vector<KnownOption>& compiler_options();
/// Of ptxas, by way of --ptxas-options.
[[nodiscard]] const std::vector<KnownOption>& assembler_options();

/// One option with its values, and all of a table, for messages: "--fmad=true|false, …".
[[nodiscard]] std::string text_of(const KnownOption& known);
[[nodiscard]] std::string allowed_text(const std::vector<KnownOption>& table);

/// Why an option that is known but not allowed is refused; empty for others.
[[nodiscard]] std::string_view why_refused(std::string_view name);

}  // namespace evo
