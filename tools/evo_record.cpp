// evo-record: times all configurations of a search space, or random ones, and writes a recording.

#include <fmt/format.h>

#include <limits>

#include "engine/evolve/max_in_flight.hpp"
#include "tools/cli/help_format.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/stop_signals.hpp"
#include "tools/cli/tool_main.hpp"
#include "tools/record/record.hpp"

namespace evo {
namespace {

constexpr const char* kDescription =
    "evo-record: times configurations of a search space and writes a recording.\n"
    "evo-replay and other tuners read recordings. A recording holds N random configurations, "
    "or all. Each configuration goes through the gates of evo-tune, "
    "and every green kernel is timed with equal care. A failure is recorded with its gate. "
    "The default configuration is always recorded, and is timed again and again as the control.";

/// A number of candidates, or "all".
CLI::Validator count_or_all() {
  const CLI::Validator number = whole_number(1, kMostCandidates);
  return {[=](std::string& text) {
            if (text == kEveryCandidate) return std::string();
            const std::string refusal = number(text);
            return refusal.empty() ? refusal : refusal + ", or all";
          },
          fmt::format("1 to {} or all", kMostCandidates)};
}

void declare(CLI::App& app, RecordOptions& options) {
  options.session.declare(app);
  add_option(app, "--count", options.count, "N",
             "configurations to record; all: the whole space, "
             "in a random order (default with --resume: the count of the resumed run)")
      ->transform(count_or_all());
  add_option(app, "--out", options.out, value_words::kFile,
             "T4 results file to write at the end, or when interrupted; "
             "compressed if its name ends with .gz");
  add_option(app, "--kernel-tuner-cache", options.kernel_tuner_cache, value_words::kFile,
             "write the results as a cache file of Kernel Tuner");
  app.add_option("--seed", options.tuner.seed, "seed of the random choice")
      ->capture_default_str()
      ->transform(seed_number());
  app.add_option("--control-every", options.tuner.offspring,
                 "candidates between two timings of the control")
      ->capture_default_str()
      ->transform(whole_number(1, 10000));
  app.add_option("--max-in-flight", options.tuner.max_in_flight,
                 "candidates in flight (default: eight times --jobs)")
      ->transform(whole_number(1, 10000));
  options.declare_run(app);
  options.declare_output(app, "evo-record");
  app.footer(exit_codes({{0, "recorded"},
                         {1, "no kernel is green"},
                         {2, "bad usage or input"},
                         {3, "the compiler, the driver or the GPU is missing or cannot be used"},
                         {130, "interrupted, everything saved"}}));
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  evo::RecordOptions options;
  options.tuner.aim = evo::Aim::kRecord;
  options.tuner.strategy = "random";
  options.tuner.generations = std::numeric_limits<int>::max();
  options.tuner.offspring = 50;  // the default of --control-every
  CLI::App app(evo::kDescription);
  evo::declare(app, options);
  const auto record = [&] {
    if (app.count("--max-in-flight") == 0) {
      options.tuner.max_in_flight = evo::default_max_in_flight(options.session.job_count(), false);
    }
    options.take_resumption(app);
    evo::handle_stop_signals();
    return evo::record(std::move(options));
  };
  return evo::tool_main("evo-record", argc, argv, app, record, evo::SessionOptions::value_lists());
}
