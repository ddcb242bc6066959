// evo-predict: what predicted times are worth, and what they are made of.
#include "tools/evo_predict.hpp"

#include <CLI/CLI.hpp>

#include "tools/number_options.hpp"
#include "tools/tool_main.hpp"

namespace evo {
namespace {

constexpr const char* kDescription =
    "evo-predict: what predicted times are worth, and what they are made of. Needs no GPU.";

void declare_rank(CLI::App& app, RankArguments& arguments) {
  app.add_option("space", arguments.space, "search space: a file, or the name of a shipped one")
      ->required();
  app.add_option("recording", arguments.recording, "measured times of it (evo-record)")->required();
  app.add_option("--device", arguments.device, "virtual:NAME, of the card that was recorded")
      ->capture_default_str();
  app.add_option("--shape", arguments.shape, "of the problem file (default: the space's)");
  app.add_option("--count", arguments.count, "candidates, drawn from those that ran")
      ->capture_default_str()
      ->transform(whole_number(1, 1000000));
  app.add_option("--seed", arguments.seed, "of the draw")
      ->capture_default_str()
      ->transform(seed_number());
  app.add_option("--threads", arguments.threads, "of the host")
      ->capture_default_str()
      ->transform(whole_number(1, 256));
  app.add_option("--json", arguments.json, "file for the scores and every candidate, to plot");
  auto* figure =
      app.add_option("--figure", arguments.figure,
                     "of the device: scores with other values of it, too, of even and of "
                     "odd candidates, so that one half can judge what the other chose");
  app.add_option("--values", arguments.figure_values, "that it takes, e.g. 1,1.1,1.2")
      ->delimiter(',')
      ->needs(figure);
}

void declare_explain(CLI::App& app, ExplainArguments& arguments) {
  app.add_option("space", arguments.space, "search space: a file, or the name of a shipped one")
      ->required();
  app.add_option("--set", arguments.settings, "MACRO=VALUE …; the others keep their default")
      ->expected(1, -1);
  app.add_option("--milestone", arguments.milestone, "start from this milestone of the space");
  app.add_option("--device", arguments.device, "virtual:NAME")->capture_default_str();
  app.add_option("--shape", arguments.shape, "of the problem file (default: the space's)");
  app.add_option("--lines", arguments.lines, "lines of the source that are shown")
      ->capture_default_str()
      ->transform(whole_number(1, 100000));
  app.add_flag("--json", arguments.json, "one JSON object on standard output");
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  CLI::App app(evo::kDescription);
  app.set_version_flag("--version", "evo-predict " EVO_VERSION);
  app.require_subcommand(1);
  evo::RankArguments rank;
  evo::ExplainArguments explain;
  CLI::App& rank_command = *app.add_subcommand(
      "rank", "predicts candidates of a recorded space and says how well that ranks them");
  CLI::App& explain_command = *app.add_subcommand(
      "explain", "what the warps of one candidate wait for, by line of its source");
  evo::declare_rank(rank_command, rank);
  evo::declare_explain(explain_command, explain);
  return evo::tool_main("evo-predict", [&] {
    if (const auto done = evo::parse_command_line(app, argc, argv)) return *done;
    if (rank_command.parsed()) evo::rank_recorded(rank);
    if (explain_command.parsed()) evo::explain(explain);
    return evo::ExitCode::kGreen;
  });
}
