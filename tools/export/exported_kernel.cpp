#include "tools/export/exported_kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/compile/compiler_options.hpp"
#include "engine/compile/entry_symbol.hpp"
#include "engine/core/error.hpp"
#include "engine/core/hash.hpp"
#include "engine/ptx/launch_attributes.hpp"
#include "engine/ptx/variables.hpp"
#include "tools/answers/checks_json.hpp"

namespace evo {
namespace {

using Json = nlohmann::ordered_json;

// The entries of a manifest without which a kernel cannot be launched.
constexpr std::array<const char*, 2> kRequired = {"shape", "arguments"};
// Further entries that a manifest without "steps" needs to launch its kernel.
constexpr std::array<const char*, 2> kRequiredOfOne = {"entry", "launch"};

[[noreturn]] void fail(CandidateId candidate, const std::string& problem) {
  throw DbError("candidate " + std::to_string(candidate) + " " + problem);
}

/// The candidate's manifest. Throws DbError if an entry is missing that a launch needs.
Json launch_manifest(const EvaluationRecord& evaluation) {
  if (evaluation.manifest_json.empty()) {
    fail(evaluation.id, "was recorded without a manifest, which describes its launch");
  }
  Json manifest = Json::parse(evaluation.manifest_json);
  const auto require = [&](const char* key) {
    if (manifest.contains(key)) return;
    fail(evaluation.id, fmt::format("has a manifest without '{}'", key));
  };
  if (!manifest.contains("steps")) std::ranges::for_each(kRequiredOfOne, require);
  std::ranges::for_each(kRequired, require);
  return manifest;
}

/// The distinct entries' C++ names, in the order of KernelSpec::entries().
std::vector<std::string> entries_of(const Json& manifest) {
  if (!manifest.contains("steps")) return {manifest.at("entry").get<std::string>()};
  std::vector<std::string> entries;
  for (const Json& step : manifest.at("steps")) {
    const auto entry = step.at("entry").get<std::string>();
    if (std::ranges::find(entries, entry) == entries.end()) entries.push_back(entry);
  }
  return entries;
}

/// The names of the launch attributes without which the kernel would fail or run slower.
Json attributes_json(const std::string& ptx, const std::string& symbol) {
  const LaunchAttributes needed = launch_attributes(ptx, symbol);
  Json names = Json::array();
  if (needed.cooperative) names.push_back("cooperative");
  if (needed.programmatic) names.push_back("programmatic_stream_serialization");
  return names;
}

/// Sets "entry" to the kernel's symbol, "entry_in_source" to the C++ name if it differs from the
/// symbol, and "attributes" of "launch" to the launch attributes that the kernel needs.
void put_symbol(Json& kernel, const std::string& ptx, const std::vector<std::string>& entries,
                const std::vector<CompiledEntry>& compiled) {
  const auto entry = kernel.at("entry").get<std::string>();
  const auto position =
      static_cast<std::size_t>(std::ranges::find(entries, entry) - entries.begin());
  kernel["entry"] = compiled.at(position).symbol;
  if (kernel["entry"] != entry) kernel["entry_in_source"] = entry;
  Json attributes = attributes_json(ptx, compiled.at(position).symbol);
  if (!attributes.empty()) kernel["launch"]["attributes"] = std::move(attributes);
}

Json resources_json(const CompilationRecord& compilation, int dynamic_shared_bytes) {
  const Resources& resources = compilation.resources;
  return {
      {"registers_per_thread", resources.registers},
      {"static_shared_bytes", resources.static_shared_bytes},
      {"dynamic_shared_bytes", dynamic_shared_bytes},
      {"spill_store_bytes", resources.spill_store_bytes},
      {"spill_load_bytes", resources.spill_load_bytes},
      {"stack_bytes", resources.stack_bytes},
      {"max_threads_per_cta", resources.max_threads > 0 ? Json(resources.max_threads) : Json()}};
}

std::string nvcc_command(const CompilationRecord& compilation, const std::string& name) {
  const std::string options = nvcc_options(compilation.options);
  return "nvcc -cubin -arch=" + compilation.arch + (options.empty() ? "" : " " + options) + " -o " +
         name + ".cubin " + name + ".cu";
}

/// A line of comment for each kernel that needs launch attributes.
std::string attribute_lines(const CompilationRecord& compilation,
                            const std::vector<std::string>& entries) {
  std::string lines;
  for (const auto& its : compiled_entries(compilation.ptx, entries, compilation.resources)) {
    const Json attributes = attributes_json(compilation.ptx, its.symbol);
    if (attributes.empty()) continue;
    lines += fmt::format("// Launch attributes of {}: {}\n", its.symbol,
                         fmt::join(attributes.get<std::vector<std::string>>(), ", "));
  }
  return lines;
}

std::string expanded_source(const StoredRun& run, const CompilationRecord& compilation,
                            const EvaluationRecord& evaluation, const std::string& name) {
  const CandidateId candidate = evaluation.id;
  const std::vector<std::string> entries = entries_of(launch_manifest(evaluation));
  std::string instantiations;
  for (const std::string& entry : entries) instantiations += instantiation_of(entry);
  std::ostringstream text;
  text << kExportedSource << " " << run.info.evo_version << ": run " << run.id << ", candidate "
       << candidate << ", space " << run.info.space.name << ".\n// Compiled by "
       << compilation.compiler << " with: " << compilation.options
       << "\n// To compile it again: " << nvcc_command(compilation, name) << "\n"
       << attribute_lines(compilation, entries) << "\n"
       << macro_definitions(compilation.options) << '\n'
       << compilation.source << instantiations;
  return text.str();
}

Json manifest_json(const StoredRun& run, const EvaluationRecord& evaluation,
                   const CompilationRecord& compilation, const std::string& name) {
  Json manifest = {{"format", kManifestFormat},        {"name", name},
                   {"cubin", name + ".cubin"},         {"ptx", name + ".ptx"},
                   {"source", name + ".cu"},           {"arch", compilation.arch},
                   {"problem", run.info.problem.name}, {"space", run.info.space.name}};
  // Adds the description of the launch: entry or steps, shape, arguments, launch, macros,
  // tolerance, and more.
  manifest.update(launch_manifest(evaluation));
  const std::vector<std::string> entries = entries_of(manifest);
  const auto compiled = compiled_entries(compilation.ptx, entries, compilation.resources);
  if (manifest.contains("steps")) {
    for (Json& step : manifest["steps"]) put_symbol(step, compilation.ptx, entries, compiled);
  } else {
    put_symbol(manifest, compilation.ptx, entries, compiled);
  }
  for (Json& argument : manifest["arguments"]) {
    if (!argument.contains("symbol")) continue;
    const auto symbol = constant_symbol(compilation.ptx, argument["symbol"].get<std::string>());
    argument["symbol_in_module"] = symbol ? Json(*symbol) : Json(nullptr);
  }
  manifest["config"] = Json::parse(evaluation.config_json);
  manifest["resources"] = resources_json(compilation, evaluation.dynamic_shared_bytes);
  manifest["timing"] = timing_json(run, *evaluation.timing, evaluation.created_at);
  manifest["checks"] = checks_json(evaluation);
  manifest["build"] = {{"compiler", compilation.compiler},
                       {"options", compilation.options},
                       {"key", compilation.key},
                       {"ptx_hash", compilation.ptx_hash},
                       {"cubin_bytes", compilation.cubin.size()},
                       {"cubin_key", content_key(compilation.cubin)},
                       {"nvcc", nvcc_command(compilation, name)}};
  manifest["evo_tune"] = {
      {"version", run.info.evo_version},     {"run", run.id},
      {"candidate", evaluation.id},          {"seed", run.info.seed},
      {"strategy", run.info.strategy},       {"options", Json::parse(run.info.options_json)},
      {"problem_key", run.info.problem.key}, {"space_key", run.info.space.key}};
  return manifest;
}

}  // namespace

Json timing_json(const StoredRun& run, const Timing& timing, const std::string& date) {
  const double flops = run.info.flops_per_launch;
  return {{"kind", to_string(timing.kind)},
          {"device", run.info.device.name},
          {"driver", run.info.device.driver},
          {"shape", run.info.shape},
          {"date", date},
          {"p50_us", timing.p50_us},
          {"p90_us", timing.p90_us},
          {"p99_us", timing.p99_us},
          {"mean_us", timing.mean_us},
          {"std_us", timing.std_us},
          {"cv", timing.cv},
          {"samples", timing.samples},
          {"tflops", flops > 0 ? Json(flops / (timing.p50_us * 1e6)) : Json()}};
}

std::string file_name(const std::string& text) {
  constexpr std::size_t kLongest = 200;  // file systems allow 255 bytes, including the ending
  std::string name = text.substr(0, kLongest);
  for (char& c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
    if (!plain && c != '.') c = '_';
  }
  // A file name that begins with '.' would be hidden or name a folder; a file name that begins with
  // '-' would look like an option.
  if (name.empty()) name = "_";
  if (name[0] == '.' || name[0] == '-') name[0] = '_';
  return name;
}

std::string macro_definitions(const std::string& compile_options) {
  std::string text;
  for (const std::string& option : split_options(compile_options)) {
    if (!option.starts_with("-D")) continue;
    const std::size_t equals = option.find('=');
    const bool valued = equals != std::string::npos;
    text += "#define " + option.substr(2, valued ? equals - 2 : equals) + " " +
            (valued ? option.substr(equals + 1) : "1") + "\n";
  }
  return text;
}

std::string nvcc_options(const std::string& compile_options) {
  // The options that NVRTC and nvcc share, with the same meaning and spellings (CUDA documentation:
  // NVRTC supported compile options, nvcc command options). The list has no -D, because the
  // exported source defines the macros, and no architecture, because nvcc_command() adds it.
  constexpr std::array<std::string_view, 11> kShared = {"--use_fast_math",
                                                        "--ftz",
                                                        "--prec-sqrt",
                                                        "--prec-div",
                                                        "--fmad",
                                                        "--maxrregcount",
                                                        "--extra-device-vectorization",
                                                        "--std",
                                                        "--restrict",
                                                        "--generate-line-info",
                                                        "--ptxas-options"};
  std::vector<std::string> result;
  for (const std::string& option : split_options(compile_options)) {
    const std::string_view key = std::string_view(option).substr(0, option.find('='));
    const bool shared = std::find(kShared.begin(), kShared.end(), key) != kShared.end();
    if (shared || option.starts_with("-I")) result.push_back(option);
  }
  return join_options(result);
}

KernelExport export_kernel(const Store& store, CandidateId candidate, const std::string& name) {
  EvaluationRecord evaluation = store.evaluation(candidate);
  if (evaluation.duplicate_of) {
    evaluation = store.evaluation(*evaluation.duplicate_of);
  }
  if (evaluation.rejection) {
    fail(candidate, "is not green: it failed the " +
                        std::string(to_string(evaluation.rejection->gate)) +
                        " gate: " + evaluation.rejection->reason);
  }
  if (const std::optional<Rejection>& why = evaluation.withdrawal) {
    fail(candidate, "was withdrawn: it was green and then failed the " +
                        std::string(to_string(why->gate)) + " gate: " + why->reason);
  }
  if (!evaluation.compilation) fail(candidate, "was recorded without its compilation");
  const StoredRun run = store.run(evaluation.run);
  const CompilationRecord compilation = store.compilation(*evaluation.compilation);
  if (compilation.cubin.empty()) fail(candidate, "was recorded without machine code");
  KernelExport kernel;
  kernel.name = file_name(name.empty() ? run.info.space.name + "_" + run.info.shape : name);
  kernel.cubin = compilation.cubin;
  kernel.ptx = compilation.ptx;
  kernel.source = expanded_source(run, compilation, evaluation, kernel.name);
  kernel.manifest = manifest_json(run, evaluation, compilation, kernel.name);
  return kernel;
}

}  // namespace evo
