// evo-init: writes drafts of the files that describe a tuning problem, from a CUDA source file.

#include "tools/cli/help_format.hpp"
#include "tools/cli/tool_main.hpp"
#include "tools/init/init.hpp"

namespace evo {
namespace {

ExitCode run(int argc, char** argv) {
  InitOptions options;
  CLI::App app(
      "evo-init: writes the problem file and a search space for a CUDA file.\n"
      "Also writes reference.py if needed. Values that follow from the code are filled in; "
      "\"TODO\" marks those that you have to fill in. "
      "Prints the facts found in the code and the lines that you have to fill in.");
  declare(app, options);
  app.set_version_flag("--version", "evo-init " EVO_VERSION);
  app.footer(exit_codes(
      {{0, "written"}, {2, "bad usage or input"}, {3, "NVRTC is missing or cannot be used"}}));
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  return init(std::move(options));
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  return evo::tool_main("evo-init", [&] { return evo::run(argc, argv); });
}
