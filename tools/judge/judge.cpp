#include "tools/judge/judge.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "db/store.hpp"
#include "engine/core/at_end.hpp"
#include "engine/run/objective.hpp"
#include "engine/run/profile_gate.hpp"
#include "tools/cli/output_files.hpp"
#include "tools/judge/judgement.hpp"

namespace evo {
namespace {

namespace fs = std::filesystem;

/// The first words of the source that --save writes.
constexpr std::string_view kSavedBy = "// Saved by evo-judge, compiled with:";

const OutputOwner kSaver = {
    .writer = "evo-judge --save", .marks = {kSavedBy}, .makes_folders = true};

/// The "format" of outputs.json, which says from which launch the files of --outputs are.
constexpr std::string_view kOutputsFormat = "evo-tune outputs 1";

const OutputOwner kOutputsWriter = {.writer = "evo-judge --outputs", .marks = {kOutputsFormat}};

void tell(const std::string& text) { std::cerr << "evo-judge: " << text << '\n'; }

std::optional<StoredWinner> winner_of(const std::string& baseline, const Workbench& bench) {
  if (baseline.empty()) return std::nullopt;
  if (!has_device(bench) || bench.task().device().time_kind != TimeKind::kMeasured) {
    throw InputError("--baseline: needs a device that measures times, such as --device cuda:0");
  }
  return find_winner(baseline, bench);
}

/// The folder of --outputs, and the files that it gets.
struct OutputFolder {
  fs::path folder;  ///< absolute, because the worker process may run in another folder
  std::vector<std::string> names = {};

