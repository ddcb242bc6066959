// evo-init: writes the files that evo-tune needs for a CUDA file that there is already.

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "engine/compile/nvrtc.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/core/unfinished.hpp"
#include "engine/intake/intake.hpp"
#include "engine/worker/limits.hpp"
#include "tools/cli/help_format.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/output_files.hpp"
#include "tools/cli/table.hpp"
#include "tools/cli/tool_main.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;
using Kind = DraftArgument::Kind;

struct Options {
  IntakeRequest request;
  std::vector<std::string> parameters;
  std::vector<std::string> entries;
  std::vector<std::string> grids;
  std::vector<std::string> blocks;
  std::vector<std::string> shared;
  std::vector<std::string> renamed;
  std::vector<std::string> sizes;
  std::vector<std::string> values;
  std::vector<std::string> extents;
  std::vector<std::string> inputs;
  std::string out = ".";
  bool force = false;
  unsigned compile_seconds = 300;
};

void declare_given(CLI::App& app, Options& options) {
  Given& given = options.request.given;
  const auto repeated = [&](const char* name, auto& target, const char* type, const char* text) {
    app.add_option(name, target, std::string(text) + "; repeat")
        ->type_name(type)
        ->allow_extra_args(false);
  };
  repeated("--size", options.sizes, "NAME=N[,N...]",
           "a size of the problem for each shape; a scalar parameter of this name is it");
  repeated("--value", options.values, "NAME=EXPR",
           "value of a scalar parameter, of sizes and macros");
  repeated("--extent", options.extents, "NAME=EXPR", "elements of a buffer, of sizes");
  repeated("--input", options.inputs, "NAME=CONTENT",
           "normal:0:1, uniform:0:1, integers:0:9, constant:1 or a formula of INDEX");
  repeated("--scratch", given.scratch, "NAME", "output whose content is nobody's result");
  repeated("--inout", given.inouts, "NAME",
           "output of which the kernel leaves elements as they are, such as a border");
  repeated("--grid", options.grids, "X[,Y[,Z]]",
           "CTAs, as expressions of sizes and macros, for each --entry");
  repeated("--block", options.blocks, "X[,Y[,Z]]", "threads of a CTA, likewise");
  repeated("--shared", options.shared, "EXPR", "bytes of dynamic shared memory, likewise");
  repeated("--rename", options.renamed, "KERNEL.PARAMETER=NAME",
           "name of an argument, where kernels of several --entry share one");
  app.add_option("--flops", given.flops, "operations of one launch")->type_name("EXPR");
  app.add_option("--tolerance", given.tolerance, "largest error of an element of an output")
      ->type_name("NUMBER");
  app.add_option("--reference", given.reference,
                 "what is expected: 'default', the default configuration, or another kernel of the "
                 "file with the same parameters (default: reference.py, to be written)")
      ->type_name("NAME");
  app.add_option("--reference-grid", given.reference_grid, "CTAs of that kernel")
      ->type_name("X[,Y[,Z]]");
  app.add_option("--reference-block", given.reference_block, "threads of a CTA of that kernel")
      ->type_name("X[,Y[,Z]]");
}

void declare(CLI::App& app, Options& options) {
  IntakeRequest& request = options.request;
  app.add_option("kernel", request.kernel, "CUDA file")->type_name(value_words::kFile)->required();
  app.add_option(
         "--entry", options.entries,
         "kernel as C++ names it: 'reduce<float, ITEMS>' (default: the only one); repeat for "
         "kernels that run one after the other")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--t1", request.t1, "T1 file of Kernel Tuner, KTT or BAT")
      ->type_name(value_words::kFile);
  app.add_option("--param", options.parameters,
                 "macro and its values, the default first; or NAME='[2**i for i in range(5)]'; "
                 "repeat")
      ->type_name("NAME=V,V...")
      ->allow_extra_args(false);
  app.add_option("--constraint", request.constraints, "expression that must hold; repeat")
      ->type_name("EXPR")
      ->allow_extra_args(false);
  declare_given(app, options);
  app.add_option("--name", request.name, "name of problem and space (default: the file's)")
      ->type_name("NAME");
  app.add_option("--arch", request.arch, "architecture")->type_name("ARCH")->capture_default_str();
  app.add_option("--out", options.out, "folder of kernel_templates/ and search_spaces/")
      ->type_name(value_words::kFolder)
      ->capture_default_str();
  app.add_flag("--force", options.force, "replace files that are there");
  app.add_option("--compile-seconds", options.compile_seconds,
                 "the longest that compiling, and running with small sizes, takes")
      ->type_name("SECONDS")
      ->transform(whole_number(1, 86400))
      ->capture_default_str();
  app.set_version_flag("--version", "evo-init " EVO_VERSION);
  app.footer(exit_codes({{0, "written"}, {2, "bad usage or input"}, {3, "no NVRTC"}}));
}

