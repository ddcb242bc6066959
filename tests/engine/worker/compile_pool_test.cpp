// The pool of compiler processes, on a compiler that can crash and hang.

#include "engine/worker/compile_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <map>
#include <thread>

#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "tests/db/sample.hpp"
#include "tests/fakes/fake_program.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Milliseconds = std::chrono::milliseconds;

std::filesystem::path fake_worker() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fake-worker";
}

CompileRequest request(const std::string& bug, int tag = 0) {
  return {{"k.cu", "", {}}, {"k"}, "sm_90", {"-DBUG=" + bug, "-DTAG=" + std::to_string(tag)}};
}

std::map<std::size_t, CompilePool::Finished> collect_all(CompilePool& pool) {
  std::map<std::size_t, CompilePool::Finished> finished;
  while (true) {
    for (auto& done : pool.collect()) finished.emplace(done.ticket, std::move(done));
    if (pool.is_idle()) return finished;
    std::vector<pollfd> entries = pool.interests();
    ::poll(entries.data(), entries.size(), 10);
  }
}

TEST(CompilePool, EveryTicketComesBackWithItsOwnOutcome) {
  for (const std::size_t jobs : {1, 3}) {
    CompilePool pool(fake_worker(), {.jobs = jobs, .limit = Milliseconds(20000)});
    constexpr int kRequests = 40;
    for (int i = 0; i < kRequests; ++i)
      pool.submit(static_cast<std::size_t>(i), request("none", i));
    EXPECT_LE(pool.in_flight(), jobs);
    const auto finished = collect_all(pool);
    ASSERT_EQ(finished.size(), static_cast<std::size_t>(kRequests));
    for (const auto& [ticket, done] : finished) {
      const auto& compiled = std::get<Compiled>(done.outcome);
      EXPECT_EQ(fake::from_ptx(compiled.ptx).defines.at("TAG"), std::to_string(ticket));
      EXPECT_EQ(compiled.resources.registers, 32);
      EXPECT_TRUE(done.reproducible);
    }
  }
}

TEST(CompilePool, AFailureIsARejectionWithTheLog) {
  CompilePool pool(fake_worker(), {.jobs = 1, .limit = Milliseconds(20000)});
  pool.submit(0, request("does_not_compile"));
  const auto finished = collect_all(pool);
  const auto& rejection = std::get<Rejection>(finished.at(0).outcome);
  EXPECT_EQ(rejection.gate, Gate::kBuild);
  EXPECT_EQ(rejection.reason, "k.cu(7): error: planted");
  EXPECT_THAT(rejection.detail, HasSubstr("1 error detected"));
  EXPECT_TRUE(finished.at(0).reproducible);
}

TEST(CompilePool, ACrashCostsOneCandidate) {
  CompilePool pool(fake_worker(), {.jobs = 1, .limit = Milliseconds(20000)});
  pool.submit(0, request("none"));
  pool.submit(1, request("crashes_compiler"));
  pool.submit(2, request("none"));
  const auto finished = collect_all(pool);
  EXPECT_TRUE(std::holds_alternative<Compiled>(finished.at(0).outcome));
  EXPECT_THAT(std::get<Rejection>(finished.at(1).outcome).reason,
              HasSubstr("the compiler crashed: signal 6"));
  EXPECT_FALSE(finished.at(1).reproducible);
  EXPECT_TRUE(std::holds_alternative<Compiled>(finished.at(2).outcome));
}

class CompilePoolRetry : public testing::Test {
 protected:
  CompilePoolRetry() { setenv("EVO_FAKE_STATE", (folder_.path() / "state").c_str(), 1); }
  ~CompilePoolRetry() override { unsetenv("EVO_FAKE_STATE"); }

  CompilePool pool(std::size_t jobs, std::uint64_t memory_bytes = 0) {
    return {fake_worker(),
            {jobs, Milliseconds(20000), memory_bytes,
             [this](const std::string& kind, const std::string& text) {
               events_.push_back(kind + ": " + text);
             }}};
  }

  sample::TemporaryFolder folder_;
  std::vector<std::string> events_;
};

