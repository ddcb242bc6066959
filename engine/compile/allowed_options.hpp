#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace evo {

enum class OptionKind { kFlag, kBoolean, kNumber, kChoice, kDefine, kInclude, kAssembler };

/// An allowed option: its normalised spelling and the spellings that the compiler accepts.
struct KnownOption {
  std::string_view canonical;
  std::vector<std::string_view> spellings;
  OptionKind kind = OptionKind::kFlag;
  int low = 0;  ///< range of a numeric value
  int high = 0;
  std::vector<std::string_view> choices = {};
};

/// The allowed options of NVRTC 12.4 to 13, which affect only how the source is compiled.
[[nodiscard]] const std::vector<KnownOption>& compiler_options();
/// The allowed options of ptxas, which --ptxas-options passes on.
[[nodiscard]] const std::vector<KnownOption>& assembler_options();

/// Texts for messages. text_of(): an option with its values, such as "--fmad=true|false";
/// allowed_text(): the texts of all options of a table, separated by commas.
[[nodiscard]] std::string text_of(const KnownOption& known);
[[nodiscard]] std::string allowed_text(const std::vector<KnownOption>& table);

/// Says why evo-tune does not allow the compiler option `name`; empty if `name` is an allowed or an
/// unknown option.
[[nodiscard]] std::string_view why_refused(std::string_view name);

}  // namespace evo
