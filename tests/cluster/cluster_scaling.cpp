// cluster-scaling: simulates runs with several numbers of GPUs and compilers. The program runs the
// whole engine on a simulated clock, with fake compilers and devices whose service times were
// measured on real ones. The program prints the candidates per second, the time until a candidate
// is within 2 % of the optimum, and the CPU time of the coordinator per candidate, which includes
// writing the database to the disk of this machine.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "db/store.hpp"
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
  double stored_kb = 36;
  std::string strategy = "random";
};

struct Outcome {
  double candidates_per_s = 0;
  double near_optimum_s = 0;  ///< time until a kernel is near the optimum; negative: never
  double coordinator_ms = 0;  ///< processor time for each candidate
};

constexpr double kOptimumUs = 10;
constexpr std::array<const char*, 4> kOrdered = {"DEPTH", "STAGES", "UNROLL", "SPLIT"};
constexpr int kValues = 8;

/// The made-up time of a kernel in µs. The time has one optimum, two parameters whose best values
/// depend on each other, and up to 1 % of noise. About one kernel of 200 takes at most 2 % longer
/// than kOptimumUs.
double time_of(const fake::Program& program) {
  std::array<double, kOrdered.size()> distance{};
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < kOrdered.size(); ++i) {
    const double value = program.number(kOrdered[i], 0);
    number = number * kValues + static_cast<std::uint64_t>(value);
    distance[i] = (value - static_cast<double>(i + 2)) / kValues;
  }
  distance[1] += distance[0] / 2;
  const double threads = std::log2(program.number("THREADS", 0)) - 7;
  const double items = std::log2(program.number("ITEMS", 0)) - 1;
  double share = (threads * threads + items * items) / 20;
  for (const double one : distance) share += one * one;
  constexpr double kSlope = 1.0 / 6;
  constexpr double kNoise = 0.01;
  return kOptimumUs * (1 + kSlope * share + kNoise * Random(number).uniform());
}

class FirstNearOptimum final : public TunerObserver {
 public:
  explicit FirstNearOptimum(EventLoop& loop) : loop_(loop), start_(loop.now()) {}

  void on_evaluated(const Evaluated& evaluated, const RunProgress&) override {
    constexpr double kNear = kOptimumUs * 1.02;
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

/// A compile service whose kernels have the size of real compressed kernels, so that the
/// coordinator receives and stores as many bytes as in a real run.
class PackedKernels final : public fake::FakeCompileService {
 public:
  PackedKernels(fake::FakeLoop& loop, std::size_t jobs, double stored_kb)
      : FakeCompileService(loop, jobs, 1), bytes_(static_cast<std::size_t>(stored_kb * 1024)) {}

  Task<Finished> compile(CompileRequest request) override {
    Finished finished = co_await FakeCompileService::compile(std::move(request));
    auto& compiled = std::get<Compiled>(finished.outcome);
    compiled.packed_ptx.resize(bytes_ / 3);
    compiled.packed_cubin.resize(bytes_ - compiled.packed_ptx.size());
    co_return finished;
  }

 private:
  std::size_t bytes_;
};

Services fake_services(RunStore& store, const Arguments& arguments, std::size_t gpus,
                       std::size_t compilers) {
  auto loop = std::make_unique<fake::FakeLoop>();
  auto pool = std::make_unique<PackedKernels>(*loop, compilers, arguments.stored_kb);
  pool->longest_ms =
      static_cast<std::uint64_t>(2 * arguments.compile_ms);  // the mean is half of the longest
  fake::DeviceBehaviour behaviour;
  behaviour.kind = TimeKind::kPredicted;  // predicted times need no A/B comparisons
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

/// The processor time of this process in ms, in user and kernel mode.
double processor_ms() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

Outcome simulate(const Arguments& arguments, std::size_t gpus, std::size_t compilers,
                 const std::filesystem::path& space) {
  const sample::TemporaryFolder folder;
  Store store = Store::open(folder.path() / "evo.db");
  const RunId id = store.start_run(sample::run_info(TimeKind::kPredicted));
  WorkbenchOptions options;
  options.space_file = space;
  Workbench bench(options, fake_services(store, arguments, gpus, compilers));
  TunerOptions tuner;
  tuner.strategy = arguments.strategy;
  tuner.max_in_flight = 2 * compilers;
  tuner.offspring = std::max<std::size_t>(tuner.max_in_flight, 256);
  tuner.generations = 4;
  tuner.seed = 7;
  FirstNearOptimum observer(bench.loop());
  static const std::atomic<bool> never{false};
  const double begin_ms = processor_ms();
  Tuner run(bench, store, {id}, tuner, observer);
  (void)run.run({{}}, never);
  return {observer.evaluated_ / observer.elapsed_s(), observer.near_s_,
          (processor_ms() - begin_ms) / observer.evaluated_};
}

ExitCode run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "cluster-scaling: simulates how many candidates a second many GPUs and compilers evaluate");
  app.add_option("--gpus", arguments.gpus,
                 "numbers of GPUs; each is simulated with each number of compilers")
      ->capture_default_str();
  app.add_option("--compilers", arguments.compilers,
                 "numbers of compilers; each is simulated with each number of GPUs")
      ->capture_default_str();
  app.add_option("--compile-ms", arguments.compile_ms, "mean duration of a compilation")
      ->capture_default_str();
  app.add_option("--check-ms", arguments.check_ms, "duration of a check on a GPU")
      ->capture_default_str();
  app.add_option("--time-ms", arguments.time_ms, "duration of a timing on a GPU")
      ->capture_default_str();
  app.add_option("--stored-kb", arguments.stored_kb, "size of a compressed kernel in the database")
      ->capture_default_str();
  app.add_option("--strategy", arguments.strategy, "strategy, as for evo-tune --strategy")
      ->capture_default_str();
  if (const auto done = parse_command_line(app, argc, argv, {})) return *done;
  const sample::TemporaryFolder folder;
  std::filesystem::copy(std::filesystem::path(EVO_SOURCE_DIR) / "tests/planted",
                        folder.path() / "project", std::filesystem::copy_options::recursive);
  const auto file = folder.path() / "project/search_spaces/wide.json";
  Json space = read_json_file(file);
  space["parameters"].erase(
      3);  // UNUSED_ALIAS changes no code, but every candidate must be a distinct kernel
  for (const char* macro : kOrdered) {
    Json parameter = {{"macro", macro}, {"default", 0}, {"meaning", "made up"}};
    for (int value = 0; value < kValues; ++value) parameter["values"].push_back(value);
    space["parameters"].push_back(parameter);
  }
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
