// evo-replay: runs search strategies on recorded spaces.

#include <fmt/ranges.h>

#include "tools/cli/help_format.hpp"
#include "tools/cli/tool_main.hpp"
#include "tools/replay/replay.hpp"

namespace evo {
namespace {

constexpr const char* kAbout =
    "evo-replay: measures how close strategies come to the best recorded time.\n"
    "A strategy gets the recorded result of each configuration that it proposes; "
    "a failed configuration also costs an evaluation. "
    "Recordings are Kernel Tuner caches or T4 results, plain or gzip.\n\n"
    "Columns: optimum / best time after 25, 50, ... evaluations "
    "(mean ± standard deviation over the repeats); "
    "score P (Willemsen et al. 2024, 'A methodology for comparing optimization algorithms for "
    "auto-tuning'): 0 at the mean rank of a random search, "
    "1 at the optimum from the first evaluation on, negative if worse than random; "
    "the fraction of failures among the evaluations after the first 50, and in the whole space.";

ValueLists value_lists() {
  const std::vector<std::string> names(strategy_names().begin(), strategy_names().end());
  return {{value_words::kStrategy, [names](const GivenValues&) { return names; }}};
}

void declare(CLI::App& app, ReplayOptions& options) {
  add_option(app, "--recorded", options.recorded, value_words::kRecording,
             "recorded spaces (*.json, *.json.gz)")
      ->required();
  app.add_option("--strategy", options.strategy,
                 fmt::format("{}, or 'program: COMMAND'", fmt::join(strategy_names(), ", ")))
      ->type_name(value_words::kStrategy)
      ->capture_default_str();
  declare_study(app, options.study);
  app.add_flag("--json", options.json, "one JSON object for each space");
  app.footer(exit_codes({{0, "replayed"}, {2, "bad usage or recording"}}));
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  evo::ReplayOptions options;
  CLI::App app(evo::kAbout, "evo-replay");
  evo::declare(app, options);
  return evo::tool_main(
      "evo-replay", argc, argv, app, [&] { return evo::replay(options); }, evo::value_lists());
}
