#include "tools/init/init.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "engine/compile/nvrtc.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/worker/limits.hpp"
#include "tools/cli/argument_text.hpp"
#include "tools/cli/output_files.hpp"
#include "tools/init/found.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;

/// Splits the values "NAME=text" of an option. `form`: the allowed form of the text, for messages.
NamedTexts split(const std::string& option, const std::vector<std::string>& texts,
                 const std::string& form) {
  NamedTexts named;
  for (const std::string& text : texts) {
    const auto both = named_in(text);
    if (!both) throw InputError(option + " " + text + ": allowed: NAME=" + form);
    named.push_back(*both);
  }
  return named;
}

void split_named(InitOptions& options) {
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
                       ": allowed: one for each --entry");
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

/// All files that evo-init writes. The kernel and its headers are copied byte for byte.
std::vector<DraftFile> all_files(const Intake& intake) {
  std::vector<DraftFile> files = intake.files;
  for (const auto& [from, to] : intake.copies) {
    files.push_back({"kernel_templates/" + intake.draft.name + "/" + to, read_text_file(from)});
  }
  return files;
}

void write(const std::vector<DraftFile>& files, const InitOptions& options) {
  std::vector<OutputFile> outputs;
  for (const DraftFile& file : files)
    outputs.push_back({fs::path(options.out) / file.name, file.text});
  write_outputs(outputs, {.writer = "evo-init",
                          .force = options.force,
                          .remedy = "--force replaces it, --out writes to another folder",
                          .makes_folders = true});
}

/// The message for a compilation that takes too long, formatted in advance because the signal
/// handler cannot format text.
std::string too_long;

extern "C" void end_what_takes_too_long(int /*signal*/) {
  const ssize_t ignored = ::write(STDERR_FILENO, too_long.data(), too_long.size());
  (void)ignored;
  _exit(static_cast<int>(ExitCode::kBadInput));
}

/// Analyses the code. Sets the time and memory limits of a compiler, because NVRTC runs in this
/// process. No file is written before the analysis has ended.
Intake looked_at(const InitOptions& options) {
  apply_limits({.address_space_bytes = compiler_memory_bytes(1)});
  too_long = "evo-init: " + options.request.kernel.string() +
             ": compiling and measuring extents takes longer than " +
             std::to_string(options.compile_seconds) + " s; --compile-seconds sets another limit\n";
  signal(SIGALRM, end_what_takes_too_long);
  alarm(options.compile_seconds);
  const std::unique_ptr<Compiler> compiler = open_nvrtc();
  Intake intake = take_in(options.request, *compiler);
  alarm(0);
  return intake;
}

}  // namespace

ExitCode init(InitOptions options) {
  split_named(options);
  const Intake intake = looked_at(options);
  write(all_files(intake), options);
  print_found(intake, options.out);
  return ExitCode::kGreen;
}

}  // namespace evo
