// evo-predict: tests the quality of predicted times and explains them.

#include "tools/cli/help_format.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/tool_main.hpp"
#include "tools/cli/value_lists.hpp"
#include "tools/predict/predict.hpp"

namespace evo {
namespace {

constexpr const char* kDescription =
    "evo-predict: tests the quality of predicted times, and explains them.\nNeeds no GPU.";

void declare_subject(CLI::App& app, PredictionSubject& subject, const char* device) {
  app.add_option("space", subject.space, "search space: a file, or the name of a shipped one")
      ->type_name(value_words::kSpace)
      ->required();
  app.add_option("--device", subject.device, device)
      ->type_name(value_words::kDevice)
      ->capture_default_str();
  app.add_option("--shape", subject.shape, "shape of the problem (default: the space's)")
      ->type_name(value_words::kShape);
}

void declare_rank(CLI::App& app, RankArguments& arguments) {
  declare_subject(app, arguments, "virtual:NAME, the model of the GPU that was recorded");
  app.add_option("recording", arguments.recording, "recorded times of this space (evo-record)")
      ->type_name(value_words::kRecording)
      ->required();
  app.add_option("--count", arguments.count,
                 "number of candidates, drawn at random from those with a recorded time")
      ->capture_default_str()
      ->transform(whole_number(1, 1000000));
  app.add_option("--seed", arguments.seed, "seed of the random choice")
      ->capture_default_str()
      ->transform(seed_number());
  app.add_option("--threads", arguments.threads, "threads of the host")
      ->capture_default_str()
      ->transform(whole_number(1, 256));
  app.add_option("--json", arguments.json,
                 "JSON file to write: the scores, and both times of every candidate")
      ->type_name(value_words::kFile);
  auto* figure =
      app.add_option("--figure", arguments.figure,
                     "constant of the time model: also print the scores for each of its --values, "
                     "separately for even and odd candidates, "
                     "to choose a value on one half and test it on the other")
          ->type_name("NAME");
  app.add_option("--values", arguments.figure_values,
                 "values of the constant that --figure names, such as 1,1.1,1.2")
      ->type_name("X,X...")
      ->delimiter(',')
      ->needs(figure);
}

void declare_explain(CLI::App& app, ExplainArguments& arguments) {
  arguments.candidate.declare(app);
  declare_subject(app, arguments, "virtual:NAME");
  app.add_option("--lines", arguments.lines, "number of source lines that are printed")
      ->capture_default_str()
      ->transform(whole_number(1, 100000));
  app.add_flag("--json", arguments.json, "one JSON object on standard output");
}

ValueLists value_lists() {
  ValueLists lists = space_values();
  lists[value_words::kDevice] = virtual_device_values();
  return lists;
}

ExitCode run(int argc, char** argv) {
  CLI::App app(kDescription);
  app.set_version_flag("--version", "evo-predict " EVO_VERSION);
  app.require_subcommand(1);
  app.footer(exit_codes(
      {{0, "answered"}, {2, "bad usage or input"}, {3, "NVRTC is missing or cannot be used"}}));
  RankArguments rank;
  ExplainArguments explained;
  CLI::App& rank_command = *app.add_subcommand(
      "rank",
      "predicts times of recorded candidates and compares their order with the recorded times");
  declare_rank(rank_command, rank);
  declare_explain(
      *app.add_subcommand("explain",
                          "shows why the warps of one candidate's kernel wait, by source line"),
      explained);
  if (const auto done = parse_command_line(app, argc, argv, value_lists())) return *done;
  rank_command.parsed() ? rank_recorded(rank) : explain(explained);
  return ExitCode::kGreen;
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("evo-predict", [&] { return evo::run(argc, argv); });
}
