// Tests the table of times of other implementations, which compare_pytorch.py fills.

#include <gtest/gtest.h>

#include "db/connection.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

TEST(VendorTime, StandsBesideACandidateOfAMeasuredRun) {
  const sample::TemporaryFolder folder;
  Store store = Store::open(folder.path() / "evo.db");
  const RunId measured = store.start_run(sample::run_info());
  const CandidateId timed = store.record_evaluation(
      measured, sample::green(0, 0, store.put_compilation(sample::compilation("m")), 5));
  const RunId predicted = store.start_run(sample::run_info(TimeKind::kPredicted));
  const CandidateId other = store.record_evaluation(
      predicted, sample::green(0, 0, store.put_compilation(sample::compilation("x")), 5,
                               TimeKind::kPredicted));
  const auto insert = [&](RunId run, CandidateId candidate) {
    store.connection().database().exec(
        "INSERT INTO vendor_time (run_id, candidate_id, name, starts_from, p50_us, ratio,"
        " ratio_low, ratio_high) VALUES (" +
        std::to_string(run) + ", " + std::to_string(candidate) + ", 'v', 'fp16', 9, 2, 1, 3)");
  };
  EXPECT_THROW(insert(predicted, other), SQLite::Exception);
  EXPECT_THROW(insert(measured, other), SQLite::Exception);
  insert(measured, timed);
  ASSERT_EQ(store.vendor_times(measured).size(), 1U);
  EXPECT_EQ(store.vendor_times(measured)[0].ratio_high, 3);
}

}  // namespace
}  // namespace evo
