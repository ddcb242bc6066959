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
  add_option(app, "--save", options.save, value_words::kFolder,
             "write kernel.ptx, kernel.cubin, kernel.cu and kernel.log to this folder");
  add_option(app, "--baseline", options.baseline, value_words::kFile,
             "compare the kernel with the winner in this database or bundle, timed in turn; "
             "without --set and --milestone, the winner's configuration is judged");
  app.add_flag("--energy", options.energy,
               "launch for one second to measure joules per launch (on a GPU that counts energy)");
  app.add_flag("--profile", options.profile,
               "test the kernel's Nsight Compute counters against \"profile\" of problem.json");
  add_option(
      app, "--outputs", options.outputs, value_words::kFolder,
      "instead of judging the kernel, launch it once on the inputs of the check's first seed, "
      "with outputs zeroed, and write its outputs to FOLDER/NAME.npy "
      "(FOLDER/outputs.json says from which launch they are)")
      ->excludes("--save")
      ->excludes("--baseline")
      ->excludes("--energy")
      ->excludes("--profile");
  app.add_flag("--log", options.log, "print the compiler's log");
  app.add_flag("--json", options.json, "one JSON object on standard output");
  app.footer(exit_codes(
      {{0, "kernel green (--device none: within the policy), and not slower than --baseline"},
       {1, "kernel rejected, or significantly slower than --baseline"},
       {2, "bad usage or input"},
       {3, "the compiler, the driver or the GPU is missing or cannot be used"}}));
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  evo::JudgeOptions options;
  CLI::App app(evo::kDescription);
  evo::declare(app, options);
  return evo::tool_main(
      "evo-judge", argc, argv, app, [&] { return evo::judge(options); },
      evo::SessionOptions::value_lists());
}
