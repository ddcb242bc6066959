// Tests kernels with locks, flags, tiles, groups and collectives. Each kernel also has a wrong
// version with missing or wrong synchronisation. Kernels of several CTAs run with several numbers
// of host threads.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/engine/device/virtual/twin_kernels.hpp"

namespace evo::test {
namespace {

struct TwinCase {
  TwinSet set;
  TwinKernel kernel;
};

std::vector<TwinCase> cases_of(std::initializer_list<TwinSet> sets) {
  std::vector<TwinCase> cases;
  for (const TwinSet set : sets) {
    for (const TwinKernel& kernel : kernels_of(set)) cases.push_back({set, kernel});
  }
  return cases;
}

const std::string& ptx_of(TwinSet set, bool bug) {
  static std::map<std::pair<TwinSet, bool>, std::string> compiled;
  std::string& ptx = compiled[{set, bug}];
  if (ptx.empty()) ptx = compile_twins(set, bug);
  return ptx;
}

class Twins : public testing::TestWithParam<TwinCase> {
 protected:
  void SetUp() override {
    if (const auto missing = missing_for(GetParam().set)) GTEST_SKIP() << *missing;
  }
  static std::string judge(bool bug, std::uint64_t seed, int threads) {
    const TwinSet set = GetParam().set;
    return judge_twin(set, ptx_of(set, bug), GetParam().kernel.entry, seed, threads);
  }
  static void expect_right(std::initializer_list<int> threads) {
    for (const int count : threads) {
      for (const std::uint64_t seed : {1U, 2U, 3U}) {
        ASSERT_EQ(judge(false, seed, count), "") << count << " threads, seed " << seed;
      }
    }
  }
  static void expect_found(std::initializer_list<int> threads) {
    for (const int count : threads) {
      for (const std::uint64_t seed : {1U, 2U, 3U}) {
        const std::string report = judge(true, seed, count);
        const bool has_defect = *GetParam().kernel.found_as != '\0';
        ASSERT_EQ(is_defect_found(GetParam().kernel, report), has_defect)
            << report << count << " threads, seed " << seed;
      }
    }
  }
};

const auto kEntryName = [](const auto& test) { return std::string(test.param.kernel.entry); };

/// Locks, CudaLocks and Groups are kernels of several CTAs, which run with 1, 2 and 16 host
/// threads.
class Locks : public Twins {};
TEST_P(Locks, GuardTheirData) { expect_right({1, 2, 16}); }
TEST_P(Locks, ThatGuardNothingAreReported) { expect_found({1, 2, 16}); }
INSTANTIATE_TEST_SUITE_P(All, Locks, testing::ValuesIn(cases_of({TwinSet::kLocks})), kEntryName);

class CudaLocks : public Twins {};
TEST_P(CudaLocks, GuardTheirData) { expect_right({1, 2, 16}); }
TEST_P(CudaLocks, ThatGuardNothingAreReported) { expect_found({1, 2, 16}); }
INSTANTIATE_TEST_SUITE_P(All, CudaLocks, testing::ValuesIn(cases_of({TwinSet::kCudaLocks})),
                         kEntryName);

class Groups : public Twins {};
TEST_P(Groups, AreRight) { expect_right({1, 2, 16}); }
TEST_P(Groups, ThatDoNotMeetAreReported) { expect_found({1, 2, 16}); }
INSTANTIATE_TEST_SUITE_P(All, Groups, testing::ValuesIn(cases_of({TwinSet::kGroups})), kEntryName);

/// MemberMasks, ElectedLanes and Collectives are kernels of one CTA, which run on one host thread.
class MemberMasks : public Twins {};
TEST_P(MemberMasks, LanesThatNameEachOtherMeet) { expect_right({1}); }
TEST_P(MemberMasks, LanesThatDoNotMeetAreReported) { expect_found({1}); }
INSTANTIATE_TEST_SUITE_P(All, MemberMasks, testing::ValuesIn(cases_of({TwinSet::kMasks})),
                         kEntryName);

class ElectedLanes : public Twins {};
TEST_P(ElectedLanes, ActForLanesThatMeetThem) { expect_right({1}); }
TEST_P(ElectedLanes, ThatActForOthersAreReported) { expect_found({1}); }
INSTANTIATE_TEST_SUITE_P(All, ElectedLanes, testing::ValuesIn(cases_of({TwinSet::kElectedLanes})),
                         kEntryName);

class Collectives : public Twins {};
TEST_P(Collectives, AreRight) { expect_right({1}); }
TEST_P(Collectives, ThatDoNotWaitAreReported) { expect_found({1}); }
INSTANTIATE_TEST_SUITE_P(All, Collectives, testing::ValuesIn(cases_of({TwinSet::kCollectives})),
                         kEntryName);

}  // namespace
}  // namespace evo::test
