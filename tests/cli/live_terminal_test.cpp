// Tests how the live view of evo-tune looks on a pseudo terminal, and interruptions by its keys.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "engine/core/json_reader.hpp"
#include "tests/cli/fake_session.hpp"

namespace evo {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Interprets the output of evo-tune as a terminal does, and keeps the lines that the user would
/// see. Supports characters, carriage return, line feed, cursor up, erase to the end, and colors.
class Screen {
 public:
  explicit Screen(std::size_t width) : width_(width) {}
  void resize(std::size_t width) { width_ = width; }

  void write(const std::string& text) {
    for (std::size_t i = 0; i < text.size();) i = put(text, i);
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const auto& row : rows_) {
      std::string line;
      for (const std::string& cell : row) line += cell;
      lines.push_back(line);
    }
    return lines;
  }
  [[nodiscard]] std::size_t wrapped() const { return wrapped_; }
  [[nodiscard]] bool has_color() const { return has_color_; }

 private:
  std::size_t put(const std::string& text, std::size_t i) {
    if (text[i] == '\r') return column_ = 0, i + 1;
    if (text[i] == '\n') return new_line(), i + 1;  // the terminal driver inserts \r before it
    if (text[i] == '\033') return escape(text, i + 2);
    std::size_t end = i + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    if (column_ == width_) {
      ++wrapped_;
      column_ = 0;
      new_line();
    }
    auto& row = rows_[row_];
    if (row.size() <= column_) row.resize(column_ + 1, " ");
    row[column_++] = text.substr(i, end - i);
    return end;
  }
  void new_line() {
    if (++row_ == rows_.size()) rows_.emplace_back();
  }
  std::size_t escape(const std::string& text, std::size_t i) {
    std::size_t number = 0;
    while (i < text.size() && (std::isdigit(text[i]) != 0 || text[i] == ';')) {
      number = text[i] == ';' ? 0 : number * 10 + static_cast<std::size_t>(text[i] - '0');
      ++i;
    }
    if (i >= text.size()) return i;
    if (text[i] == 'A') row_ -= std::min(number, row_);
    if (text[i] == 'J') {
      rows_.resize(row_ + 1);
      rows_[row_].resize(std::min(rows_[row_].size(), column_), " ");
    }
    has_color_ = has_color_ || text[i] == 'm';
    return i + 1;
  }

  std::size_t width_;
  std::vector<std::vector<std::string>> rows_{1};
  std::size_t row_ = 0;
  std::size_t column_ = 0;
  std::size_t wrapped_ = 0;
  bool has_color_ = false;
};

/// An environment that makes compilations slow, so that even a busy machine draws the view often
/// before the run ends.
constexpr const char* kSlow = "TERM=xterm NO_COLOR= EVO_FAKE_COMPILE_MS=150";

/// Runs evo-tune in a pseudo terminal, which receives the standard error.
class OnATerminal {
 public:
  OnATerminal(const FakeSession& session, unsigned short columns, const std::string& environment,
              const std::string& more)
      : screen(columns) {
    winsize size{24, columns, 0, 0};
    process_ = forkpty(&terminal_, nullptr, nullptr, &size);
    if (process_ == 0) {
      const std::string command =
          "cd '" + session.folder() + "' && exec env EVO_FAKE_COMPILE_MS=30 " +
          session.environment() + " " + environment + " " + program_folder().string() + "/" +
          FakeSession::tune("--generations 4 --offspring 4 " + more) + " > out.txt";
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(127);
    }
  }
  ~OnATerminal() {
    if (terminal_ >= 0) ::close(terminal_);
  }
  OnATerminal(const OnATerminal&) = delete;
  OnATerminal& operator=(const OnATerminal&) = delete;

