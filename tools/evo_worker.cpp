// evo-worker: the worker processes of the other programs, for example to compile kernels or to run
// kernels on a device. The other programs start evo-worker and communicate with it over standard
// input and output. With --connect, a user or a launcher starts evo-worker, and evo-worker serves a
// run on another host.

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "engine/core/error.hpp"
#include "tools/worker/roles.hpp"

int main(int argc, char** argv) {
  const bool wants_help = std::any_of(argv + 1, argv + argc, [](std::string_view word) {
    return word == "--help" || word == "-h";
  });
  if (!wants_help) {
    if (const auto code = evo::serve_role({argv, static_cast<std::size_t>(argc)})) return *code;
  }
  std::FILE* const out = wants_help ? stdout : stderr;
  std::fputs(
      "usage: evo-worker compile | evo-worker device ID [--spare] | evo-worker profile ID FILE |\n"
      "       evo-worker survey nvml|cuda|nvrtc | evo-worker gateway\n"
      "The other programs start evo-worker. "
      "To provide workers to a run on another host (docs/cluster.md):\n"
      "       evo-worker device [ID[,ID]] --connect HOST:PORT [--key-stdin]\n"
      "       evo-worker compile --connect HOST:PORT [--jobs N|all] [--key-stdin]\n"
      "       evo-worker host --connect HOST:PORT [--device ID[,ID]] [--jobs N|all] "
      "[--key-stdin]\n"
      "          (--device, --jobs or both are required)\n",
      out);
  const bool is_told = std::fflush(out) == 0;
  return static_cast<int>(wants_help && is_told ? evo::ExitCode::kGreen : evo::ExitCode::kBadInput);
}
