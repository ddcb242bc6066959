// rank-predictions: how well predicted times rank the candidates of a recorded space.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/compile/nvrtc.hpp"
#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "engine/device/virtual/virtual_device.hpp"
#include "engine/gate/workspace.hpp"
#include "engine/predict/ranking.hpp"
#include "engine/space/recorded_space.hpp"
#include "engine/space/space.hpp"
#include "tools/number_options.hpp"
#include "tools/tool_main.hpp"

namespace evo {
namespace {

struct Arguments {
  std::string space;
  std::string recording;
  std::string device = "virtual:h200";
  std::string shape;
  std::size_t count = 100;
  std::uint64_t seed = 1;
  int threads = 2;
};

std::string define(const std::string& name, const std::string& value) {
  std::string option = "-D";
  return option.append(name).append("=").append(value);
}

/// Predicts times of one space on one shape. Not shared by threads.
class Predictor {
 public:
  explicit Predictor(const Arguments& arguments)
      : file_(std::filesystem::absolute(arguments.space)),
        templates_(file_.parent_path().parent_path() / "kernel_templates"),
        space_(read_space_file(file_)),
        problem_(Problem::load(templates_ / space_.definition().problem)),
        spec_(problem_.kernel(space_.definition().template_name)),
        shape_(
            problem_.shape(arguments.shape.empty() ? space_.definition().shape : arguments.shape)),
        compiler_(open_nvrtc()),
        device_(open_virtual_device(arguments.device, {.threads = 1})),
        work_(make_host_work(*device_)),
        programs_(problem_),
        cases_(*work_, problem_, programs_, std::nullopt, {.seed = 1}) {}

  /// Microseconds; nothing when it does not compile or run here.
  std::optional<double> predict(const Recording& recording, const RecordedEntry& entry) {
    Settings settings;
    for (std::size_t i = 0; i < recording.parameters.size(); ++i) {
      const RecordedParameter& parameter = recording.parameters[i];
      settings.emplace_back(parameter.name, parameter.values.at(entry.candidate.choice.at(i)).text);
    }
    const Candidate candidate = space_.candidate_from_settings(settings, space_.defaults());
    CompileRequest request{load_source(spec_.source, templates_), spec_.entries(),
                           space_.definition().arch, space_.definition().compiler_options};
    for (const auto& [name, value] : space_.macros(candidate))
      request.options.push_back(define(name, value));
    for (const auto& [name, value] : problem_.macros_for(shape_))
      request.options.push_back(define(name, std::to_string(static_cast<long long>(value))));
    request.options.emplace_back("-lineinfo");
    const CompileOutcome outcome = outcome_of(compiler_->compile(request));
    const auto* compiled = std::get_if<Compiled>(&outcome);
    if (compiled == nullptr) return std::nullopt;
    const auto loaded = device_->load({compiled->ptx, compiled->cubin, spec_.entries()});
    if (!std::holds_alternative<KernelId>(loaded)) return std::nullopt;
    const LoadedKernel kernel{std::get<KernelId>(loaded), &spec_, space_.values(candidate)};
    const auto us = predict(kernel);
    device_->unload(kernel.id);
    return us;
  }

 private:
  std::optional<double> predict(const LoadedKernel& kernel) {
    const CheckCase& data = cases_.inputs(shape_, 0);
    const auto made = Workspace::make(*device_, problem_, kernel, data);
    if (!std::holds_alternative<Workspace>(made)) return std::nullopt;
    const auto us = device_->predict_us(kernel.id, kernel.launch_for(data),
                                        std::get<Workspace>(made).arguments_of(data));
    if (!std::holds_alternative<double>(us)) return std::nullopt;
    return std::get<double>(us);
  }

  std::filesystem::path file_;
  std::filesystem::path templates_;
  Space space_;
  Problem problem_;
  const KernelSpec& spec_;
  const Shape& shape_;
  std::unique_ptr<Compiler> compiler_;
  std::unique_ptr<VirtualDevice> device_;
  std::unique_ptr<BufferWork> work_;
  ProblemPrograms programs_;
  CaseSet cases_;
};

/// Entries that ran, drawn without replacement.
std::vector<RecordedEntry> drawn(const Recording& recording, const Arguments& arguments) {
  std::vector<RecordedEntry> entries;
  for (const RecordedEntry& entry : recording.entries) {
    if (entry.time_ms) entries.push_back(entry);
  }
  Random random(arguments.seed);
  for (std::size_t i = 0; i + 1 < entries.size(); ++i)
    std::swap(entries[i], entries[i + random.below(entries.size() - i)]);
  entries.resize(std::min(entries.size(), arguments.count));
  return entries;
}

void run(const Arguments& arguments) {
  constexpr double kMicroseconds = 1e3;
  const Recording recording = read_recording(arguments.recording);
  const std::vector<RecordedEntry> entries = drawn(recording, arguments);
  std::vector<std::optional<double>> predicted(entries.size());
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < arguments.threads; ++t) {
      threads.emplace_back([&] {
        try {
          Predictor predictor(arguments);
          for (std::size_t i; (i = next++) < entries.size();)
            predicted[i] = predictor.predict(recording, entries[i]);
        } catch (...) {
          const std::lock_guard lock(mutex);
          error = std::current_exception();
          next = entries.size();
        }
      });
    }
  }
  if (error) std::rethrow_exception(error);
  std::vector<double> measured;
  std::vector<double> known;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!predicted[i]) continue;
    measured.push_back(*entries[i].time_ms * kMicroseconds);
    known.push_back(*predicted[i]);
  }
  const RankScore score = rank_score(measured, known);
  std::printf(
      "%s on %s: %zu kernels (%zu within twice the best; %zu not predicted): Spearman %.2f, within "
      "twice the best %.2f; median error %.0f %%; predicted fastest %.1f %% slower than the best, "
      "best of the 16 predicted fastest %.1f %%\n",
      recording.name.c_str(), arguments.device.c_str(), score.kernels, score.near,
      entries.size() - score.kernels, score.spearman, score.spearman_near, 100 * score.median_error,
      100 * score.loss, 100 * score.loss_of_16);
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  CLI::App app("How well predicted times rank recorded candidates.");
  evo::Arguments arguments;
  app.add_option("space", arguments.space, "search space file")->required();
  app.add_option("recording", arguments.recording, "measured times of it")->required();
  app.add_option("--device", arguments.device, "virtual:NAME")->capture_default_str();
  app.add_option("--shape", arguments.shape, "of the problem file (default: the space's)");
  app.add_option("--count", arguments.count, "candidates, drawn from those that ran")
      ->capture_default_str()
      ->transform(evo::whole_number(1, 1000000));
  app.add_option("--seed", arguments.seed, "of the draw")
      ->capture_default_str()
      ->transform(evo::seed_number());
  app.add_option("--threads", arguments.threads, "of the host")
      ->capture_default_str()
      ->transform(evo::whole_number(1, 256));
  return evo::tool_main("rank-predictions", [&] {
    if (const auto done = evo::parse_command_line(app, argc, argv)) return *done;
    evo::run(arguments);
    return evo::ExitCode::kGreen;
  });
}