/// "NAME=text", of which `form` says what the text is.
NamedTexts split(const std::string& option, const std::vector<std::string>& texts,
                 const std::string& form) {
  NamedTexts named;
  for (const std::string& text : texts) {
    const std::size_t sign = text.find('=');
    if (sign == std::string::npos || sign == 0) {
      throw InputError(option + " " + text + ": allowed is NAME=" + form);
    }
    named.emplace_back(text.substr(0, sign), text.substr(sign + 1));
  }
  return named;
}

void split_named(Options& options) {
  Given& given = options.request.given;
  options.request.parameters = split("--param", options.parameters, "VALUE,VALUE…");
  if (!options.entries.empty()) {
    options.request.entry = options.entries.front();
    options.request.later_entries.assign(options.entries.begin() + 1, options.entries.end());
  }
  given.renamed = split("--rename", options.renamed, "NAME of an argument");
  const std::size_t kernels = std::max<std::size_t>(1, options.entries.size());
  const auto launch = [&](const char* option, const std::vector<std::string>& texts,
                          std::string GivenLaunch::*member) {
    if (texts.size() > kernels) {
      throw InputError(std::string(option) + " " + texts.back() +
                       ": allowed is one for each --entry");
    }
    given.launches.resize(std::max(given.launches.size(), texts.size()));
    for (std::size_t i = 0; i < texts.size(); ++i) given.launches[i].*member = texts[i];
  };
  launch("--grid", options.grids, &GivenLaunch::grid);
  launch("--block", options.blocks, &GivenLaunch::block);
  launch("--shared", options.shared, &GivenLaunch::shared_bytes);
  given.sizes = split("--size", options.sizes, "VALUE, or VALUE,VALUE… for more shapes");
  given.values = split("--value", options.values, "EXPRESSION");
  given.extents = split("--extent", options.extents, "EXPRESSION");
  given.inputs = split("--input", options.inputs, "DISTRIBUTION or a formula");
}

/// All files by name; the kernel and its headers byte for byte.
std::vector<DraftFile> all_files(const Intake& intake) {
  std::vector<DraftFile> files = intake.files;
  for (const auto& [from, to] : intake.copies) {
    files.push_back({"kernel_templates/" + intake.draft.name + "/" + to, read_text_file(from)});
  }
  return files;
}

void write(const std::vector<DraftFile>& files, const Options& options) {
  std::vector<OutputFile> outputs;
  for (const DraftFile& file : files)
    outputs.push_back({fs::path(options.out) / file.name, file.text});
  write_outputs(outputs, {.writer = "evo-init",
                          .force = options.force,
                          .remedy = "--force replaces it",
                          .makes_folders = true});
}

/// What is said when compiling takes too long; a handler of signals can only write it.
std::string too_long;

extern "C" void end_what_takes_too_long(int /*signal*/) {
  const ssize_t ignored = ::write(STDERR_FILENO, too_long.data(), too_long.size());
  (void)ignored;
  _exit(static_cast<int>(ExitCode::kBadInput));
}

/// What the code says, within the time and the memory that a compiler may take: it runs in this
/// process, and nothing is written before it has ended.
Intake looked_at(const Options& options) {
  apply_limits({.address_space_bytes = compiler_memory_bytes(1)});
  too_long = "evo-init: " + options.request.kernel.string() + ": does not compile within " +
             std::to_string(options.compile_seconds) +
             " s, or run with small sizes; --compile-seconds allows more\n";
  signal(SIGALRM, end_what_takes_too_long);
  alarm(options.compile_seconds);
  const std::unique_ptr<Compiler> compiler = open_nvrtc();
  Intake intake = take_in(options.request, *compiler);
  alarm(0);
  return intake;
}

