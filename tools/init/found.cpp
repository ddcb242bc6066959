#include "tools/init/found.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <sstream>

#include "engine/core/placeholder.hpp"
#include "engine/intake/probe_device.hpp"
#include "tools/cli/table.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;
using Kind = DraftArgument::Kind;

const char* to_text(Kind kind) {
  constexpr std::array kNames = {"in",       "out",     "inout",      "scalar",
                                 "constant", "texture", "tensor_map", "workspace"};
  static_assert(kNames.size() == static_cast<std::size_t>(Kind::kWorkspace) + 1);
  return kNames[static_cast<std::size_t>(kind)];
}

void print_arguments(const Draft& draft) {
  Table table{{{"name", "parameter", 0, true},
               {"type", "type", 0, true},
               {"bytes", "bytes", 0, false},
               {"use", "in the code", 0, true},
               {"direction", "direction", 0, true},
               {"dtype", "dtype", 0, true},
               {"given_as", "in the T1 file", 0, true}}};
  for (const DraftArgument& argument : draft.arguments) {
    const auto text = [](const std::string& value) {
      return value.empty() || is_todo(value) ? nlohmann::ordered_json()
                                             : nlohmann::ordered_json(value);
    };
    table.rows.push_back({argument.name, text(argument.type), argument.bytes, argument.use,
                          to_text(argument.kind), text(argument.dtype), text(argument.given_as)});
  }
  print_text(std::cout, table);
}

void print_macros(const Intake& intake) {
  std::string parameters;
  for (const DraftParameter& parameter : intake.draft.parameters) {
    parameters += " " + parameter.macro;
    if (parameter.values.empty()) continue;
    parameters +=
        "=" + parameter.default_value.dump() + " of " + std::to_string(parameter.values.size());
  }
  std::cout << "macros of the space:" << (parameters.empty() ? " none" : parameters) << '\n';
  for (const auto& [name, macro] : intake.macros.open) {
    const auto& options = intake.draft.compiler_options;
    if (std::ranges::find(options, "-D" + name + "=1") != options.end()) continue;
    std::cout << "  " << name << " (" << macro.file << ':' << macro.line << "): "
              << (macro.default_value.empty() ? "tested by #ifdef, but not defined"
                                              : "is " + macro.default_value + " by default")
              << "; --param " << name << "=… makes it a macro of the space\n";
  }
}

/// The TODO marks in a line of a draft, each with the text up to the next quotation mark, joined by
/// "; "; empty if there are none.
std::string placeholders_of(const std::string& line) {
  std::string found;
  for (std::size_t at = line.find(kPlaceholder); at != std::string::npos;
       at = line.find(kPlaceholder, at)) {
    found += found.empty() ? "" : "; ";
    for (; at < line.size() && line[at] != '"'; ++at) {
      if (line[at] == '\\') ++at;
      if (at < line.size()) found += line[at];
    }
  }
  return found;
}

/// Prints the lines of a draft that the user must complete, and returns their number.
int print_placeholders(const DraftFile& file, const fs::path& folder) {
  std::istringstream lines(file.text);
  int count = 0;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string found = placeholders_of(line);
    if (found.empty()) continue;
    ++count;
    std::cout << "  " << (folder / file.name).lexically_normal().string() << ':' << number << ": "
              << found << '\n';
  }
  return count;
}

void print_next(const Intake& intake, const fs::path& folder) {
  std::cout << "to be written by hand:\n";
  int count = 0;
  for (const DraftFile& file : intake.files) count += print_placeholders(file, folder);
  if (std::ranges::count(intake.draft.arguments, Kind::kOut, &DraftArgument::kind) > 0) {
    std::cout << "  if the kernel leaves some elements of an \"out\" argument unchanged, "
                 "such as a border, write \"inout\" and a generator; "
                 "for scratch memory, write \"compare\": false\n";
  }
  if (std::ranges::any_of(intake.draft.arguments, [](const DraftArgument& argument) {
        return argument.kind == Kind::kInOut && argument.generator.is_string();
      })) {
    std::cout << "  counters and flags that the kernel leaves ready for the next launch are a "
                 "workspace: --workspace NAME\n";
  }
  const bool has_program = intake.draft.reference.kind == DraftReference::Kind::kProgram;
  const std::string programs = has_program ? " --allow-programs" : "";
  const std::string space = "search_spaces/" + intake.draft.name + ".json";
  std::cout << "  " << count << " lines\nnext, from " << folder.string()
            << ":\n  evo-judge --space " << space << " --device "
            << virtual_device_for(intake.draft.arch) << programs << "\n  evo-tune --space " << space
            << programs << '\n';
  if (has_program) {
    std::cout << "--allow-programs lets evo-judge and evo-tune run reference.py; "
                 "without this option, evo-tune starts no program of a problem\n";
  }
}

}  // namespace

void print_found(const Intake& intake, const fs::path& folder) {
  const Draft& draft = intake.draft;
  std::cout << draft.kernel_file << ": kernel " << draft.entry << ", symbol " << draft.symbol
            << '\n';
  print_arguments(draft);
  print_macros(intake);
  for (const auto& [from, to] : intake.copies) std::cout << "copied: " << to << '\n';
  for (const std::string& name : intake.outside)
    std::cout << "not copied, the compiler must find it: " << name << '\n';
  std::cout << "CTAs are "
            << (draft.has_independent_ctas ? "independent" : "not independent: " + draft.dependence)
            << '\n';
  for (const std::string& note : draft.notes) std::cout << "note: " << note << '\n';
  for (const std::string& text : draft.assumed) std::cerr << "evo-init: assumed: " << text << '\n';
  for (const std::string& text : draft.left_out)
    std::cerr << "evo-init: left out: " << text << '\n';
  print_next(intake, folder);
}

}  // namespace evo
