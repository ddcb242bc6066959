// evo-judge: runs one configuration through the gates up to the first rejection, and prints all
// results.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "db/store.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/evaluate/workbench.hpp"
#include "engine/gate/correctness/coverage.hpp"
#include "engine/run/gpu_text.hpp"
#include "engine/run/objective.hpp"
#include "engine/run/profile_gate.hpp"
#include "engine/worker/messages.hpp"
#include "tools/answers/profile_json.hpp"
#include "tools/cli/candidate_options.hpp"
#include "tools/cli/help_format.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/output_files.hpp"
#include "tools/cli/tool_main.hpp"
#include "tools/tune/against_stored.hpp"
#include "tools/tune/session_options.hpp"

namespace evo {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct Options {
  SessionOptions session;
  std::vector<std::string> settings;
  std::string milestone;
  std::string save;
  std::string outputs;
  std::string against;
  std::uint64_t check_seed = 0;
  bool profile = false;
  bool energy = false;
  bool json = false;
  bool log = false;
};

constexpr const char* kDescription =
    "evo-judge: runs one configuration through the gates up to the first rejection.\n"
    "Shows all results. "
    "Macros not named by --set keep their default (or the value of --milestone).";

void declare(CLI::App& app, Options& options) {
  options.session.declare(app);
  app.add_option("--set", options.settings,
                 "values of macros (default: those of --milestone, or the defaults)")
      ->type_name(value_words::kSetting)
      ->expected(1, -1);
  app.add_option("--milestone", options.milestone,
                 "take the values of macros from this milestone of the space")
      ->type_name(value_words::kMilestone);
  app.add_option("--check-seed", options.check_seed, "seed of the inputs (default: a new seed)")
      ->transform(seed_number());
  app.add_option("--save", options.save,
                 "write kernel.ptx, kernel.cubin, kernel.cu and kernel.log to this folder")
      ->type_name(value_words::kFolder);
  app.add_option("--baseline", options.against,
                 "compare the kernel with the winner in this database or bundle, timed in turn; "
                 "without --set and --milestone, the winner's configuration is judged")
      ->type_name(value_words::kFile);
  app.add_flag("--energy", options.energy,
               "launch for one second to measure joules per launch (on a GPU that counts energy)");
  app.add_flag("--profile", options.profile,
               "test the kernel's Nsight Compute counters against \"profile\" of problem.json");
  app.add_option(
         "--outputs", options.outputs,
         "instead of judging the kernel, launch it once on the inputs of the check's first seed, "
         "with outputs zeroed, and write its outputs to FOLDER/NAME.npy")
      ->type_name(value_words::kFolder)
      ->excludes("--save")
      ->excludes("--baseline")
      ->excludes("--energy")
      ->excludes("--profile");
  app.add_flag("--log", options.log, "print the compiler's log");
  app.add_flag("--json", options.json, "one JSON object on standard output");
  app.set_version_flag("--version", "evo-judge " EVO_VERSION);
  app.footer(exit_codes(
      {{0, "kernel green (--device none: within the policy), and not slower than --baseline"},
       {1, "kernel rejected, or significantly slower than --baseline"},
       {2, "bad usage or input"},
       {3, "the compiler, the driver or the GPU is missing or cannot be used"}}));
}

/// Measures the energy per launch of a green kernel, if the device counts energy. A kernel that
/// fails during the measurement is no longer green.
void count_energy(Workbench& bench, Evaluation& evaluation) {
  if (!evaluation.is_green()) return;
  if (!bench.task().device().counts_energy) {
    std::cerr << "evo-judge: --energy: not supported on " << bench.task().device().name
              << ", which does not count energy\n";
    return;
  }
  const KernelUnderTest kernel = kernel_under_test(bench.task(), evaluation);
  auto answer = bench.wait(bench.take_home().energy_of(kernel, kEliteEnergy_s));
  if (const auto* failure = std::get_if<WorkerFailure>(&answer)) {
    evaluation.rejection = Rejection{Gate::kTiming, failure->reason};
    return;
  }
  auto& result = std::get<EnergyResult>(answer);
  evaluation.shapes.front().energy = result.energy;
  evaluation.rejection = std::move(result.rejection);
  if (!result.not_supported.empty()) std::cerr << "evo-judge: " << result.not_supported << '\n';
}

/// Adds the launches to `json`: "launch" for a plain kernel (KernelSpec::is_plain()) or if the
/// resources of the steps are unknown, else "steps", the steps that run on the timed shape.
void add_launch(const Workbench& bench, const Evaluation& evaluation, OrderedJson& json) {
  if (bench.task().kernel().is_plain() || evaluation.entries.empty()) {
    const LaunchConfig& launch = evaluation.shapes.front().launch.steps.front().config;
    json["launch"] = {{"grid", launch.grid}, {"block", launch.block}};
    return;
  }
  const std::vector<std::string> names = bench.task().kernel().entries();
  json["steps"] = OrderedJson::array();
  for (const LaunchStep& step : evaluation.shapes.front().launch.steps) {
    const Resources& resources = evaluation.entries[step.entry].resources;
    json["steps"].push_back({{"entry", names[step.entry]},
                             {"grid", step.config.grid},
                             {"block", step.config.block},
                             {"dynamic_shared_bytes", step.config.dynamic_shared_bytes},
                             {"registers", resources.registers},
                             {"static_shared_bytes", resources.static_shared_bytes}});
  }
}

/// Applies the profile gate. Returns nullopt if --profile is missing, the kernel is not green, or
/// the gate is skipped; says on standard error why the gate is skipped.
std::optional<ProfileRecord> profile(Workbench& bench, const Evaluation& evaluation,
                                     const Options& options) {
  if (!options.profile || !evaluation.is_green()) return std::nullopt;
  Profiled profiled = profile_gate(bench, kernel_under_test(bench.task(), evaluation));
  if (!profiled.record) {
    std::cerr << "evo-judge: the profile gate is skipped: " << profiled.left_out << '\n';
  }
  return std::move(profiled.record);
}

std::string verdict_of(const Evaluation& evaluation, const std::optional<ProfileRecord>& profiled) {
  if (evaluation.rejection || (profiled && !profiled->passed)) return "rejected";
  if (evaluation.was_run && !evaluation.timing()) return "launched, not judged";
  return evaluation.timing() ? "green" : "within policy";
}

OrderedJson result_json(const Workbench& bench, const Candidate& candidate,
                        const Evaluation& evaluation,
                        const std::optional<ProfileRecord>& profiled) {
  const auto plain = [](const auto& value) {
    return OrderedJson::parse(
        nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  };
  const Resources& resources = evaluation.compilation.resources;
  OrderedJson json = {{"space", bench.task().space().definition().name},
                      {"device", bench.task().device().id},
                      {"arch", bench.task().arch()},
                      {"shape", bench.task().shape().name},
                      {"config", OrderedJson::parse(bench.task().space().config_json(candidate))},
                      {"verdict", verdict_of(evaluation, profiled)}};
  if (evaluation.compilation.ok) {
    json["registers"] = resources.registers;
    json["static_shared_bytes"] = resources.static_shared_bytes;
    json["dynamic_shared_bytes"] = evaluation.shapes.front().dynamic_shared_bytes;
    json["spill_store_bytes"] = resources.spill_store_bytes;
    json["spill_load_bytes"] = resources.spill_load_bytes;
    json["stack_bytes"] = resources.stack_bytes;
    json["ptx_hash"] = evaluation.compilation.ptx_hash;
    add_launch(bench, evaluation, json);
  }
  json["checks"] = plain(evaluation.checks);
  json["checked"] = coverage_text(evaluation.checks);
  const ShapeEvaluation& on = evaluation.shapes.front();
  if (evaluation.timing()) json["timing"] = plain(*evaluation.timing());
  if (on.gpu) json["gpu"] = plain(*on.gpu);
  if (on.energy) json["energy"] = plain(*on.energy);
  if (profiled) json["profile"] = profile_json(*profiled);
  if (evaluation.rejection) json["rejection"] = plain(*evaluation.rejection);
  json["compile_ms"] = evaluation.compilation.wall_ms;
  json["check_ms"] = evaluation.check_ms;
  json["time_ms"] = evaluation.shapes.front().time_ms;
  return json;
}

std::string dimensions(const std::array<std::uint32_t, 3>& size) {
  return std::to_string(size[0]) + " × " + std::to_string(size[1]) + " × " +
         std::to_string(size[2]);
}

void print_launch(const Workbench& bench, const Evaluation& evaluation) {
  const bool is_plain = bench.task().kernel().is_plain();
  for (const LaunchStep& step : evaluation.shapes.front().launch.steps) {
    if (is_plain || evaluation.entries.empty()) {
      std::printf("launch       grid %s, block %s on shape %s\n",
                  dimensions(step.config.grid).c_str(), dimensions(step.config.block).c_str(),
                  bench.task().shape().name.c_str());
      continue;
    }
    const Resources& resources = evaluation.entries[step.entry].resources;
    std::printf(
        "step         %s: grid %s, block %s on shape %s; %d registers, %d + %u shared bytes\n",
        bench.task().kernel().entries()[step.entry].c_str(), dimensions(step.config.grid).c_str(),
        dimensions(step.config.block).c_str(), bench.task().shape().name.c_str(),
        resources.registers, resources.static_shared_bytes, step.config.dynamic_shared_bytes);
  }
}

void print_checks(const Workbench& bench, const Evaluation& evaluation) {
  if (evaluation.checks.empty()) return;
  const bool has_rows = std::ranges::any_of(
      bench.task().problem().arguments, [](const Argument& one) { return one.row.has_value(); });
  std::printf("%-20s %20s %14s %10s %12s%s\n", "checked shape", "seed", "max abs error", "bad",
              "relative L2", has_rows ? "    row error" : "");
  for (const CheckResult& check : evaluation.checks) {
    std::printf("%-20s %20llu %14.3g %9.3f%% %12.3g%s\n", check.shape.c_str(),
                static_cast<unsigned long long>(check.seed), check.max_abs_error,
                check.bad_share * 100, check.relative_l2,
                has_rows ? fmt::format(" {:12.3g}", check.max_row_error).c_str() : "");
  }
  std::printf("checked      %s\n", coverage_text(evaluation.checks).c_str());
}

void print_people(const Workbench& bench, const Candidate& candidate, const Evaluation& evaluation,
                  const std::optional<ProfileRecord>& profiled, const Options& options) {
  std::printf("%s\n", bench.task().space().config_json(candidate).c_str());
  if (evaluation.compilation.ok) {
    const Resources& resources = evaluation.compilation.resources;
    std::printf("build        %.0f ms, %s for %s\n", evaluation.compilation.wall_ms,
                evaluation.compilation.compiler.c_str(), bench.task().arch().c_str());
    std::printf("registers    %d per thread\n", resources.registers);
    std::printf("shared       %d static + %d dynamic bytes per CTA\n",
                resources.static_shared_bytes, evaluation.shapes.front().dynamic_shared_bytes);
    std::printf("spills       %d bytes stores, %d bytes loads, stack frame %d bytes\n",
                resources.spill_store_bytes, resources.spill_load_bytes, resources.stack_bytes);
    print_launch(bench, evaluation);
  }
  print_checks(bench, evaluation);
  if (evaluation.timing()) {
    const Timing& timing = *evaluation.timing();
    const double flops = bench.task().problem().flops.evaluate(bench.task().shape().variables);
    std::printf(
        "time         p50 %.3f µs, "
        "p90 %.3f, p99 %.3f, mean %.3f, std %.3f, CV %.2f %%, %lld samples (%s); %.1f TFLOP/s\n",
        timing.p50_us, timing.p90_us, timing.p99_us, timing.mean_us, timing.std_us, timing.cv * 100,
        static_cast<long long>(timing.samples), std::string(to_string(timing.kind)).c_str(),
        flops / timing.p50_us / 1e6);
    if (!timing.not_modelled.empty()) std::printf("not modelled %s\n", timing.not_modelled.c_str());
  }
  const ShapeEvaluation& on = evaluation.shapes.front();
  if (on.gpu) std::printf("GPU         %s\n", gpu_text(*on.gpu).c_str());
  if (on.energy) {
    const Energy& energy = *on.energy;
    std::printf("energy       %.4g mJ a launch, %.0f W (%lld launches in %.2f s)\n",
                energy.launch_mj, energy.power_w, static_cast<long long>(energy.launches),
                energy.window_s);
  }
  if (profiled) {
    std::printf("profile      %s (%s, %s)\n", metrics_text(*profiled).c_str(),
                profiled->tool.c_str(), std::string(to_string(profiled->kind)).c_str());
  }
  if (!evaluation.rejection && profiled && !profiled->passed) {
    std::printf("REJECTED at the profile gate: %s is false\n", profiled->require.c_str());
  } else if (evaluation.rejection) {
    std::printf("REJECTED at the %s gate: %s\n",
                std::string(to_string(evaluation.rejection->gate)).c_str(),
                evaluation.rejection->reason.c_str());
    const std::string detail(further_detail(*evaluation.rejection));
    if (!detail.empty()) std::printf("%s\n", detail.c_str());
  } else {
    std::printf("%s\n", evaluation.timing()  ? "GREEN"
                        : evaluation.was_run ? "LAUNCHED ONCE (not judged)"
                                             : "WITHIN POLICY (not run)");
  }
  if (options.log) std::printf("%s\n", evaluation.compilation.log.c_str());
}

/// The first words of the source that --save writes.
constexpr std::string_view kSavedBy = "// Saved by evo-judge, compiled with:";

const OutputOwner kSaver = {
    .writer = "evo-judge --save", .marks = {kSavedBy}, .makes_folders = true};

void save(const Evaluation& evaluation, const std::string& folder) {
  const std::filesystem::path root = folder;
  const CompilationRecord& record = evaluation.compilation;
  std::vector<OutputFile> files = {{root / "kernel.log", record.log, true}};
  if (record.ok) {
    files.push_back({root / "kernel.ptx", record.ptx, true});
    files.push_back({root / "kernel.cubin", record.cubin, true});
  }
  files.push_back(
      {root / "kernel.cu", fmt::format("{} {}\n{}", kSavedBy, record.options, record.source)});
  write_outputs(files, kSaver);
}

/// Launches the configuration once. If the kernel does not build or fails, the returned evaluation
/// has a rejection.
Evaluation launch_once(Workbench& bench, const Candidate& candidate, const std::string& outputs) {
  if (!bench.has_device()) {
    throw InputError(
        "--outputs: no kernel can be launched with --device none; name another device");
  }
  // The path must be absolute, because the worker process writes the files and may run in another
  // folder.
  const std::filesystem::path folder = std::filesystem::absolute(outputs);
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw InputError("--outputs " + outputs + ": cannot be created: " + failed.message());
  }
  Evaluation evaluation = bench.wait(bench.evaluator().build(candidate, {}));
  if (evaluation.rejection) return evaluation;
  const KernelUnderTest kernel = kernel_under_test(bench.task(), evaluation);
  evaluation.was_run = true;
  auto answer = bench.wait(bench.take_home().write_outputs(kernel, folder.string()));
  if (auto* failure = std::get_if<WorkerFailure>(&answer)) {
    evaluation.rejection = Rejection{Gate::kCorrectness, std::move(failure->reason)};
  } else {
    evaluation.rejection = std::move(std::get<LaunchOutcome>(answer).rejection);
  }
  return evaluation;
}

ExitCode judge(const Options& options) {
  // Fails before compiling if --save would replace a kernel.cu that the user wrote.
  if (!options.save.empty()) {
    require_replaceable(std::filesystem::path(options.save) / "kernel.cu", kSaver);
  }
  Store store = Store::in_memory();
  const auto on_event = [](const std::string&, const std::string& text) {
    std::cerr << "evo-judge: " << text << '\n';
  };
  Services services = options.session.open_services(store, on_event);
  const DeviceInfo* device = device_of(services);
  const std::string honesty = honesty_line(device);
  if (!honesty.empty()) std::cerr << honesty << '\n';
  const WorkbenchOptions bench_options = options.session.bench_options(
      services, options.check_seed != 0 ? options.check_seed : fresh_seed());
  Workbench bench(bench_options, std::move(services));
  require_one_device(bench);
  require_one_shape(bench);
  if (options.profile) require_profile(bench);
  for (const std::string& text : bench.task().warnings()) on_event("warning", text);
  std::optional<StoredWinner> winner;
  if (!options.against.empty()) {
    if (device == nullptr || device->time_kind != TimeKind::kMeasured) {
      throw InputError("--baseline: needs a device that measures times, such as --device cuda:0");
    }
    winner = find_winner(options.against, bench);
  }
  const bool asks_for_one = !options.milestone.empty() || !options.settings.empty();
  const Candidate candidate =
      winner && !asks_for_one
          ? bench.task().space().candidate_from_json(winner->config_json)
          : candidate_from_options(bench.task().space(), options.milestone, options.settings);
  Evaluation evaluation = options.outputs.empty()
                              ? bench.wait(bench.evaluator().evaluate(candidate, {}))
                              : launch_once(bench, candidate, options.outputs);
  if (options.energy) count_energy(bench, evaluation);
  const std::optional<ProfileRecord> profiled = profile(bench, evaluation, options);
  std::optional<AgainstStored> against;
  if (winner && evaluation.is_green()) {
    against = compare_with(bench, std::move(*winner), evaluation);
  }
  if (!options.save.empty()) save(evaluation, options.save);
  if (options.json) {
    OrderedJson json = result_json(bench, candidate, evaluation, profiled);
    if (against) json["against"] = against_json(*against);
    std::cout << json.dump() << '\n';
  } else {
    print_people(bench, candidate, evaluation, profiled, options);
    if (against) std::printf("%s", against_text(*against).c_str());
  }
  const bool is_rejected = verdict_of(evaluation, profiled) == "rejected";
  return is_rejected || (against && against->is_slower()) ? ExitCode::kNothingGreen
                                                          : ExitCode::kGreen;
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("evo-judge", [&] {
    evo::Options options;
    CLI::App app(evo::kDescription);
    evo::declare(app, options);
    if (const auto done =
            evo::parse_command_line(app, argc, argv, evo::SessionOptions::value_lists()))
      return *done;
    return evo::judge(options);
  });
}
