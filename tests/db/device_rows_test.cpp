// What is stored of the card, of energy and of profiles.

#include "db/device_rows.hpp"

#include <gtest/gtest.h>

#include "db/connection.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

class DeviceRows : public testing::Test {
 protected:
  DeviceRows() {
    const CompilationId compilation = store_.put_compilation(sample::compilation("a"));
    for (int position : {0, 1}) {
      store_.record_evaluation(run_, sample::green(0, position, compilation, 10));
    }
  }

  void run_sql(const char* sql) { store_.connection().database().exec(sql); }

  Store store_ = Store::in_memory();
  RunId run_ = store_.start_run(sample::run_info());
  StoredRun run() const { return store_.run(run_); }
};

TEST_F(DeviceRows, AreEmptyWhereNothingIsStored) {
  EXPECT_TRUE(card_rows(store_, run()).empty());
  EXPECT_TRUE(energy_rows(store_, run()).empty());
  EXPECT_TRUE(profile_rows(store_, run()).empty());
}

TEST_F(DeviceRows, TellTheCardOnTheTimedShape) {
  run_sql(
      "CREATE TABLE IF NOT EXISTS card_state (candidate_id, shape, looks, sm_clock_min_mhz,"
      " sm_clock_median_mhz, temperature_c, power_w, slowdowns, discarded, throttled, others);"
      "INSERT INTO card_state (candidate_id, shape, looks, sm_clock_min_mhz, sm_clock_median_mhz,"
      " temperature_c, power_w, slowdowns, discarded, throttled, others) VALUES"
      " (2, 'mission', 5, 1200, 1980, 40, 500.5, '[\"power cap\"]', 3, 1, '[\"4711 (x)\"]'),"
      " (1, 'mission', 5, NULL, NULL, NULL, NULL, '[]', 0, 0, '[]'),"
      " (1, 'small', 5, 1, 1, 1, 1, '[]', 0, 0, '[]')");
  const std::vector<CardRow> rows = card_rows(store_, run());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].candidate, 1);
  EXPECT_FALSE(rows[0].sm_clock_median_mhz);
  EXPECT_EQ(rows[1].sm_clock_min_mhz, 1200);
  EXPECT_EQ(rows[1].sm_clock_median_mhz, 1980);
  EXPECT_EQ(rows[1].temperature_c, 40);
  EXPECT_EQ(rows[1].power_w, 500.5);
  EXPECT_EQ(rows[1].slowdowns_json, "[\"power cap\"]");
  EXPECT_EQ(rows[1].discarded, 3);
  EXPECT_TRUE(rows[1].throttled);
  EXPECT_EQ(rows[1].others_json, "[\"4711 (x)\"]");
}

TEST_F(DeviceRows, TellTheEnergyOfTheLongerWindow) {
  run_sql(
      "CREATE TABLE IF NOT EXISTS energy (candidate_id, shape, complete, launch_mj, power_w,"
      " window_s, launches);"
      "INSERT INTO energy (candidate_id, shape, complete, launch_mj, power_w, window_s, launches)"
      " VALUES (1, 'mission', 0, 5.5, 300, 0.2, 9), (1, 'mission', 1, 5.0, 310, 2, 90),"
      " (2, 'mission', 0, 7.0, 320, 0.2, 9)");
  const std::vector<EnergyRow> rows = energy_rows(store_, run());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].candidate, 1);
  EXPECT_EQ(rows[0].launch_mj, 5.0);
  EXPECT_EQ(rows[0].window_s, 2);
  EXPECT_TRUE(rows[0].complete);
  EXPECT_EQ(rows[1].launch_mj, 7.0);
  EXPECT_FALSE(rows[1].complete);
}

TEST_F(DeviceRows, TellProfilesWithTheirMetrics) {
  run_sql(
      "CREATE TABLE IF NOT EXISTS profile (candidate_id, shape, kind, tool, require, passed);"
      "CREATE TABLE IF NOT EXISTS profile_metric (candidate_id, shape, name, metric, value, unit);"
      "INSERT INTO profile (candidate_id, shape, kind, tool, require, passed) VALUES"
      " (1, 'mission', 'measured', 'ncu 1', 'tensor >= 50', 1),"
      " (2, 'mission', 'measured', 'ncu 1', 'tensor >= 50', 0);"
      "INSERT INTO profile_metric (candidate_id, shape, name, metric, value, unit) VALUES"
      " (1, 'mission', 'tensor', 'sm__pipe', 61.5, '%'), (1, 'mission', 'dram', 'd', 12, '%')");
  const std::vector<ProfileRow> rows = profile_rows(store_, run());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[0].passed);
  EXPECT_EQ(rows[0].require, "tensor >= 50");
  ASSERT_EQ(rows[0].metrics.size(), 2U);
  EXPECT_EQ(rows[0].metrics[1].name, "tensor");
  EXPECT_EQ(rows[0].metrics[1].metric, "sm__pipe");
  EXPECT_EQ(rows[0].metrics[1].value, 61.5);
  EXPECT_EQ(rows[0].metrics[1].unit, "%");
  EXPECT_FALSE(rows[1].passed);
  EXPECT_TRUE(rows[1].metrics.empty());
}

}  // namespace
}  // namespace evo
