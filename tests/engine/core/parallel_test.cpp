#include "engine/core/parallel.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace evo {
namespace {

TEST(InParallel, GivesEachIndexToOneThread) {
  for (const std::size_t threads : {0, 1, 3, 50}) {
    std::vector<int> times(20, 0);
    in_parallel(threads, times.size(), [&](const auto& next) {
      while (const auto i = next()) ++times[*i];
    });
    EXPECT_EQ(times, std::vector<int>(20, 1)) << threads;
  }
}

TEST(InParallel, AnExceptionEndsTheOtherThreadsAndIsThrownAgain) {
  std::atomic<std::size_t> done{0};
  constexpr std::size_t kCount = 1'000'000'000;
  EXPECT_THROW(in_parallel(3, kCount,
                           [&](const auto& next) {
                             while (const auto i = next()) {
                               if (*i == 100) throw std::runtime_error("100");
                               ++done;
                             }
                           }),
               std::runtime_error);
  EXPECT_LT(done, kCount - 1);
}

}  // namespace
}  // namespace evo
