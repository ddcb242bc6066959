// ab_comparisons: tests the reliability of A/B comparisons. Compares two configurations of a space
// many times by interleaved pairs, and prints how often the first was faster, the second was
// faster, or neither. A configuration compared with itself must be neither faster nor slower. With
// --reload, the second kernel is loaded again for each comparison, because its address may affect
// its time.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>

#include "db/store.hpp"
#include "engine/core/error.hpp"
#include "engine/evaluate/workbench.hpp"
#include "tools/cli/candidate_options.hpp"
#include "tools/cli/tool_main.hpp"
#include "tools/tune/session_options.hpp"

namespace evo {
namespace {

struct Options {
  SessionOptions session;
  CandidateOptions first;
  CandidateOptions second;
  int count = 300;
  bool reload = false;
};

/// The kernel of a configuration, which must pass every gate. Throws InputError otherwise.
KernelUnderTest green_kernel(Workbench& bench, const Candidate& candidate) {
  const Evaluation evaluation = bench.wait(bench.evaluator().evaluate(candidate, {}));
  if (evaluation.rejection) {
    throw InputError(bench.task().space().config_json(candidate) +
                     " is not green: " + evaluation.rejection->reason);
  }
  if (evaluation.timing()) {
    std::printf("%s: p50 %.3f us\n", bench.task().space().config_json(candidate).c_str(),
                evaluation.timing()->p50_us);
  }
  return kernel_under_test(bench.task(), evaluation);
}

ExitCode run(const Options& options) {
  Store store = Store::in_memory();
  Services services =
      options.session.open_services(store, [](const std::string&, const std::string&) {});
  const DeviceInfo* device = device_of(services);
  if (device == nullptr || device->time_kind != TimeKind::kMeasured) {
    throw MissingError("A/B comparisons need a device that measures; try --device cuda:0");
  }
  std::printf("device: %s\n", device->name.c_str());
  const WorkbenchOptions bench_options = options.session.bench_options(services, fresh_seed());
  Workbench bench(bench_options, std::move(services));
  const Candidate candidate = options.first.candidate(bench.task().space());
  const Candidate another = options.second.candidate(bench.task().space());
  const KernelUnderTest first = green_kernel(bench, candidate);
  const KernelUnderTest second = another == candidate ? first : green_kernel(bench, another);
  std::map<int, int> verdicts;
  std::vector<double> ratios;
  for (int i = 0; i < options.count; ++i) {
    KernelUnderTest other = second;
    if (options.reload) {
      other.key +=
          " load " + std::to_string(i);  // an unknown key makes the device load the kernel again
    }
    const PairResult pair = bench.wait(bench.take_home().compare_pair(first, other));
    if (pair.rejection) throw InputError("a comparison failed: " + pair.rejection->reason);
    ++verdicts[pair.verdict()];
    ratios.push_back(pair.ratio);
    if (options.reload) std::printf("%.3f / %.3f us\n", pair.first_us, pair.second_us);
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf(
      "%d comparisons: first faster %d, tie %d, second faster %d; "
      "time of first / second: median %.4f, from %.4f to %.4f\n",
      options.count, verdicts[-1], verdicts[0], verdicts[1], ratios[ratios.size() / 2],
      ratios.front(), ratios.back());
  return ExitCode::kGreen;
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("ab_comparisons", [&] {
    evo::Options options;
    CLI::App app("ab_comparisons: tests how reliable comparisons of two kernels are.");
    options.session.declare(app);
    app.add_option("--first", options.first.settings, "configuration, MACRO=VALUE ...");
    app.add_option("--second", options.second.settings,
                   "the other configuration (default: the same as --first)");
    app.add_flag(
        "--reload", options.reload,
        "load the second kernel again for every comparison: shows the effect of its address");
    app.add_option("--count", options.count, "number of comparisons")
        ->check(CLI::Range(1, 1000000));
    if (const auto done = evo::parse_command_line(app, argc, argv)) return *done;
    return evo::run(options);
  });
}
