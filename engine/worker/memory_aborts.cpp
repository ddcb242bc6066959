#include "engine/worker/memory_aborts.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine/worker/limits.hpp"

// The signal handler in this file calls only async-signal-safe functions: no allocation, no stdio,
// no lock.

namespace evo {
namespace {

/// The signal handler has its own stack, because the stack of a process that ran out of memory may
/// be unusable.
constexpr std::size_t kHandlerStackBytes = std::size_t{64} << 10;
constexpr std::array kSignals = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP};

struct State {
  int held = -1;      ///< the read end of the pipe that replaces standard error
  int messages = -1;  ///< the original standard error
  std::uint64_t limit = 0;
};
State state;

bool speaks_of_memory(std::string_view text) {
  constexpr std::string_view kTexts[] = {"out of memory", "Out of memory", "bad_alloc",
                                         "memory allocation"};
  return std::ranges::any_of(
      kTexts, [&](std::string_view one) { return text.find(one) != std::string_view::npos; });
}

/// True if the process uses more than 7/8 of its address space limit. The first number in
/// /proc/self/statm is the size of the address space in pages.
bool is_address_space_nearly_full() {
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[64];
  const ssize_t size = read(file, text, sizeof text);
  close(file);
  std::uint64_t pages = 0;
  for (ssize_t i = 0; i < size && text[i] >= '0' && text[i] <= '9'; ++i)
    pages = pages * 10 + static_cast<std::uint64_t>(text[i] - '0');
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) > state.limit - state.limit / 8;
}

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(state.messages, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Writes the buffered messages to the original standard error. If `leaves_out_memory` is true,
/// drops the first message about memory and all later messages. Returns true if there is a message
/// about memory.
bool read_messages(bool leaves_out_memory) {
  bool is_about_memory = false;
  char text[4096];
  for (ssize_t size = read(state.held, text, sizeof text); size > 0;
       size = read(state.held, text, sizeof text)) {
    const std::string_view part(text, static_cast<std::size_t>(size));
    is_about_memory = is_about_memory || speaks_of_memory(part);
    if (!leaves_out_memory || !is_about_memory) write_all(part);
  }
  return is_about_memory;
}

void on_signal(int number) {
  if (read_messages(true) || is_address_space_nearly_full()) _exit(kOutOfMemoryExit);
  signal(number, SIG_DFL);
  raise(number);
}

}  // namespace

void watch_for_memory_aborts() {
  state.limit = address_space_limit();
  int pipe_ends[2];
  if (state.limit == 0 || pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  state.messages = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (state.messages < 0) return;
  state.held = pipe_ends[0];
  dup2(pipe_ends[1], STDERR_FILENO);
  close(pipe_ends[1]);
  std::atexit(pass_on_messages);
  static std::array<char, kHandlerStackBytes> stack;
  const stack_t other{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  for (const int number : kSignals) sigaction(number, &action, nullptr);
}

void pass_on_messages() {
  if (state.held >= 0) (void)read_messages(false);
}

}  // namespace evo