TEST_F(CompilePoolRetry, OneThatSomebodyKilledOrThatFailedOnceCostsNoCandidate) {
  for (const char* bug : {"compiler_is_killed_once", "fails_once"}) {
    std::filesystem::remove(folder_.path() / "state.compiler");
    events_.clear();
    CompilePool compilers = pool(1);
    compilers.submit(0, request(bug));
    const auto finished = collect_all(compilers);
    EXPECT_TRUE(std::holds_alternative<Compiled>(finished.at(0).outcome)) << bug;
    EXPECT_TRUE(finished.at(0).reproducible);
    ASSERT_EQ(events_.size(), 1U);
    EXPECT_THAT(events_[0], HasSubstr("tried once more"));
  }
}

TEST_F(CompilePoolRetry, TheSecondFailureIsTheCandidatesAndNeverKept) {
  for (const auto& [bug, why] :
       {std::pair("compiler_is_killed", "the compiler was killed: signal 15"),
        std::pair("fails", "planted failure of the compiler"),
        std::pair("runs_out_of_memory", "--compiler-gb GB gives it more")}) {
    CompilePool compilers = pool(3);
    for (std::size_t i = 0; i < 6; ++i) compilers.submit(i, request(i == 2 ? bug : "none"));
    const auto finished = collect_all(compilers);
    ASSERT_EQ(finished.size(), 6U);
    EXPECT_THAT(std::get<Rejection>(finished.at(2).outcome).reason, HasSubstr(why));
    EXPECT_FALSE(finished.at(2).reproducible);
    for (const std::size_t i : {0, 1, 3, 4, 5}) {
      EXPECT_TRUE(std::holds_alternative<Compiled>(finished.at(i).outcome)) << bug << i;
    }
  }
}

TEST_F(CompilePoolRetry, MemoryIsLimitedForEveryProcess) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take more address space than any limit";
#endif
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 30;
  CompilePool compilers = pool(1, kLimit);
  compilers.submit(0, request("none"));
  compilers.submit(1, request("compiler_eats_memory"));
  compilers.submit(2, request("none"));
  const auto finished = collect_all(compilers);
  EXPECT_THAT(
      std::get<Rejection>(finished.at(1).outcome).reason,
      AllOf(HasSubstr("ran out of memory"), HasSubstr("with its 1.1 GB, and alone with 2.1 GB")));
  EXPECT_FALSE(finished.at(1).reproducible);
  EXPECT_TRUE(std::holds_alternative<Compiled>(finished.at(2).outcome));
}

TEST_F(CompilePoolRetry, ACompilerThatEndsItselfForWantOfMemoryGetsMoreOnce) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take more address space than any limit";
#endif
  CompilePool compilers = pool(1, std::uint64_t{1} << 30);
  compilers.submit(0, request("aborts_below_2_gib"));
  compilers.submit(1, request("none"));
  compilers.submit(2, request("aborts_below_2_gib"));
  const auto finished = collect_all(compilers);
  for (const std::size_t i : {0, 1, 2}) {
    EXPECT_TRUE(std::holds_alternative<Compiled>(finished.at(i).outcome)) << i;
  }
  EXPECT_EQ(events_.size(), 2U) << "each begins with the memory of everybody";
}

TEST_F(CompilePoolRetry, ACompilerThatAbortsForWantOfMemoryIsNotTheKernelsFault) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take more address space than any limit";
#endif
  CompilePool compilers = pool(1, std::uint64_t{1} << 30);
  testing::internal::CaptureStderr();
  compilers.submit(0, request("aborts_for_memory"));
  compilers.submit(1, request("crashes_compiler"));
  const auto finished = collect_all(compilers);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, testing::Not(HasSubstr("out of memory"))) << "it is in the reason";
  const std::string reason = std::get<Rejection>(finished.at(0).outcome).reason;
  EXPECT_THAT(reason, AllOf(HasSubstr("ran out of memory: with its 1.1 GB, and alone with 2.1 GB"),
                            HasSubstr("--compiler-gb"), HasSubstr("may be right")));
  EXPECT_FALSE(finished.at(0).reproducible);
  EXPECT_THAT(std::get<Rejection>(finished.at(1).outcome).reason,
              HasSubstr("the compiler crashed: signal 6"));
}

