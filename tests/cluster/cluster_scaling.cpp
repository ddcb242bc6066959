// cluster-scaling: the whole engine on a clock that jumps, with fake compilers and devices of
// measured service times: candidates a second by numbers of GPUs and of compilers, the time to
// within 2 % of the optimum, and the time that the coordinator itself spends on a candidate.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "tests/fakes/fake_world.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/tool_main.hpp"

namespace evo {
namespace {

struct Arguments {
  std::vector<std::size_t> gpus = {1, 2, 4, 8, 16, 32, 64};
  std::vector<std::size_t> compilers = {16, 64, 256, 1024};
  double compile_ms = 530;
  double check_ms = 10;
  double time_ms = 18;
};

struct Outcome {
  double candidates_per_s = 0;
  double near_optimum_s = 0;  ///< negative: never
  double coordinator_ms = 0;  ///< of a candidate, by the clock of this machine
};

/// Kernels between 10 and 25 µs, in no order: 1.3 % of them are within 2 % of the fastest.
double time_of(const fake::Program& program) {
  std::uint64_t number = 0;
  for (const char* macro : {"THREADS", "ITEMS", "OTHER"}) {
    number = number * 1000 + static_cast<std::uint64_t>(program.number(macro, 0));
  }
  return 10 + 15 * Random(number).uniform();
}

class FirstNearOptimum final : public TunerObserver {
 public:
  explicit FirstNearOptimum(EventLoop& loop) : loop_(loop), start_(loop.now()) {}

  void on_evaluated(const Evaluated& evaluated, const RunProgress&) override {
    constexpr double kNear = 10 * 1.02;
    ++evaluated_;
    const EvaluationRecord& record = *evaluated.shapes.front().record;
    if (near_s_ < 0 && record.timing && record.timing->p50_us <= kNear) near_s_ = elapsed_s();
  }
  void on_generation(const RunProgress&, const std::vector<ShapeElite>&) override {}

  [[nodiscard]] double elapsed_s() const { return milliseconds_between(start_, loop_.now()) / 1e3; }
  int evaluated_ = 0;
  double near_s_ = -1;

 private:
  EventLoop& loop_;
  SteadyTime start_;
};

Services fake_services(fake::MemoryStore& store, const Arguments& arguments, std::size_t gpus,
                       std::size_t compilers) {
  auto loop = std::make_unique<fake::FakeLoop>();
  auto pool = std::make_unique<fake::FakeCompileService>(*loop, compilers, 1);
  pool->longest_ms = static_cast<std::uint64_t>(2 * arguments.compile_ms);  // its mean is half
  fake::DeviceBehaviour behaviour;
  behaviour.kind = TimeKind::kPredicted;  // no comparisons: the figures are those of the pools
  behaviour.check_ms = arguments.check_ms;
  behaviour.time_ms = arguments.time_ms;
  behaviour.time_us = time_of;
  Services services{nullptr, store, nullptr};
  for (std::size_t i = 0; i < gpus; ++i) {
    services.devices.push_back(std::make_unique<fake::FakeDeviceService>(*loop, behaviour));
  }
  services.compilers = std::move(pool);
  services.loop = std::move(loop);
  return services;
}

Outcome simulate(const Arguments& arguments, std::size_t gpus, std::size_t compilers,
                 const std::filesystem::path& space) {
  fake::MemoryStore store;
  WorkbenchOptions options;
  options.space_file = space;
  Workbench bench(options, fake_services(store, arguments, gpus, compilers));
  TunerOptions tuner;
  tuner.strategy = "random";
  tuner.window = 2 * compilers;
  tuner.children = std::max<std::size_t>(tuner.window, 256);
  tuner.generations = 4;
  tuner.seed = 7;
  FirstNearOptimum observer(bench.loop());
  static const std::atomic<bool> never{false};
  const auto start = std::chrono::steady_clock::now();
  Tuner run(bench, store, {1}, tuner, observer);
  (void)run.run({{}}, never);
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  return {observer.evaluated_ / observer.elapsed_s(), observer.near_s_,
          spent.count() / observer.evaluated_};
}

ExitCode run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("cluster-scaling: candidates a second of many GPUs and compilers, simulated");
  app.add_option("--gpus", arguments.gpus, "numbers of GPUs")->capture_default_str();
  app.add_option("--compilers", arguments.compilers, "numbers of compilers")->capture_default_str();
  app.add_option("--compile-ms", arguments.compile_ms, "of one compilation")->capture_default_str();
  app.add_option("--check-ms", arguments.check_ms, "of the check on a GPU")->capture_default_str();
  app.add_option("--time-ms", arguments.time_ms, "of the timing on a GPU")->capture_default_str();
  if (const auto done = parse_command_line(app, argc, argv, {})) return *done;
  const sample::TemporaryFolder folder;
  std::filesystem::copy(std::filesystem::path(EVO_SOURCE_DIR) / "tests/planted",
                        folder.path() / "project", std::filesystem::copy_options::recursive);
  const auto file = folder.path() / "project/search_spaces/wide.json";
  Json space = read_json_file(file);
  space["parameters"][3]["macro"] = "OTHER";  // it changes the code: every candidate is a kernel
  write_file(file, space.dump());
  std::printf("GPUs  compilers  candidates/s  s to within 2 %%  coordinator ms a candidate\n");
  for (const std::size_t gpus : arguments.gpus) {
    for (const std::size_t compilers : arguments.compilers) {
      const Outcome outcome = simulate(arguments, gpus, compilers, file);
      std::printf("%4zu  %9zu  %12.1f  %15.2f  %26.3f\n", gpus, compilers, outcome.candidates_per_s,
                  outcome.near_optimum_s, outcome.coordinator_ms);
      std::fflush(stdout);
    }
  }
  return ExitCode::kGreen;
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("cluster-scaling", [&] { return evo::run(argc, argv); });
}