const char* to_text(Kind kind) {
  constexpr std::array<const char*, 7> kNames = {"in",       "out",     "inout",    "scalar",
                                                 "constant", "texture", "workspace"};
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
    const bool is_taken =
        std::any_of(intake.draft.parameters.begin(), intake.draft.parameters.end(),
                    [&, &macro_name = name](const auto& p) { return p.macro == macro_name; });
    const auto& options = intake.draft.compiler_options;
    if (is_taken || std::ranges::find(options, "-D" + name + "=1") != options.end()) continue;
    std::cout << "  " << name << " (" << macro.file << ':' << macro.line << "): "
              << (macro.default_value.empty() ? "asked for by #ifdef, not given"
                                              : "is " + macro.default_value + " by default")
              << "; --param " << name << "=… makes it a macro of the space\n";
  }
}

/// What a line says is to be written; empty: nothing.
std::string unfinished_of(const std::string& line) {
  std::string found;
  for (std::size_t at = line.find(kUnfinished); at != std::string::npos;
       at = line.find(kUnfinished, at)) {
    found += found.empty() ? "" : "; ";
    for (; at < line.size() && line[at] != '"'; ++at) {
      if (line[at] == '\\') ++at;
      if (at < line.size()) found += line[at];
    }
  }
  return found;
}

/// Prints the lines of a text that are to be written; how many.
int print_unfinished(const DraftFile& file, const fs::path& folder) {
  std::istringstream lines(file.text);
  int count = 0;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string found = unfinished_of(line);
    if (found.empty()) continue;
    ++count;
    std::cout << "  " << (folder / file.name).lexically_normal().string() << ':' << number << ": "
              << found << '\n';
  }
  return count;
}

void print_next(const Intake& intake, const Options& options) {
  std::cout << "to be written by hand:\n";
  int count = 0;
  for (const DraftFile& file : intake.files) count += print_unfinished(file, options.out);
  const bool has_out = std::any_of(intake.draft.arguments.begin(), intake.draft.arguments.end(),
                                   [](const auto& a) { return a.kind == Kind::kOut; });
  if (has_out) {
    std::cout
        << "  where the kernel leaves elements of an \"out\" as they are, such as a border, write "
           "\"inout\" and a generator; where it is scratch memory, \"compare\": false\n";
  }
  const bool has_program = intake.draft.reference.kind == DraftReference::Kind::kProgram;
  const std::string programs = has_program ? " --allow-programs" : "";
  const std::string space = "search_spaces/" + intake.draft.name + ".json";
  std::cout << "  " << count << " lines\nnext, from " << options.out << ":\n  evo-judge --space "
            << space << " --device virtual:l4" << programs << "\n  evo-tune --space " << space
            << programs << '\n';
  if (has_program) {
    std::cout << "--allow-programs lets them run reference.py; without it no program of a problem "
                 "is started\n";
  }
}

ExitCode run(int argc, char** argv) {
  Options options;
  CLI::App app(
      "evo-init: writes problem.json, reference.py and a search space for a CUDA file.\n"
      "They are filled in with what the code says, and \"TODO\" stands where somebody has to say "
      "it. Prints what was found and what is left to write.");
  declare(app, options);
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  split_named(options);
  const Intake intake = looked_at(options);
  write(all_files(intake), options);
  const Draft& draft = intake.draft;
  std::cout << draft.kernel_file << ": kernel " << draft.entry << ", symbol " << draft.symbol
            << '\n';
  print_arguments(draft);
  print_macros(intake);
  for (const auto& [from, to] : intake.copies) {
    std::cout << "copied: " << to << '\n';
  }
  for (const std::string& name : intake.outside) {
    std::cout << "include left to the compiler: " << name << '\n';
  }
  std::cout << "CTAs are "
            << (draft.has_independent_ctas ? "independent" : "not independent: " + draft.dependence)
            << '\n';
  for (const std::string& note : draft.notes) std::cout << "note: " << note << '\n';
  for (const std::string& text : draft.assumed) std::cerr << "evo-init: assumed: " << text << '\n';
  for (const std::string& text : draft.left_out)
    std::cerr << "evo-init: left out: " << text << '\n';
  print_next(intake, options);
  return ExitCode::kGreen;
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("evo-init", [&] { return evo::run(argc, argv); });
}
