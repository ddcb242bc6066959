#include "tools/stop_signals.hpp"

#include <signal.h>
#include <unistd.h>

#include "engine/core/error.hpp"

namespace evo {
namespace {

// Of the signal handler, so they cannot be members.
std::atomic<bool> stop{false};
std::atomic<bool> something_to_save{false};

void on_signal(int) {
  if (stop.exchange(true) || !something_to_save) {
    _exit(static_cast<int>(ExitCode::kInterrupted));
  }
}

}  // namespace

void handle_stop_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;  // without SA_RESTART: a wait ends when a signal comes
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // nohup stays
  }
}

const std::atomic<bool>& stop_requested() { return stop; }

void tell_there_is_something_to_save() { something_to_save = true; }

}  // namespace evo