  /// Reads the output of evo-tune until `is_enough` returns true or evo-tune ends. Returns the last
  /// result of `is_enough`.
  bool read_until(const std::function<bool()>& is_enough) {
    std::array<char, 4096> chunk{};
    while (!is_enough()) {
      const ssize_t count = ::read(terminal_, chunk.data(), chunk.size());
      if (count <= 0) return is_enough();
      const std::string text(chunk.data(), static_cast<std::size_t>(count));
      raw += text;
      screen.write(text);
    }
    return true;
  }
  /// The percentage that the progress bar shows; -1 if the screen has no progress bar.
  [[nodiscard]] int percent() const {
    for (const std::string& line : screen.lines()) {
      const std::size_t end = line.find(" % ");
      if (line.starts_with("generation ") && end != std::string::npos) {
        return std::stoi(line.substr(end - 3, 3));
      }
    }
    return -1;
  }
  /// Waits until evo-tune has installed its handler of Ctrl-C. On a busy machine, the shell that
  /// starts evo-tune may take longer than the time until a test presses Ctrl-C.
  void await_signal_handler() const {
    constexpr std::uint64_t kInterruptBit = 1U << (SIGINT - 1);
    const std::string file = "/proc/" + std::to_string(process_) + "/status";
    while (true) {
      std::ifstream in(file);
      const std::string status{std::istreambuf_iterator<char>(in), {}};
      const std::size_t at = status.find("SigCgt:");
      if (at == std::string::npos) return;  // the process has ended
      const bool is_evo_tune = status.starts_with("Name:\tevo-tune\n");
      const std::uint64_t caught = std::stoull(status.substr(at + 7), nullptr, 16);
      if (is_evo_tune && (caught & kInterruptBit) != 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  /// Sends Ctrl-C to the terminal, which then interrupts evo-tune.
  void press_control_c() { ASSERT_EQ(::write(terminal_, "\x03", 1), 1); }
  void resize(unsigned short columns) {
    winsize size{24, columns, 0, 0};
    ioctl(terminal_, TIOCSWINSZ, &size);
    screen.resize(columns);
  }
  int finish() {
    (void)read_until([] { return false; });
    int status = 0;
    waitpid(process_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }
  /// How often evo-tune has drawn the view.
  [[nodiscard]] std::size_t drawings() const {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = raw.find("\033[J", at)) != std::string::npos; ++at) ++count;
    return count;
  }
  [[nodiscard]] bool shows(const std::string& text) const {
    return testing::Matches(testing::Contains(HasSubstr(text)))(screen.lines());
  }

  Screen screen;
  std::string raw;

 private:
  int terminal_ = -1;
  pid_t process_ = -1;
};

TEST(LiveTerminal, TheViewIsDrawnInPlaceAndLeavesALine) {
  for (const unsigned short columns : {std::uint16_t{40}, std::uint16_t{120}}) {
    const FakeSession session;
    OnATerminal run(session, columns, kSlow, "");
    // The test waits for several drawings, because on a busy machine the view skips some
    // generations.
    ASSERT_TRUE(run.read_until([&] { return run.shows("best p50") && run.drawings() >= 5; }));
    const std::vector<std::string> lines = run.screen.lines();
    EXPECT_EQ(std::ranges::count_if(
                  lines, [](const auto& line) { return line.starts_with("generation "); }),
              1)
        << "evo-tune draws the view in place";
    EXPECT_TRUE(run.shows("compilers "));
    EXPECT_EQ(run.shows("in flight "), columns == 120);
    EXPECT_TRUE(run.screen.has_color());
    EXPECT_EQ(run.finish(), 0);
    EXPECT_TRUE(run.shows("generation 4/4 · "));
    EXPECT_FALSE(run.shows("compilers 0/2")) << "the view is erased";
    EXPECT_TRUE(run.shows("candidates/s"));
  }
}

TEST(LiveTerminal, SaysThatItCompilesBeforeThereIsAnything) {
  const FakeSession session;
  OnATerminal run(session, 80, "TERM=xterm EVO_FAKE_COMPILE_MS=500",
                  "--generations 1 --offspring 4");
  EXPECT_TRUE(run.read_until([&] { return run.shows("compiling the first candidates ░"); }));
  EXPECT_FALSE(run.shows("evaluated"));
  EXPECT_TRUE(run.read_until([&] { return run.shows("compilers 2/2"); }));
  EXPECT_EQ(run.finish(), 0);
  EXPECT_TRUE(run.shows("generation 1/1 · "));
}

TEST(LiveTerminal, TheBarFollowsTheEvaluationsOrTheTime) {
  const FakeSession session;
  OnATerminal run(session, 80, kSlow, "--generations 1 --offspring 12");
  ASSERT_TRUE(run.read_until([&] { return run.shows("evaluated"); }));
  EXPECT_FALSE(run.shows("100 %"));
  EXPECT_TRUE(run.read_until([&] { return run.shows("/s"); }));
  EXPECT_EQ(run.finish(), 0);

  OnATerminal timed(session, 80, kSlow, "--generations 1000 --max-seconds 4 --db timed.db");
  ASSERT_TRUE(timed.read_until([&] { return timed.shows("evaluated"); }));
  // The bar follows --max-seconds. If the bar followed the number of evaluations, it would stay at
  // a low percentage for minutes.
  EXPECT_TRUE(timed.shows("0:0")) << timed.raw;
  EXPECT_TRUE(timed.read_until([&] { return timed.percent() >= 40; })) << timed.raw;
  EXPECT_EQ(timed.finish(), 0);
}

/// Starts a run and presses Ctrl-C `after_ms` after evo-tune can receive it, `keys` times with 20
/// ms in between. Expects that the run stops with a message and can be resumed.
void interrupt_and_resume(int after_ms, int keys) {
  SCOPED_TRACE(std::to_string(after_ms) + " ms, keys: " + std::to_string(keys));
  const FakeSession session;
  OnATerminal run(session, 100, kSlow, "--generations 6");
  std::thread keyboard([&] {
    run.await_signal_handler();
    std::this_thread::sleep_for(std::chrono::milliseconds(after_ms));
    for (int key = 0; key < keys; ++key) {
      run.press_control_c();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  const int code = run.finish();
  keyboard.join();
  const std::string printed = read_text_file(std::filesystem::path(session.folder()) / "out.txt");
  if (code == 0) return;  // the run had ended before Ctrl-C
  EXPECT_EQ(code, 130);
  EXPECT_FALSE(run.shows("in flight ")) << "the view is erased";
  const bool has_run =
      !Store::open(session.path("evo.db")).runs().empty();  // false: an empty database
  EXPECT_EQ(run.shows("continue with --resume"), has_run) << run.raw;
  EXPECT_TRUE(run.shows("interrupted")) << run.raw;
  if (!has_run) return;
  const ProgramResult elite = session.run("evo-elite");
  if (elite.exit_code == 0) {
    EXPECT_EQ(printed.substr(0, elite.out.size()), elite.out);
  }
  const ProgramResult resumed = session.run(FakeSession::tune("--resume"));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
}

/// Makes ten runs and interrupts each at another instant. The runs are not parallel, because a busy
/// machine may delay the second of two keys so much that evo-tune counts two interruptions.
void interrupt_at_ten_instants(int keys) {
  for (int instant = 0; instant < 10; ++instant) interrupt_and_resume(230 * instant, keys);
}

TEST(LiveTerminal, AnInterruptionAtAnyInstantSaysWhatIsThereAndCanBeResumed) {
  interrupt_at_ten_instants(1);
}

TEST(LiveTerminal, TwoKeysAreOneInterruption) { interrupt_at_ten_instants(2); }

TEST(LiveTerminal, TheViewSaysWhichSearchItShows) {
  const FakeSession session;
  OnATerminal run(session, 100, kSlow, session.all_of_two_builds() + "--generations 1");
  EXPECT_TRUE(run.read_until([&] { return run.shows("search 1/2 · generation "); })) << run.raw;
  EXPECT_TRUE(run.read_until([&] { return run.shows("search 2/2 · "); })) << run.raw;
  EXPECT_EQ(run.finish(), 0);
  EXPECT_TRUE(run.shows("search 1/2 · generation 1/1 · ") &&
              run.shows("search 2/2 · generation 1/1 · "));
}

TEST(LiveTerminal, NoLineOfTheViewWraps) {
  const FakeSession session;
  OnATerminal run(session, 40, kSlow, "");
  ASSERT_TRUE(run.read_until([&] { return run.shows("run 1: "); }));
  ASSERT_TRUE(run.read_until([&] { return run.shows("compilers "); }));
  const std::size_t before = run.screen.wrapped();
  const std::size_t drawings = run.drawings();
  ASSERT_TRUE(run.read_until([&] { return run.drawings() >= drawings + 4; }));
  EXPECT_EQ(run.screen.wrapped(), before);
  EXPECT_EQ(run.finish(), 0);
}

TEST(LiveTerminal, AResizedTerminalIsDrawnAsItIsNow) {
  const FakeSession session;
  OnATerminal run(session, 40, kSlow, "");
  ASSERT_TRUE(run.read_until([&] { return run.shows("best p50"); }));
  EXPECT_FALSE(run.shows("in flight "));
  run.resize(120);
  EXPECT_TRUE(run.read_until([&] { return run.shows("in flight "); }));
  EXPECT_EQ(run.finish(), 0);
}

TEST(LiveTerminal, NoColorAsksForNone) {
  const FakeSession session;
  OnATerminal run(session, 80, "TERM=xterm NO_COLOR=1", "");
  EXPECT_EQ(run.finish(), 0);
  EXPECT_FALSE(run.screen.has_color());
  EXPECT_THAT(run.raw, HasSubstr("\033[J"));
}

TEST(LiveTerminal, ADumbTerminalGetsLines) {
  const FakeSession session;
  for (const char* term : {"TERM=dumb", "TERM="}) {
    OnATerminal run(session, 80, term, "--db " + std::string(term).substr(5) + "x.db");
    EXPECT_EQ(run.finish(), 0);
    EXPECT_THAT(run.raw, Not(HasSubstr("\033")));
    for (int generation = 1; generation <= 4; ++generation) {
      EXPECT_TRUE(run.shows("generation " + std::to_string(generation) + "/4 · "));
    }
  }
}

TEST(LiveTerminal, JsonAndQuietDrawNothing) {
  const FakeSession session;
  for (const char* option : {"--json", "--quiet"}) {
    OnATerminal run(session, 80, "TERM=xterm", option);
    EXPECT_EQ(run.finish(), 0);
    EXPECT_EQ(run.raw, "");
  }
}

}  // namespace
}  // namespace evo
