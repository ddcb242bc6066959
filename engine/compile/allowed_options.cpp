// The table of allowed compiler options.

#include "engine/compile/allowed_options.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace evo {

namespace {

constexpr int kMostRegisters = 255;

}  // namespace

const std::vector<KnownOption>& compiler_options() {
  static const std::vector<KnownOption> known = {
      {"-D", {"-D", "--define-macro"}, OptionKind::kDefine},
      {"-I", {"-I", "--include-path"}, OptionKind::kInclude},
      {"--std",
       {"--std", "-std"},
       OptionKind::kChoice,
       0,
       0,
       {"c++03", "c++11", "c++14", "c++17", "c++20"}},
      {"--maxrregcount",
       {"--maxrregcount", "-maxrregcount"},
       OptionKind::kNumber,
       1,
       kMostRegisters},
      {"--use_fast_math", {"--use_fast_math", "-use_fast_math"}},
      {"--ftz", {"--ftz", "-ftz"}, OptionKind::kBoolean},
      {"--prec-sqrt", {"--prec-sqrt", "-prec-sqrt"}, OptionKind::kBoolean},
      {"--prec-div", {"--prec-div", "-prec-div"}, OptionKind::kBoolean},
      {"--fmad", {"--fmad", "-fmad"}, OptionKind::kBoolean},
      {"--extra-device-vectorization",
       {"--extra-device-vectorization", "-extra-device-vectorization"}},
      {"--restrict", {"--restrict", "-restrict"}},
      {"--device-as-default-execution-space",
       {"--device-as-default-execution-space", "-default-device"}},
      {"--device-int128", {"--device-int128", "-device-int128"}},
      {"--generate-line-info", {"--generate-line-info", "-lineinfo"}},
      {"--ptxas-options", {"--ptxas-options", "-Xptxas"}, OptionKind::kAssembler},
  };
  return known;
}

const std::vector<KnownOption>& assembler_options() {
  static const std::vector<KnownOption> known = {
      {"--opt-level", {"--opt-level", "-O"}, OptionKind::kNumber, 0, 3},
      {"--maxrregcount",
       {"--maxrregcount", "-maxrregcount"},
       OptionKind::kNumber,
       1,
       kMostRegisters},
      {"--register-usage-level",
       {"--register-usage-level", "-register-usage-level"},
       OptionKind::kNumber,
       0,
       10},
      {"--allow-expensive-optimizations",
       {"--allow-expensive-optimizations", "-allow-expensive-optimizations"},
       OptionKind::kBoolean},
      {"--fmad", {"--fmad", "-fmad"}, OptionKind::kBoolean},
      {"--def-load-cache",
       {"--def-load-cache", "-dlcm"},
       OptionKind::kChoice,
       0,
       0,
       {"ca", "cg", "cs", "lu", "cv"}},
      {"--def-store-cache",
       {"--def-store-cache", "-dscm"},
       OptionKind::kChoice,
       0,
       0,
       {"wb", "cg", "cs", "wt"}},
  };
  return known;
}

std::string text_of(const KnownOption& known) {
  const std::string name(known.canonical);
  switch (known.kind) {
    case OptionKind::kFlag:
      return name;
    case OptionKind::kBoolean:
      return name + "=true|false";
    case OptionKind::kNumber:
      return name + "=" + std::to_string(known.low) + "…" + std::to_string(known.high);
    case OptionKind::kDefine:
      return "-DNAME[=VALUE]";
    case OptionKind::kInclude:
      return "-I DIR";
    case OptionKind::kAssembler:
      return name + "=OPTION";
    case OptionKind::kChoice:
      break;
  }
  std::string text = name + "=";
  for (const std::string_view choice : known.choices) {
    if (text.back() != '=') text += '|';
    text += choice;
  }
  return text;
}

std::string allowed_text(const std::vector<KnownOption>& table) {
  std::string text;
  for (const KnownOption& known : table) text += (text.empty() ? "" : ", ") + text_of(known);
  return text;
}

std::string_view why_refused(std::string_view name) {
  struct Class {
    std::string_view why;
    std::initializer_list<std::string_view> names;
  };
  static const std::array<Class, 4> classes = {{
      {"evo-tune chooses the architecture: the device's, or the space's \"arch\" without a device",
       {"-arch", "--gpu-architecture", "--gpu-code", "-code", "--generate-code", "-gencode"}},
      {"this option writes files",
       {"--time", "-time", "--fdevice-time-trace", "-fdevice-time-trace", "--create-pch",
        "-create-pch", "--use-pch", "-use-pch", "--pch", "-pch", "--pch-dir", "-pch-dir", "-o",
        "--output-file"}},
      {"this option reads files that the source does not name",
       {"--pre-include", "-include", "--options-file", "-optf"}},
      {"evo-tune only compiles whole, optimised kernels in the full language",
       {"--relocatable-device-code", "-rdc", "--device-c", "-dc", "--device-w", "-dw", "--dlto",
        "-dlto", "--gen-opt-lto", "-gen-opt-lto", "--device-debug", "-G", "--minimal", "-minimal",
        "--device-syntax-only"}},
  }};
  if (name.starts_with('@')) return classes[2].why;
  for (const Class& group : classes) {
    if (std::find(group.names.begin(), group.names.end(), name) != group.names.end()) {
      return group.why;
    }
  }
  return {};
}

}  // namespace evo
