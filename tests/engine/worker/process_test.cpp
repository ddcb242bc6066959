#include "engine/worker/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "engine/core/error.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::HasSubstr;
using Milliseconds = std::chrono::milliseconds;

const std::filesystem::path kShell = "/bin/sh";
constexpr Milliseconds kPatience{5000};

WorkerProcess shell(const std::string& script) { return {kShell, {"-c", script}}; }

TEST(WorkerProcess, SaysHowItEnded) {
  for (const auto& [script, ending] :
       {std::pair("exit 3", "exit code 3"), std::pair("exit 0", "exit code 0"),
        std::pair("kill -SEGV $$", "signal 11 (Segmentation fault)"),
        std::pair("kill -ABRT $$", "signal 6 (Aborted)")}) {
    WorkerProcess process = shell(script);
    EXPECT_FALSE(process.wait(kPatience).has_value());
    EXPECT_FALSE(process.is_open());
    EXPECT_EQ(process.kill().text, ending);
  }
}

TEST(WorkerProcess, OneThatRunsIsKilled) {
  WorkerProcess process = shell("exec sleep 1000");
  EXPECT_FALSE(process.wait(Milliseconds(20)).has_value());
  EXPECT_TRUE(process.is_open());
  EXPECT_EQ(process.kill().text, "signal 9 (Killed)");
  EXPECT_EQ(process.kill().text, "not running");
}

TEST(WorkerProcess, EchoesMessages) {
  WorkerProcess process("/bin/cat", {});
  const nlohmann::json message = {{"op", "x"}, {"data", to_binary(std::string(300000, '\7'))}};
  // The worker is `cat`, which sends every message back.
  ASSERT_TRUE(process.send({{"op", "small"}}));
  EXPECT_EQ(process.wait(kPatience), nlohmann::json({{"op", "small"}}));
  ASSERT_TRUE(process.send(message));
  EXPECT_EQ(process.wait(kPatience), message);
}

TEST(WorkerProcess, SendingNeverWaitsAndTheRestGoesOutLater) {
  WorkerProcess process("/bin/cat", {});
  ::kill(process.number(), SIGSTOP);
  // The message is far larger than the buffer of a socket.
  const nlohmann::json message = {{"data", to_binary(std::string(8 << 20, '\7'))}};
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(process.send(message));
  ASSERT_TRUE(process.send({{"op", "second"}}));
  EXPECT_LT(std::chrono::steady_clock::now() - start, Milliseconds(2000));
  EXPECT_NE(process.interest().events & POLLOUT, 0);
  EXPECT_FALSE(process.wait(Milliseconds(50)).has_value());
  ::kill(process.number(), SIGCONT);
  EXPECT_EQ(process.wait(kPatience), message);
  EXPECT_EQ(process.wait(kPatience), nlohmann::json({{"op", "second"}}));
  EXPECT_EQ(process.interest().events & POLLOUT, 0);
}

TEST(WorkerProcess, KnowsWhoEndedIt) {
  WorkerProcess killed = shell("kill -KILL $$");
  (void)killed.wait(kPatience);
  EXPECT_TRUE(killed.kill().killed_from_outside);
  WorkerProcess crashed = shell("kill -SEGV $$");
  (void)crashed.wait(kPatience);
  EXPECT_FALSE(crashed.kill().killed_from_outside);
  WorkerProcess running = shell("exec sleep 1000");
  EXPECT_FALSE(running.kill().killed_from_outside);
  WorkerProcess stopped = shell("kill -STOP $$");
  (void)stopped.wait(Milliseconds(200));
  const Ending ending = stopped.kill();
  EXPECT_TRUE(ending.killed_from_outside);
  EXPECT_EQ(ending.text, "stopped by a signal from outside");
}

TEST(WorkerProcess, CannotWriteFilesWhereItMustNot) {
  const sample::TemporaryFolder folder;
  const std::string file = folder.path() / "written";
  WorkerProcess process(kShell, {"-c", "echo text > '" + file + "'; exit 4"}, {0, false});
  (void)process.wait(kPatience);
  EXPECT_EQ(process.kill().text, "exit code 4");
  EXPECT_EQ(std::filesystem::file_size(file), 0U);
}