  [[nodiscard]] fs::path index() const { return folder / "outputs.json"; }
  /// A folder in which the worker writes the files before they get their places.
  [[nodiscard]] fs::path partial() const { return folder / fmt::format(".partial{}", getpid()); }
};

/// Throws InputError, before the launch, if a file must not be replaced.
OutputFolder output_folder(const Workbench& bench, const std::string& name) {
  if (!has_device(bench)) {
    throw InputError(
        "--outputs: no kernel can be launched with --device none; name another device");
  }
  OutputFolder outputs{fs::absolute(name)};
  const bool is_own = has_mark(outputs.index(), kOutputsWriter);
  if (!is_own) require_replaceable(outputs.index(), kOutputsWriter);
  for (const Argument& argument : bench.task().problem().arguments) {
    if (!argument.is_output()) continue;
    outputs.names.push_back(argument.name + ".npy");
    if (!is_own) require_replaceable(outputs.folder / outputs.names.back(), kOutputsWriter);
  }
  std::error_code failed;
  fs::create_directories(outputs.partial(), failed);
  if (failed) throw InputError("--outputs " + name + ": cannot be created: " + failed.message());
  return outputs;
}

/// Moves the files that the worker has written to their places.
void place(const OutputFolder& outputs, const Workbench& bench, const Candidate& candidate) {
  for (const std::string& name : outputs.names) {
    std::error_code failed;
    fs::rename(outputs.partial() / name, outputs.folder / name, failed);
    if (!failed) continue;
    throw InputError((outputs.folder / name).string() + ": cannot be written: " + failed.message());
  }
  using Json = nlohmann::ordered_json;
  const TuningTask& task = bench.task();
  const Json index = {{"format", kOutputsFormat},
                      {"space", task.space().definition().name},
                      {"shape", task.shape().name},
                      {"check_seed", bench.setup().check_seed},
                      {"config", Json::parse(task.space().config_json(candidate))}};
  write_outputs({{outputs.index(), index.dump(2) + "\n"}}, kOutputsWriter);
}

/// Launches the configuration once. If the kernel does not build or fails, the returned evaluation
/// has a rejection.
Evaluation launch_once(Workbench& bench, const Candidate& candidate, const std::string& name) {
  const OutputFolder outputs = output_folder(bench, name);
  const AtEnd clean([&] {
    std::error_code ignored;
    fs::remove_all(outputs.partial(), ignored);
  });
  Evaluation evaluation = bench.wait(bench.evaluator().build(candidate, {}));
  if (evaluation.rejection) return evaluation;
  const KernelUnderTest kernel = kernel_under_test(bench.task(), evaluation);
  evaluation.was_run = true;
  auto answer = bench.wait(bench.take_home().write_outputs(kernel, outputs.partial().string()));
  if (auto* failure = std::get_if<WorkerFailure>(&answer)) {
    evaluation.rejection = Rejection{Gate::kCorrectness, std::move(failure->reason)};
  } else {
    evaluation.rejection = std::move(std::get<LaunchOutcome>(answer).rejection);
  }
  if (!evaluation.rejection) place(outputs, bench, candidate);
  return evaluation;
}

/// Measures the energy per launch of a green kernel, if the device counts energy. A kernel that
/// fails during the measurement is no longer green.
void count_energy(Workbench& bench, Evaluation& evaluation) {
  if (!evaluation.is_green()) return;
  if (!bench.task().device().counts_energy) {
    return tell("--energy: not supported on " + bench.task().device().name +
                ", which does not count energy");
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
  if (!result.not_supported.empty()) tell(result.not_supported);
}

/// Applies the profile gate. Returns nullopt if the kernel is not green or the gate is skipped;
/// says on standard error why the gate is skipped.
std::optional<ProfileRecord> profile(Workbench& bench, const Evaluation& evaluation) {
  if (!evaluation.is_green()) return std::nullopt;
  Profiled profiled = profile_gate(bench, kernel_under_test(bench.task(), evaluation));
  if (!profiled.record) tell("the profile gate is skipped: " + profiled.left_out);
  return std::move(profiled.record);
}

void save(const CompilationRecord& record, const fs::path& folder) {
  std::vector<OutputFile> files = {{folder / "kernel.log", record.log, true}};
  if (record.ok) {
    files.push_back({folder / "kernel.ptx", record.ptx, true});
    files.push_back({folder / "kernel.cubin", record.cubin, true});
  }
  files.push_back(
      {folder / "kernel.cu", fmt::format("{} {}\n{}", kSavedBy, record.options, record.source)});
  write_outputs(files, kSaver);
}

void print(const TuningTask& task, const Judgement& found, const JudgeOptions& options) {
  if (options.json) {
    using Json = nlohmann::ordered_json;
    std::cout << judgement_json(task, found).dump(-1, ' ', false, Json::error_handler_t::replace)
              << '\n';
    return;
  }
  std::cout << judgement_text(task, found);
  if (options.log) std::cout << found.evaluation.compilation.log << '\n';
  if (found.against) std::cout << against_text(*found.against);
}

}  // namespace

ExitCode judge(const JudgeOptions& options) {
  // Fails before compiling if --save would replace a kernel.cu that the user wrote.
  if (!options.save.empty()) require_replaceable(fs::path(options.save) / "kernel.cu", kSaver);
  Store store = Store::in_memory();
  Services services = options.session.open_services(
      store, [](const std::string&, const std::string& text) { tell(text); });
  const std::string honesty = honesty_line(device_of(services));
  if (!honesty.empty()) std::cerr << honesty << '\n';
  const WorkbenchOptions bench_options = options.session.bench_options(
      services, options.check_seed != 0 ? options.check_seed : fresh_seed());
  Workbench bench(bench_options, std::move(services));
  require_one_device(bench);
  require_one_shape(bench);
  if (options.profile) require_profile(bench);
  for (const std::string& text : bench.task().warnings()) tell(text);
  std::optional<StoredWinner> winner = winner_of(options.baseline, bench);
  const Space& space = bench.task().space();
  const Candidate candidate = winner && !options.candidate.any()
                                  ? space.candidate_from_json(winner->config_json)
                                  : options.candidate.candidate(space);
  Judgement found{options.outputs.empty() ? bench.wait(bench.evaluator().evaluate(candidate, {}))
                                          : launch_once(bench, candidate, options.outputs)};
  if (options.energy) count_energy(bench, found.evaluation);
  if (options.profile) found.profile = profile(bench, found.evaluation);
  if (winner && found.evaluation.is_green()) {
    found.against = compare_with(bench, std::move(*winner), found.evaluation);
  }
  if (!options.save.empty()) save(found.evaluation.compilation, options.save);
  print(bench.task(), found, options);
  const bool is_good = !found.is_rejected() && !(found.against && found.against->is_slower());
  return is_good ? ExitCode::kGreen : ExitCode::kNothingGreen;
}

}  // namespace evo