TEST(CompilePool, AnyBytesInAReasonAreTextAndItIsNeverEmpty) {
  CompilePool pool(fake_worker(), {.jobs = 1, .limit = Milliseconds(20000)});
  pool.submit(0, request("says_nul"));
  pool.submit(1, request("says_nothing"));
  const auto finished = collect_all(pool);
  EXPECT_EQ(std::get<Rejection>(finished.at(0).outcome).reason, "\\x00ptxas error");
  EXPECT_EQ(std::get<Rejection>(finished.at(0).outcome).detail, "a\\x00\\xff");
  EXPECT_EQ(std::get<Rejection>(finished.at(1).outcome).reason, "no reason was given");
}

TEST(CompilePool, AHangIsKilledAtItsDeadlineWhileOthersGoOn) {
  CompilePool pool(fake_worker(), {.jobs = 2, .limit = Milliseconds(2000)});
  pool.submit(0, request("hangs_compiler"));
  for (std::size_t i = 1; i <= 5; ++i) pool.submit(i, request("none"));
  EXPECT_LE(pool.next_deadline(), std::chrono::steady_clock::now() + Milliseconds(2000));
  const auto finished = collect_all(pool);
  EXPECT_THAT(std::get<Rejection>(finished.at(0).outcome).reason,
              HasSubstr("took longer than 2 s and was killed"));
  EXPECT_FALSE(finished.at(0).reproducible);
  EXPECT_GE(finished.at(0).wall_ms, 2000);
  EXPECT_LT(finished.at(0).wall_ms, 5000);
  for (std::size_t i = 1; i <= 5; ++i) {
    EXPECT_TRUE(std::holds_alternative<Compiled>(finished.at(i).outcome)) << i;
  }
}

TEST(CompilePool, ACompilerThatSeldomGetsAProcessorHasMoreTime) {
  CompilePool pool(fake_worker(), {.jobs = 1, .limit = Milliseconds(2000)});
  pool.submit(0, request("gets_a_quarter_of_a_processor"));
  const auto finished = collect_all(pool);
  EXPECT_TRUE(std::holds_alternative<Compiled>(finished.at(0).outcome));
  EXPECT_GE(finished.at(0).wall_ms, 2900);
}

TEST(CompilePool, WhatIsDoneIsNotLateBecauseNobodyLooked) {
  CompilePool pool(fake_worker(), {.jobs = 1, .limit = Milliseconds(2000)});
  Random random(1);
  std::string text(std::size_t{400} << 10, ' ');  // more than the system keeps between processes
  for (char& c : text) c = static_cast<char>('a' + random.below(26));
  CompileRequest large = request("none");
  large.options.push_back("-DTEXT=" + text);
  pool.submit(0, large);
  const SteadyTime start = std::chrono::steady_clock::now();
  std::vector<CompilePool::Finished> finished;
  while (finished.empty() && std::chrono::steady_clock::now() < start + Milliseconds(1500)) {
    std::vector<pollfd> entries = pool.interests();
    ::poll(entries.data(), entries.size(), 1);
    if ((entries.front().revents & POLLIN) != 0) break;
    finished = pool.collect();
  }
  ASSERT_TRUE(finished.empty());
  std::this_thread::sleep_until(start + Milliseconds(2300));
  finished = pool.collect();
  ASSERT_EQ(finished.size(), 1U);
  ASSERT_TRUE(std::holds_alternative<Compiled>(finished.front().outcome));
  EXPECT_GT(std::get<Compiled>(finished.front().outcome).ptx.size(), text.size());
}

TEST(CompilePool, KnowsTheVersionAndRefusesAWorkerThatIsNone) {
  CompilePool pool(fake_worker(), {.jobs = 1, .limit = Milliseconds(20000)});
  EXPECT_EQ(pool.version(), "fake 1.0");
  CompilePool broken("/bin/false", {.jobs = 1, .limit = Milliseconds(20000)});
  EXPECT_THROW((void)broken.version(), MissingError);
}

}  // namespace
}  // namespace evo
