#include "engine/predict/memory_unit.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "engine/predict/code_fetch.hpp"

namespace evo {
namespace {

MachineRates memory_rates() {
  MachineRates rates;
  rates.l2_bytes = 32;
  rates.l2_write_bytes = 16;
  rates.l2_copy_port_bytes = 80;
  rates.l2_write_port_bytes = 40;
  rates.dram_bytes = 32;
  rates.dram_spread = 100;
  return rates;
}

IssueStep access_of(Unit unit, double sectors) {
  IssueStep step;
  step.unit = unit;
  step.passes = 1;
  step.sectors = sectors;
  step.latency = 50;
  return step;
}

/// The mean number of clocks until a load of `lines` cache lines from DRAM returns.
double mean_from_dram(double lines) {
  constexpr int kLoads = 1000;
  const MachineRates rates = memory_rates();
  MemoryUnit memory(rates);
  IssueStep load = access_of(Unit::kGlobalLoad, lines);
  load.dram_lines = lines;
  double sum = 0;
  for (int i = 0; i < kLoads; ++i) {
    const double at = 1000.0 * i;
    sum += memory.access(load, at).done - at;
  }
  return sum / kLoads;
}

TEST(MemoryUnit, ReadsWaitBehindWritesOnTheWayToL2) {
  const MachineRates rates = memory_rates();
  MemoryUnit memory(rates);
  const double alone = memory.access(access_of(Unit::kGlobalLoad, 1), 0).done;
  MemoryUnit busy(rates);
  (void)busy.access(access_of(Unit::kGlobalStore, 100), 0);
  // A store of 100 sectors of 32 bytes occupies the memory unit for 200 clocks at 16 bytes per
  // clock.
  EXPECT_NEAR(busy.access(access_of(Unit::kGlobalLoad, 1), 0).done - alone, 200, 2);
}

/// The clocks for an access to 1000 sectors, without the latency of an access.
double clocks_of(Unit unit, const GpuShare& share) {
  const MachineRates rates = memory_rates();
  MemoryUnit memory(rates, share);
  MemoryUnit idle(rates, share);
  return memory.access(access_of(unit, 1000), 0).done - idle.access(access_of(unit, 0), 0).done;
}

TEST(MemoryUnit, FewSmsHaveMoreOfTheGpusBandwidthEach) {
  constexpr double kBytes = 1000 * kSectorBytes;
  for (const auto& [unit, all, port] :
       {std::tuple(Unit::kAsyncCopy, 32, 80), std::tuple(Unit::kGlobalStore, 16, 40)}) {
    EXPECT_NEAR(clocks_of(unit, {.active = 1}), kBytes / all, 1);
    EXPECT_NEAR(clocks_of(unit, {.active = 0.5}), kBytes / (2 * all), 1);
    EXPECT_NEAR(clocks_of(unit, {.active = 0.01}), kBytes / port, 1);
  }
}

TEST(MemoryUnit, WhatSeveralSmsCopyCrossesTheGpuOnce) {
  constexpr double kBytes = 1000 * kSectorBytes;
  EXPECT_NEAR(clocks_of(Unit::kAsyncCopy, {.distinct = 0.5}), kBytes / 64, 1);
  EXPECT_NEAR(clocks_of(Unit::kAsyncCopy, {.distinct = 0.1}), kBytes / 80, 1);
  EXPECT_NEAR(clocks_of(Unit::kGlobalStore, {.distinct = 0.1}), kBytes / 16, 1);
  EXPECT_NEAR(clocks_of(Unit::kGlobalLoad, {.distinct = 0.1}), kBytes / 32, 1);
}

TEST(MemoryUnit, BulkCopiesTakeThePathToL2ButNoPasses) {
  const MachineRates rates = memory_rates();
  MemoryUnit memory(rates);
  IssueStep copy = access_of(Unit::kBulkCopy, 100);
  EXPECT_NEAR(memory.copy(copy, 0), 100 * kSectorBytes / 32 + 50, 1);
  EXPECT_NEAR(memory.copy(copy, 0), 200 * kSectorBytes / 32 + 50, 1);
  EXPECT_LE(memory.takes_from(), 0);
  EXPECT_EQ(memory.stored(), 0);
  MemoryUnit other(rates);
  copy.stores = true;
  EXPECT_NEAR(other.copy(copy, 0), 100 * kSectorBytes / 16 + 50, 1);
  EXPECT_GT(other.stored(), 0);
}

TEST(MemoryUnit, OfManyLinesFromDramTheSlowestCounts) {
  // The largest of n exponential delays has a mean of (1 + 1/2 + … + 1/n) times the mean delay. In
  // addition, each of the three further sectors takes a clock.
  EXPECT_NEAR(mean_from_dram(4) - mean_from_dram(1), 100 * (1.0 / 2 + 1.0 / 3 + 1.0 / 4) + 3, 5);
}

MachineRates code_rates() {
  MachineRates rates;
  rates.instruction_cache = 1 << 20;
  rates.fetch_clocks = 2;
  rates.near_code = 64 * 128;
  rates.near_fetch_clocks = 30;
  return rates;
}

constexpr std::size_t kInstructionsOfALine = 8;

/// The clocks that a warp waits for instructions when it runs through `lines` instruction cache
/// lines for the second time.
double waits_again(std::size_t lines) {
  const MachineRates rates = code_rates();
  CodeFetch fetch(rates, std::vector<double>(lines * kInstructionsOfALine, 1));
  double waited = 0;
  for (const double pass : {0.0, 1e6}) {
    waited = 0;
    for (std::size_t i = 0; i < lines; ++i) {
      const double at = pass + 100.0 * static_cast<double>(i);
      waited += std::max(fetch.arrives(0, i * kInstructionsOfALine, at) - at, 0.0);
    }
  }
  return waited;
}

TEST(CodeFetch, ALoopThatFitsIsFetchedOnce) { EXPECT_EQ(waits_again(64), 0); }

TEST(CodeFetch, ALargerLoopIsFetchedAgain) {
  // The jump back to the first cache line also costs near_fetch_clocks, because only the line after
  // the previous one is prefetched.
  EXPECT_EQ(waits_again(65), 65 * 2 + 30);
}

TEST(CodeFetch, CodeThatIsNeverExecutedTakesNoSpaceInTheInstructionCache) {
  MachineRates rates = code_rates();
  constexpr std::size_t kLines = 100;
  rates.instruction_cache = kLines * 128;
  rates.far_fetch_clocks = 20;
  std::vector<double> executions(2 * kLines * kInstructionsOfALine, 0);
  std::fill_n(executions.begin(), kLines * kInstructionsOfALine, 1);
  EXPECT_EQ(CodeFetch(rates, executions).arrives(0, 0, 10), 12);
  executions.back() = 1;
  EXPECT_EQ(CodeFetch(rates, executions).arrives(0, 0, 10), 30);
}

TEST(CodeFetch, ASubCoreTakesWhatAnotherFetchedForTheFirstTime) {
  const MachineRates rates = code_rates();
  CodeFetch fetch(rates, std::vector<double>(64, 1));
  EXPECT_EQ(fetch.arrives(0, 0, 10), 12);
  EXPECT_EQ(fetch.arrives(1, 0, 10), 12);
  EXPECT_EQ(fetch.arrives(1, 1, 20), 12);
}

}  // namespace
}  // namespace evo
