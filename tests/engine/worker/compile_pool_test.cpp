// Tests the pool of compiler processes with a fake compiler that can crash and hang.

#include "engine/worker/compile_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

/// A pool of fake compiler processes with its own event loop.
class Pool {
 public:
  explicit Pool(CompilePoolOptions options) : pool_(loop_, fake_worker(), std::move(options)) {}
  ~Pool() { loop_.end_all(); }

  /// Compiles all requests in parallel. Returns the outcomes in the order of the requests.
  std::vector<CompilePool::Finished> compile(const std::vector<CompileRequest>& requests) {
    std::vector<CompilePool::Finished> finished(requests.size());
    loop_.run(compile_all(requests, finished));
    return finished;
  }
  CompilePool::Finished compile(const CompileRequest& one) { return compile(std::vector{one})[0]; }
  [[nodiscard]] std::size_t most_at_once() const { return most_; }

 private:
  Task<> compile_one(CompileRequest one, CompilePool::Finished& finished) {
    finished = co_await pool_.compile(std::move(one));
    most_ = std::max(most_, pool_.in_flight());
    if (--left_ == 0) done_.notify();
  }
  Task<> compile_all(const std::vector<CompileRequest>& requests,
                     std::vector<CompilePool::Finished>& finished) {
    left_ = requests.size();
    for (std::size_t i = 0; i < requests.size(); ++i) {
      loop_.spawn(compile_one(requests[i], finished[i]));
    }
    while (left_ > 0) co_await done_.wait();
  }

  SystemLoop loop_;
  CompilePool pool_;
  Event done_{loop_};
  std::size_t left_ = 0;
  std::size_t most_ = 0;
};

TEST(CompilePool, EveryRequestComesBackWithItsOwnOutcome) {
  for (const std::size_t jobs : {1, 3}) {
    Pool pool({.jobs = jobs, .limit = Milliseconds(20000)});
    std::vector<CompileRequest> requests;
    for (int i = 0; i < 40; ++i) requests.push_back(request("none", i));
    const auto finished = pool.compile(requests);
    EXPECT_LE(pool.most_at_once(), jobs);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const auto& compiled = std::get<Compiled>(finished[i].outcome);
      EXPECT_EQ(fake::from_ptx(compiled.ptx).defines.at("TAG"), std::to_string(i));
      EXPECT_EQ(compiled.resources.registers, 32);
      EXPECT_TRUE(finished[i].reproducible);
    }
  }
}

TEST(CompilePool, AFailureIsARejectionWithTheLog) {
  Pool pool({.jobs = 1, .limit = Milliseconds(20000)});
  const auto finished = pool.compile(std::vector{request("does_not_compile")});
  const auto& rejection = std::get<Rejection>(finished.at(0).outcome);
  EXPECT_EQ(rejection.gate, Gate::kBuild);
  EXPECT_EQ(rejection.reason, "k.cu(7): error: planted");
  EXPECT_THAT(rejection.detail, HasSubstr("1 error detected"));
  EXPECT_TRUE(finished.at(0).reproducible);
}

TEST(CompilePool, ACrashCostsOneCandidate) {
  Pool pool({.jobs = 1, .limit = Milliseconds(20000)});
  const auto finished =
      pool.compile(std::vector{request("none"), request("crashes_compiler"), request("none")});
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

  CompilePoolOptions options(std::size_t jobs, std::uint64_t memory_bytes = 0) {
    return {jobs, Milliseconds(20000), memory_bytes,
            [this](const std::string& kind, const std::string& text) {
              events_.push_back(kind + ": " + text);
            }};
  }

  sample::TemporaryFolder folder_;
  std::vector<std::string> events_;
};

TEST_F(CompilePoolRetry, OneThatSomebodyKilledOrThatFailedOnceCostsNoCandidate) {
  for (const char* bug : {"compiler_is_killed_once", "fails_once"}) {
    std::filesystem::remove(folder_.path() / "state.compiler");
    events_.clear();
    Pool compilers(options(1));
    const auto finished = compilers.compile(std::vector{request(bug)});
    EXPECT_TRUE(std::holds_alternative<Compiled>(finished.at(0).outcome)) << bug;
    EXPECT_TRUE(finished.at(0).reproducible);
    ASSERT_EQ(events_.size(), 1U);
    EXPECT_THAT(events_[0], HasSubstr("compiled once more"));
  }
}

TEST_F(CompilePoolRetry, TheSecondFailureIsTheCandidatesAndNeverKept) {
  for (const auto& [bug, why] :
       {std::pair("compiler_is_killed", "the compiler was killed: signal 15"),
        std::pair("fails", "planted failure of the compiler"),
        std::pair("runs_out_of_memory", "--compiler-gb GB gives compilers more")}) {
    Pool compilers(options(3));
    std::vector<CompileRequest> requests(6, request("none"));
    requests[2] = request(bug);
    const auto finished = compilers.compile(requests);
    EXPECT_THAT(std::get<Rejection>(finished.at(2).outcome).reason, HasSubstr(why));
    EXPECT_FALSE(finished.at(2).reproducible);
    for (const std::size_t i : {0, 1, 3, 4, 5}) {
      EXPECT_TRUE(std::holds_alternative<Compiled>(finished.at(i).outcome)) << bug << i;
    }
  }
}

TEST_F(CompilePoolRetry, MemoryIsLimitedForEveryProcess) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers reserve more address space than the limit";
#endif
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 30;
  Pool compilers(options(1, kLimit));
  const auto finished = compilers.compile(
      std::vector{request("none"), request("compiler_eats_memory"), request("none")});
  EXPECT_THAT(
      std::get<Rejection>(finished.at(1).outcome).reason,
      AllOf(HasSubstr("ran out of memory"), HasSubstr("with 1.1 GB, and alone with 2.1 GB")));
  EXPECT_FALSE(finished.at(1).reproducible);
  EXPECT_TRUE(std::holds_alternative<Compiled>(finished.at(2).outcome));
}

