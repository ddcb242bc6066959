#include "engine/device/virtual/execute/warp_scheduler.hpp"

#include <gtest/gtest.h>

#include <set>

namespace evo::ptx {
namespace {

std::vector<Warp> warps_of(const std::vector<WarpState>& states) {
  std::vector<Warp> warps(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    warps[i].index = static_cast<int>(i);
    warps[i].state = states[i];
  }
  return warps;
}

TEST(WarpScheduler, PicksEveryReadyWarpAndNoOther) {
  LaunchContext launch;
  WarpScheduler scheduler(launch);
  scheduler.start(0);
  auto warps = warps_of({WarpState::kReady, WarpState::kBlocked, WarpState::kReady});
  std::set<int> picked;
  for (int i = 0; i < 64; ++i) picked.insert(scheduler.pick(warps)->index);
  EXPECT_EQ(picked, (std::set<int>{0, 2}));
  warps = warps_of({WarpState::kDone, WarpState::kBlocked});
  EXPECT_EQ(scheduler.pick(warps), nullptr);
}

TEST(WarpScheduler, DrawsTheSameForTheSameSeedAndCta) {
  LaunchContext launch;
  const auto quanta = [&](std::uint64_t cta) {
    WarpScheduler scheduler(launch);
    scheduler.start(cta);
    return std::vector<std::uint64_t>{scheduler.quantum(), scheduler.quantum()};
  };
  EXPECT_EQ(quanta(3), quanta(3));
  EXPECT_NE(quanta(3), quanta(4));
}

TEST(WarpScheduler, SomeTurnsAndAllTurnsOfSomeCtasAreShort) {
  constexpr int kTurns = 100;
  constexpr std::uint64_t kShort = 16;
  LaunchContext launch;
  const auto short_turns = [&](std::uint64_t cta) {
    WarpScheduler scheduler(launch);
    scheduler.start(cta);
    int found = 0;
    for (int turn = 0; turn < kTurns; ++turn) found += scheduler.quantum() <= kShort ? 1 : 0;
    return found;
  };
  int all_short = 0;
  for (std::uint64_t cta = 0; cta < 256; ++cta) {
    const int found = short_turns(cta);
    EXPECT_GT(found, 5);
    all_short += found == kTurns ? 1 : 0;
  }
  EXPECT_GT(all_short, 4);
  EXPECT_LT(all_short, 40);
  launch.check = false;
  EXPECT_EQ(short_turns(0), 0);
}

TEST(WarpScheduler, AWarpThatPollsInVainEndsItsTurn) {
  LaunchContext launch;
  launch.stall_budget = launch.issue_budget = 1'000'000;
  WarpScheduler scheduler(launch);
  scheduler.start(0);
  const auto polls_in_a_turn = [&] {
    int polls = 1;
    while (!scheduler.note_poll() && polls < 1000) ++polls;
    return polls;
  };
  EXPECT_GT(polls_in_a_turn(), 10);
  EXPECT_EQ(polls_in_a_turn(), 1);
  launch.progress.note_change();  // what the CTA waits for may have happened
  ASSERT_TRUE(scheduler.count(1));
  EXPECT_GT(polls_in_a_turn(), 10);
  launch.count_memory = true;
  EXPECT_EQ(polls_in_a_turn(), 1000) << "the predicted time depends on the number of polls";
}

TEST(WarpScheduler, IsStalledOnceNothingChangedForTheBudget) {
  LaunchContext launch;
  launch.stall_budget = 100;
  launch.issue_budget = 1000;
  WarpScheduler scheduler(launch);
  scheduler.start(0);
  EXPECT_TRUE(scheduler.count(100));
  scheduler.note_progress();
  EXPECT_TRUE(scheduler.count(100));
  launch.progress.note_change();  // a change by another CTA
  EXPECT_TRUE(scheduler.count(100));
  EXPECT_FALSE(scheduler.count(1));
  EXPECT_EQ(scheduler.without_progress(), 101);
}

TEST(WarpScheduler, EndsACtaThatExecutesTooMuch) {
  LaunchContext launch;
  launch.stall_budget = 100;
  launch.issue_budget = 150;
  WarpScheduler scheduler(launch);
  scheduler.start(0);
  EXPECT_TRUE(scheduler.count(100));
  scheduler.note_progress();
  EXPECT_FALSE(scheduler.count(100));
  EXPECT_EQ(scheduler.executed(), 200);
}

TEST(WarpScheduler, CtasThatOnlyPollHaveOneBudgetTogether) {
  LaunchContext launch;
  launch.stall_budget = 64'000'000;
  launch.issue_budget = 1'000'000'000;
  launch.progress.start(32, 32);
  for (int cta = 0; cta < 32; ++cta) launch.progress.note_started();
  for (int cta = 1; cta < 32; ++cta) launch.progress.note_stalled(0);
  WarpScheduler scheduler(launch);
  scheduler.start(0);
  const auto goes_on_for = [&](bool polls) {
    std::uint64_t executed = 0;
    bool goes_on = true;
    while (goes_on && executed < 80'000'000) {
      if (polls) (void)scheduler.note_poll();
      goes_on = scheduler.count(10'000);
      executed += 10'000;
    }
    return executed;
  };
  EXPECT_NEAR(static_cast<double>(goes_on_for(false)), 64e6, 2e4);
  scheduler.start(0);
  EXPECT_NEAR(static_cast<double>(goes_on_for(true)), 2e6, 2e4);
  scheduler.note_progress();
  EXPECT_TRUE(scheduler.count(1));
  EXPECT_FALSE(scheduler.only_polls());
}

TEST(WarpScheduler, NobodyIsStalledWhileAnotherCtaMayRun) {
  LaunchContext launch;
  launch.stall_budget = 1000;
  launch.issue_budget = 1'000'000'000;
  launch.progress.start(3, 2);
  for (int cta = 0; cta < 2; ++cta) launch.progress.note_started();
  WarpScheduler one(launch);
  WarpScheduler other(launch);
  for (WarpScheduler* scheduler : {&one, &other}) scheduler->start(0);
  const auto waits = [](WarpScheduler& scheduler) {
    bool goes_on = true;
    for (int poll = 0; poll < 400; ++poll) {
      (void)scheduler.note_poll();
      if (poll % 200 == 199) goes_on = scheduler.count(600);
    }
    return goes_on;
  };
  EXPECT_TRUE(waits(one));
  EXPECT_TRUE(waits(one));  // waiting is allowed any number of times
  other.note_progress();
  EXPECT_TRUE(other.count(1));
  EXPECT_TRUE(waits(other));  // scheduler one has not polled since
  EXPECT_FALSE(waits(one));
  launch.progress.note_change();
  launch.progress.note_ended();
  EXPECT_TRUE(waits(one));  // the third CTA can start now
  launch.progress.note_started();
  EXPECT_TRUE(waits(one));  // the third CTA has not polled
}

TEST(WarpScheduler, StandsAsideAFewTimesAfterChanges) {
  LaunchContext launch;
  WarpScheduler scheduler(launch);
  int launches_aside = 0;
  for (std::uint64_t cta = 0; cta < 32; ++cta) {
    scheduler.start(cta);
    EXPECT_FALSE(scheduler.stands_aside());
    int times = 0;
    for (int change = 0; change < 100; ++change) {
      const bool is_aside = scheduler.stands_aside_after_change();
      EXPECT_EQ(scheduler.stands_aside(), is_aside);
      times += is_aside ? 1 : 0;
      if (change == 0 && is_aside) ++launches_aside;
      scheduler.go_on();
      EXPECT_FALSE(scheduler.stands_aside());
    }
    EXPECT_EQ(times, 8);
  }
  EXPECT_GT(launches_aside, 4);
  EXPECT_LT(launches_aside, 28);
}

TEST(WarpScheduler, StandsAsideAfterReadsOfSomethingNewInEveryOtherLaunch) {
  LaunchContext launch;
  launch.number = 1;
  WarpScheduler scheduler(launch);
  int polls = 0;
  int news = 0;
  for (std::uint64_t cta = 0; cta < 32; ++cta) {
    scheduler.start(cta);
    static_cast<void>(scheduler.stands_aside_after_read(16, 1));
    for (int poll = 0; poll < 20; ++poll) polls += scheduler.stands_aside_after_read(16, 1) ? 1 : 0;
    for (std::uint64_t value = 0; value < 40; ++value)
      news += scheduler.stands_aside_after_read(16, value + 2) ? 1 : 0;
  }
  EXPECT_EQ(polls, 0);
  EXPECT_GT(news, 32 * 7 - 1);
  scheduler.start(0);
  launch.number = 2;
  for (std::uint64_t value = 0; value < 20; ++value)
    EXPECT_FALSE(scheduler.stands_aside_after_read(16, value + 50));
}

TEST(WarpScheduler, DoesNotStandAsideWhereNothingIsChecked) {
  LaunchContext launch;
  launch.check = false;
  WarpScheduler scheduler(launch);
  scheduler.start(0);
  for (std::uint64_t time = 0; time < 20; ++time) {
    EXPECT_FALSE(scheduler.stands_aside_after_change());
    EXPECT_FALSE(scheduler.stands_aside_after_read(8, time));
  }
}

}  // namespace
}  // namespace evo::ptx
