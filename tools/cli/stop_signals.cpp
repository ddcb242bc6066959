#include "tools/cli/stop_signals.hpp"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <string_view>

#include "engine/core/error.hpp"

namespace evo {
namespace {

// These variables are global, because the signal handler uses them.
std::atomic<bool> stop{false};
std::atomic<bool> something_to_save{false};
std::atomic<std::int64_t> first_signal_ms{0};

/// Signals within this time (in ms) after the first signal are one request, because `timeout` sends
/// one signal to the process and one to its group, and passes on a signal that the terminal also
/// sends to the process.
constexpr std::int64_t kOneRequestMs = 1000;

std::int64_t now_ms() {
  struct timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

void end_at_once(std::string_view words) {
  (void)!write(STDERR_FILENO, words.data(), words.size());
  _exit(static_cast<int>(ExitCode::kInterrupted));
}

/// The signal handler, which may make only async-signal-safe calls.
void on_signal(int) {
  if (!something_to_save) end_at_once("interrupted before there was anything to save\n");
  if (!stop.exchange(true)) {
    first_signal_ms = now_ms();
  } else if (now_ms() - first_signal_ms >= kOneRequestMs) {
    end_at_once(
        "ended at once by a second signal; stored results are kept: continue with --resume\n");
  }
}

}  // namespace

void handle_stop_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;  // no SA_RESTART, so that a signal ends a wait
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    // A signal that was ignored at the start, such as SIGHUP under nohup, stays ignored.
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

const std::atomic<bool>& stop_requested() { return stop; }

void tell_there_is_something_to_save() { something_to_save = true; }

}  // namespace evo
