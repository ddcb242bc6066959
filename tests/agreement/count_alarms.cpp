// The program count-alarms runs random candidates of search spaces on the virtual GPU with all
// checks. The constraints of the spaces exclude kernels with races and stray accesses, so every
// report is a defect of the template or a false alarm.
#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "engine/core/error.hpp"
#include "engine/device/virtual/virtual_device.hpp"
#include "tests/agreement/template_run.hpp"
#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tools/cli/tool_main.hpp"

namespace evo::agreement {
namespace {

struct Arguments {
  std::string root = EVO_SOURCE_DIR;
  std::vector<std::string> spaces = {"sdpa_fp8_mma_l4.json",    "sdpa_fp8_mma_l4_wide.json",
                                     "sdpa_fp8_wmma_l4.json",   "sdpa_fp8_mma_h200.json",
                                     "sdpa_fp8_wmma_h200.json", "sdpa_fp8_wgmma_h200.json"};
  std::vector<std::string> shapes = {"ragged1", "ragged31", "causal_wide", "grouped"};
  std::size_t candidates = 100;
  std::uint64_t seed = 1;
};

/// Counts of the results of all launches of one space.
struct Tally {
  std::size_t candidates = 0;
  std::size_t launches = 0;
  std::size_t too_large = 0;  ///< launches left out: a CTA needs too much shared memory
  std::size_t alarms = 0;
  std::size_t refused = 0;  ///< candidates that do not compile
  double seconds = 0;

  void add(const Tally& other) {
    candidates += other.candidates;
    launches += other.launches;
    too_large += other.too_large;
    alarms += other.alarms;
    refused += other.refused;
  }
};

std::string device_of(const Space& space) {
  static const std::map<std::string, std::string> kDevices = {{"sm_80", "virtual:a100"},
                                                              {"sm_89", "virtual:l4"},
                                                              {"sm_90", "virtual:h200"},
                                                              {"sm_90a", "virtual:h200"}};
  const auto found = kDevices.find(space.definition().arch);
  if (found == kDevices.end()) {
    throw InputError("space '" + space.definition().template_name + "': arch is " +
                     space.definition().arch + "; a virtual GPU has sm_80, sm_89, sm_90 or sm_90a");
  }
  return found->second;
}

std::vector<Candidate> sample(const Space& space, std::size_t count, Random& random) {
  std::vector<Candidate> drawn;
  std::set<Candidate> seen;
  while (drawn.size() < count) {
    const Candidate candidate = space.sample(random);
    if (space.is_valid(candidate) && seen.insert(candidate).second) drawn.push_back(candidate);
  }
  return drawn;
}

/// Compiles and launches candidates of one space. Shapes with equal compiler options share the PTX
/// of a candidate. Not thread-safe.
class Runner {
 public:
  Runner(const TemplateRun& run, std::uint64_t seed)
      : run_(run),
        device_(open_virtual_device(device_of(run.space()), {.threads = 1, .seed = seed})) {}

  [[nodiscard]] Tally check(const Candidate& candidate, const std::vector<std::string>& shapes,
                            std::string& report) {
    Tally tally{.candidates = 1};
    std::map<std::vector<std::string>, std::string> compiled;  // by compiler options
    for (const std::string& name : shapes) {
      const Shape& shape = run_.problem().shape(name);
      if (!run_.supports(shape)) continue;
      const CompileRequest request = run_.request(candidate, shape);
      auto& ptx = compiled[request.options];
      try {
        if (ptx.empty()) ptx = compile(request);
      } catch (const std::runtime_error& error) {
        report += describe(candidate, name) + "does not compile: " + error.what() + "\n";
        ++tally.refused;
        return tally;
      }
      const AgreementCase data = run_.make_case(candidate, shape, device_->info().sm_count);
      if (data.launch.dynamic_shared_bytes >
          static_cast<std::uint32_t>(device_->info().max_shared_bytes_per_cta)) {
        ++tally.too_large;
        continue;
      }
      ++tally.launches;
      const auto outcome = run_case(*device_, data, {ptx, {}, {data.entry}});
      if (const auto* fault = std::get_if<Fault>(&outcome)) {
        ++tally.alarms;
        report += describe(candidate, name) + fault->reason + "\n" + fault->detail + "\n";
      }
    }
    return tally;
  }

 private:
  static std::string compile(const CompileRequest& request) {
    constexpr std::string_view kReal = "sm_";
    return test::compile_to_ptx(request.source.expanded(),
                                "compute_" + request.arch.substr(kReal.size()), request.options);
  }

  [[nodiscard]] std::string describe(const Candidate& candidate, const std::string& shape) const {
    return run_.space().config_json(candidate) + " on " + shape + ": ";
  }

  const TemplateRun& run_;
  std::unique_ptr<VirtualDevice> device_;
};

Tally check_space(const Arguments& arguments, const std::string& space) {
  const auto start = std::chrono::steady_clock::now();
  const TemplateRun run(arguments.root, space);
  Random random(arguments.seed);
  const std::vector<Candidate> drawn = sample(run.space(), arguments.candidates, random);
  Tally total;
  std::mutex mutex;
  std::atomic<std::size_t> next{0};
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t) {
      threads.emplace_back([&, seed = arguments.seed + t] {
        Runner runner(run, seed);
        for (std::size_t i = next++; i < drawn.size(); i = next++) {
          std::string report;
          const Tally one = runner.check(drawn[i], arguments.shapes, report);
          const std::scoped_lock lock(mutex);
          total.add(one);
          std::cout << report;
        }
      });
    }
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  total.seconds = elapsed.count();
  return total;
}

void print(const std::string& space, const Tally& tally) {
  std::printf("%-28s %10zu %8zu %9zu %8zu %6zu %9.1f\n", space.c_str(), tally.candidates,
              tally.launches, tally.too_large, tally.refused, tally.alarms, tally.seconds);
  std::fflush(stdout);
}

ExitCode run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Run random candidates of search spaces on the virtual GPU with all checks.",
               "count-alarms");
  app.add_option("--root", arguments.root, "the project's folder")->capture_default_str();
  app.add_option("--space", arguments.spaces, "files under search_spaces/")->capture_default_str();
  app.add_option("--shape", arguments.shapes, "shapes of the problem")->capture_default_str();
  app.add_option("--candidates", arguments.candidates, "number of random candidates of each space")
      ->capture_default_str();
  app.add_option("--seed", arguments.seed, "seed of the candidates and of the order of warps")
      ->capture_default_str();
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  std::printf("%-28s %10s %8s %9s %8s %6s %9s\n", "space", "candidates", "launches", "too large",
              "refused", "alarms", "seconds");
  Tally total;
  for (const std::string& space : arguments.spaces) {
    const Tally tally = check_space(arguments, space);
    print(space, tally);
    total.add(tally);
    total.seconds += tally.seconds;
  }
  print("all", total);
  return total.alarms + total.refused == 0 ? ExitCode::kGreen : ExitCode::kNothingGreen;
}

}  // namespace
}  // namespace evo::agreement

int main(int argc, char** argv) {
  return evo::tool_main("count-alarms", [&] { return evo::agreement::run(argc, argv); });
}
