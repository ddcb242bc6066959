#include "engine/worker/memory_aborts.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace evo {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCanLimit = false;
#else
constexpr bool kCanLimit = true;
#endif

constexpr rlim_t kLimit = rlim_t{4} << 30;

void say(const std::string& text) { (void)!write(STDERR_FILENO, text.data(), text.size()); }

void begin() {
  const rlimit limit{kLimit, kLimit};
  setrlimit(RLIMIT_AS, &limit);
  watch_for_memory_aborts();
}

class MemoryAborts : public testing::Test {
 protected:
  void SetUp() override {
    if (!kCanLimit) GTEST_SKIP() << "sanitizers reserve more address space than the limit";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

TEST_F(MemoryAborts, AnAbortThatSpeaksOfMemoryIsAnExit) {
  EXPECT_EXIT(
      {
        begin();
        say("first\n");
        pass_on_messages();
        say("LLVM ERROR: out of memory\n");
        std::abort();
      },
      testing::ExitedWithCode(kOutOfMemoryExit), "first");
}

TEST_F(MemoryAborts, ACrashWhereTheAddressSpaceIsNearlyFullIsOneToo) {
  EXPECT_EXIT(
      {
        begin();
        constexpr std::size_t kPiece = std::size_t{64} << 20;
        while (mmap(nullptr, kPiece, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) {
        }
        raise(SIGSEGV);
      },
      testing::ExitedWithCode(kOutOfMemoryExit), "");
}

TEST_F(MemoryAborts, AnyOtherEndIsWhatItWasAndLosesNoMessage) {
  EXPECT_EXIT(
      {
        begin();
        say("internal error\n");
        std::abort();
      },
      testing::KilledBySignal(SIGABRT), "internal error");
  EXPECT_EXIT(
      {
        begin();
        say("goodbye\n");
        std::exit(3);
      },
      testing::ExitedWithCode(3), "goodbye");
}

TEST_F(MemoryAborts, WithoutALimitNothingIsChanged) {
  EXPECT_EXIT(
      {
        watch_for_memory_aborts();
        say("out of memory\n");
        std::abort();
      },
      testing::KilledBySignal(SIGABRT), "out of memory");
}

}  // namespace
}  // namespace evo
