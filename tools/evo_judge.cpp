// evo-judge: runs one configuration through the gates up to the first rejection, and prints all
// results.

#include "tools/cli/help_format.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/tool_main.hpp"
#include "tools/judge/judge.hpp"

namespace evo {
namespace {

constexpr const char* kDescription =
    "evo-judge: runs one configuration through the gates up to the first rejection.\n"
    "Shows all results. "
    "Macros not named by --set keep their default (or the value of --milestone).";

void declare(CLI::App& app, JudgeOptions& options) {
  options.session.declare(app);
  options.candidate.declare(app);
  app.add_option("--check-seed", options.check_seed, "seed of the inputs (default: a new seed)")
      ->transform(seed_number());
  app.add_option("--save", options.save,
                 "write kernel.ptx, kernel.cubin, kernel.cu and kernel.log to this folder")
      ->type_name(value_words::kFolder);
  app.add_option("--baseline", options.baseline,
                 "compare the kernel with the winner in this database or bundle, timed in turn; "
                 "without --set and --milestone, the winner's configuration is judged")
      ->type_name(value_words::kFile);
  app.add_flag("--energy", options.energy,
               "launch for one second to measure joules per launch (on a GPU that counts energy)");
  app.add_flag("--profile", options.profile,
               "test the kernel's Nsight Compute counters against \"profile\" of problem.json");
  app.add_option(
         "--outputs", options.outputs,
         "instead of judging the kernel, launch it once on the inputs of the check's first seed, "
         "with outputs zeroed, and write its outputs to FOLDER/NAME.npy")
      ->type_name(value_words::kFolder)
      ->excludes("--save")
      ->excludes("--baseline")
      ->excludes("--energy")
      ->excludes("--profile");
  app.add_flag("--log", options.log, "print the compiler's log");
  app.add_flag("--json", options.json, "one JSON object on standard output");
  app.set_version_flag("--version", "evo-judge " EVO_VERSION);
  app.footer(exit_codes(
      {{0, "kernel green (--device none: within the policy), and not slower than --baseline"},
       {1, "kernel rejected, or significantly slower than --baseline"},
       {2, "bad usage or input"},
       {3, "the compiler, the driver or the GPU is missing or cannot be used"}}));
}

ExitCode run(int argc, char** argv) {
  JudgeOptions options;
  CLI::App app(kDescription);
  declare(app, options);
  if (const auto done = parse_command_line(app, argc, argv, SessionOptions::value_lists()))
    return *done;
  return judge(options);
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("evo-judge", [&] { return evo::run(argc, argv); });
}