TEST(WorkerProcess, NothingIsLoadedIntoOneThatMustNotWrite) {
  setenv("LD_PRELOAD", "libm.so.6", 1);
  const std::vector<std::string> script = {"-c", "test -n \"$LD_PRELOAD\""};
  WorkerProcess free(kShell, script);
  WorkerProcess bound(kShell, script, {0, false});
  unsetenv("LD_PRELOAD");
  (void)free.wait(kPatience);
  (void)bound.wait(kPatience);
  EXPECT_EQ(free.kill().text, "exit code 0");
  EXPECT_EQ(bound.kill().text, "exit code 1");
}

TEST(WorkerProcess, OneThatIsToFinishEndsByItselfOrIsKilled) {
  const sample::TemporaryFolder folder;
  const std::string file = folder.path() / "written";
  WorkerProcess willing = shell("cat > /dev/null; echo text > '" + file + "'");
  willing.finish(kPatience);
  EXPECT_EQ(willing.number(), -1);
  EXPECT_EQ(std::filesystem::file_size(file), 5U);
  WorkerProcess stubborn = shell("exec sleep 1000");
  const auto start = std::chrono::steady_clock::now();
  stubborn.finish(Milliseconds(50));
  EXPECT_EQ(stubborn.number(), -1);
  EXPECT_LT(std::chrono::steady_clock::now() - start, kPatience);
}

TEST(WorkerProcess, AProgramThatIsNotThereEndsAtOnce) {
  WorkerProcess process("/nonexistent/worker", {});
  EXPECT_FALSE(process.wait(kPatience).has_value());
  EXPECT_EQ(process.kill().text, "exit code 127");
}

TEST(WorkerProcess, SendingToOneThatIsGoneIsFalseAndNotASignal) {
  WorkerProcess process = shell("exit 0");
  (void)process.wait(kPatience);
  EXPECT_FALSE(process.send({{"op", "x"}}));
}

TEST(WorkerProcess, NoiseIsAnError) {
  WorkerProcess process = shell("printf 'Segmentation fault'; exec sleep 10");
  EXPECT_THROW((void)process.wait(kPatience), Error);
}

/// The process id that the worker, a shell, reports before it sleeps.
pid_t number_of(WorkerProcess& process) {
  // A shell cannot easily write {"pid": N} in MessagePack, so the worker writes a frame whose value
  // is only the integer.
  const auto message = process.wait(kPatience);
  return message ? message->get<pid_t>() : -1;
}

constexpr const char* kTellNumber =
    "n=$$; printf '\\011\\000\\000\\000\\005\\000\\000\\000\\316';"
    "for s in 24 16 8 0; do printf \"\\\\$(printf %03o $(( (n >> s) & 255 )))\"; done;"
    "exec sleep 1000";

bool is_alive(pid_t process) { return ::kill(process, 0) == 0; }

bool dies_soon(pid_t process) {
  constexpr int kLooks = 300;
  for (int i = 0; i < kLooks; ++i) {
    if (!is_alive(process)) return true;
    usleep(10000);
  }
  return false;
}

TEST(WorkerProcess, GoesWithItsObject) {
  pid_t number = -1;
  {
    WorkerProcess process = shell(kTellNumber);
    number = number_of(process);
    ASSERT_GT(number, 0);
    WorkerProcess moved = std::move(process);
    EXPECT_TRUE(is_alive(number));
  }
  EXPECT_TRUE(dies_soon(number));
}

TEST(WorkerProcess, GoesWithItsParentThoughThatWasKilled) {
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    WorkerProcess process = shell(kTellNumber);
    const pid_t number = number_of(process);
    if (write(ends[1], &number, sizeof number) != sizeof number) _exit(1);
    while (true) pause();
  }
  pid_t number = -1;
  ASSERT_EQ(read(ends[0], &number, sizeof number), static_cast<ssize_t>(sizeof number));
  ASSERT_GT(number, 0);
  EXPECT_TRUE(is_alive(number));
  ::kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_TRUE(dies_soon(number));
  close(ends[0]);
  close(ends[1]);
}

TEST(WorkerProgram, IsNamedByTheEnvironment) {
  setenv("EVO_WORKER", "/bin/cat", 1);
  EXPECT_EQ(worker_program(), "/bin/cat");
  setenv("EVO_WORKER", "/nonexistent/worker", 1);
  EXPECT_THROW((void)worker_program(), MissingError);
  unsetenv("EVO_WORKER");
}

TEST(SecondsText, NamesShortLimits) {
  EXPECT_EQ(seconds_text(Milliseconds(10000)), "10 s");
  EXPECT_EQ(seconds_text(Milliseconds(400)), "0.4 s");
}

}  // namespace
}  // namespace evo