TEST_F(CompilePoolRetry, ACompilerThatEndsItselfForWantOfMemoryGetsMoreOnce) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers reserve more address space than the limit";
#endif
  Pool compilers(options(1, std::uint64_t{1} << 30));
  const auto finished = compilers.compile(
      std::vector{request("aborts_below_2_gib"), request("none"), request("aborts_below_2_gib")});
  for (const std::size_t i : {0, 1, 2}) {
    EXPECT_TRUE(std::holds_alternative<Compiled>(finished.at(i).outcome)) << i;
  }
  EXPECT_EQ(events_.size(), 2U) << "each of the two requests first gets the usual memory limit";
}

TEST_F(CompilePoolRetry, ACompilerThatAbortsForWantOfMemoryIsNotTheKernelsFault) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers reserve more address space than the limit";
#endif
  Pool compilers(options(1, std::uint64_t{1} << 30));
  testing::internal::CaptureStderr();
  const auto finished =
      compilers.compile(std::vector{request("aborts_for_memory"), request("crashes_compiler")});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, testing::Not(HasSubstr("out of memory")))
      << "this message belongs to the rejection's reason, not to stderr";
  const std::string reason = std::get<Rejection>(finished.at(0).outcome).reason;
  EXPECT_THAT(reason, AllOf(HasSubstr("ran out of memory with 1.1 GB, and alone with 2.1 GB"),
                            HasSubstr("--compiler-gb"), HasSubstr("may be correct")));
  EXPECT_FALSE(finished.at(0).reproducible);
  EXPECT_THAT(std::get<Rejection>(finished.at(1).outcome).reason,
              HasSubstr("the compiler crashed: signal 6"));
}

TEST(CompilePool, AnyBytesInAReasonAreTextAndItIsNeverEmpty) {
  Pool pool({.jobs = 1, .limit = Milliseconds(20000)});
  const auto finished = pool.compile(std::vector{request("says_nul"), request("says_nothing")});
  EXPECT_EQ(std::get<Rejection>(finished.at(0).outcome).reason, "\\x00ptxas error");
  EXPECT_EQ(std::get<Rejection>(finished.at(0).outcome).detail, "a\\x00\\xff");
  EXPECT_EQ(std::get<Rejection>(finished.at(1).outcome).reason, "no reason was given");
}

TEST(CompilePool, AHangIsKilledAtItsDeadlineWhileOthersGoOn) {
  Pool pool({.jobs = 2, .limit = Milliseconds(2000)});
  std::vector<CompileRequest> requests(6, request("none"));
  requests[0] = request("hangs_compiler");
  const auto finished = pool.compile(requests);
  EXPECT_THAT(std::get<Rejection>(finished.at(0).outcome).reason,
              HasSubstr("took longer than 2 s and was killed"));
  EXPECT_FALSE(finished.at(0).reproducible);
  EXPECT_GE(finished.at(0).wall_ms, 2000);
  EXPECT_LT(finished.at(0).wall_ms, 5000);
  for (std::size_t i = 1; i <= 5; ++i) {
    EXPECT_TRUE(std::holds_alternative<Compiled>(finished.at(i).outcome)) << i;
  }
}

TEST(CompilePoolUnderLoad, ACompilerThatSeldomGetsAProcessorHasMoreTime) {
  Pool pool({.jobs = 1, .limit = Milliseconds(2000)});
  const auto finished = pool.compile(std::vector{request("gets_a_quarter_of_a_processor")});
  EXPECT_TRUE(std::holds_alternative<Compiled>(finished.at(0).outcome));
  EXPECT_GE(finished.at(0).wall_ms, 2900);
}

TEST(CompilePool, WhatIsDoneIsNotLateBecauseNobodyLooked) {
  SystemLoop loop;
  CompilePool pool(loop, fake_worker(), {.jobs = 1, .limit = Milliseconds(2000)});
  Random random(1);
  // The fake compiler's answer repeats the request. The socket can buffer the whole request, but
  // only a part of the answer.
  std::string text(std::size_t{150} << 10, ' ');
  for (char& c : text) c = static_cast<char>('a' + random.below(26));
  CompileRequest large = request("none");
  large.options.push_back("-DTEXT=" + text);
  std::optional<CompilePool::Finished> finished;
  const auto compile = [&]() -> Task<> { finished = co_await pool.compile(large); };
  loop.spawn(compile());
  const auto nothing = [&](std::chrono::milliseconds span) -> Task<> {
    co_await loop.wait({-1, 0, 0}, loop.now() + span);
  };
  loop.run(nothing(Milliseconds(0)));  // the request is sent
  ASSERT_FALSE(finished);
  std::this_thread::sleep_for(Milliseconds(2300));
  loop.run(nothing(Milliseconds(200)));
  ASSERT_TRUE(finished);
  ASSERT_TRUE(std::holds_alternative<Compiled>(finished->outcome));
  EXPECT_GT(std::get<Compiled>(finished->outcome).ptx.size(), text.size());
  loop.end_all();
}

TEST(CompilePool, KnowsTheVersionAndRefusesAWorkerThatIsNone) {
  SystemLoop loop;
  CompilePool pool(loop, fake_worker(), {.jobs = 1, .limit = Milliseconds(20000)});
  EXPECT_EQ(pool.version(), "fake 1.0");
  CompilePool broken(loop, "/bin/false", {.jobs = 1, .limit = Milliseconds(20000)});
  EXPECT_THROW((void)broken.version(), MissingError);
}

}  // namespace
}  // namespace evo
