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
  add_option(app, "space", subject.space, value_words::kSpace,
             "search space: a file, or the name of a shipped one")
      ->required();
  add_option(app, "--device", subject.device, value_words::kDevice, device);
  add_option(app, "--shape", subject.shape, value_words::kShape,
             "shape of the problem (default: the space's)");
}

void declare_rank(CLI::App& app, RankArguments& arguments) {
  arguments.device.clear();
  declare_subject(app, arguments, "virtual:NAME (default: the model of the recorded GPU)");
  add_option(app, "recording", arguments.recording, value_words::kRecording,
             "recorded times of this space (evo-record)")
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
  add_option(app, "--json", arguments.json, value_words::kFile,
             "JSON file to write: the scores, and both times of every candidate");
  auto* figure =
      add_option(app, "--figure", arguments.figure, "NAME",
                 "constant of the time model: also print the scores for each of its --values, "
                 "separately for even and odd candidates, "
                 "to choose a value on one half and test it on the other");
  add_option(app, "--values", arguments.figure_values, "X,X...",
             "values of the constant that --figure names, such as 1,1.1,1.2")
      ->delimiter(',')
      ->needs(figure);
}

void declare_explain(CLI::App& app, ExplainArguments& arguments) {
  arguments.candidate.declare(app);
  declare_subject(app, arguments, "virtual:NAME (default: virtual:h200)");
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

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  CLI::App app(evo::kDescription);
  app.require_subcommand(1);
  app.footer(evo::exit_codes(
      {{0, "answered"}, {2, "bad usage or input"}, {3, "NVRTC is missing or cannot be used"}}));
  evo::RankArguments rank;
  evo::ExplainArguments explained;
  CLI::App& rank_command = *app.add_subcommand(
      "rank",
      "predicts times of recorded candidates and compares their order with the recorded times");
  CLI::App& explain_command = *app.add_subcommand(
      "explain", "shows why the warps of one candidate's kernel wait, by source line");
  evo::declare_rank(rank_command, rank);
  evo::declare_explain(explain_command, explained);
  const auto answer = [&] {
    rank_command.parsed() ? evo::rank_recorded(rank) : evo::explain(explained);
    return evo::ExitCode::kGreen;
  };
  return evo::tool_main("evo-predict", argc, argv, app, answer, evo::value_lists());
}
