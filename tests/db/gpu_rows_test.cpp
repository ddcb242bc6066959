// Tests storing energies, profiles and the states of the GPU during timings.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/connection.hpp"
#include "db/queries.hpp"
#include "engine/core/error.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::ThrowsMessage;

GpuState full_state() {
  return {.looks = 4,
          .sm_clock_min_mhz = 600,
          .sm_clock_median_mhz = 1980,
          .memory_clock_mhz = 2619,
          .temperature_c = 41,
          .power_w = 312.5,
          .slowdowns = {Slowdown::kPowerCap, Slowdown::kHardwareThermal},
          .discarded = 30,
          .throttled = true,
          .others = {"4711 (python3)", "12"},
          .busy_before_percent = 35};
}

const ProfileRecord kCounted{
    .kind = TimeKind::kMeasured,
    .tool = "ncu 2025.1",
    .require = "tensor >= 50",
    .passed = false,
    .metrics = {{"dram", "dram__x.pct", 12.5, "%"}, {"tensor", "sm__y.pct", 31, "%"}}};

class GpuRows : public testing::Test {
 protected:
  CandidateId add(const std::optional<GpuState>& gpu, std::optional<Energy> energy = {}) {
    const std::string name = std::to_string(position_);
    EvaluationRecord record = sample::green(
        0, position_, store_.put_compilation(sample::compilation(name)), 10 + position_);
    ++position_;
    record.gpu = gpu;
    record.energy = energy;
    return store_.record_evaluation(run_, record);
  }

  Store store_ = Store::in_memory();
  RunId run_ = store_.start_run(sample::run_info());
  int position_ = 0;
};

TEST_F(GpuRows, AreGivenBackAsTheyWere) {
  const Energy brief{1.5, 300, 0.31, 1000};
  const Energy longer{1.4, 310, 1.02, 3000};
  const CandidateId full = add(full_state(), brief);
  const CandidateId sparse = add(GpuState{.looks = 1});
  const CandidateId none = add({});
  store_.record_energy(full, {1.3, 310, 1.0, 3000});
  store_.record_energy(full, longer);
  store_.record_profile(full, kCounted);
  store_.record_profile(full, kCounted);
  const EvaluationRecord evaluation = store_.evaluation(full);
  EXPECT_EQ(evaluation.gpu, full_state());
  EXPECT_EQ(evaluation.energy, brief);
  EXPECT_EQ(evaluation.elite_energy, longer);
  EXPECT_EQ(evaluation.profile, kCounted);
  EXPECT_EQ(store_.evaluation(sparse).gpu, GpuState{.looks = 1});
  EXPECT_FALSE(store_.evaluation(none).gpu.has_value());
  EXPECT_FALSE(store_.evaluation(none).elite_energy.has_value());
  EXPECT_FALSE(store_.evaluation(none).profile.has_value());
  const CandidateId twin = store_.record_evaluation(run_, sample::duplicate(0, position_, full));
  EXPECT_EQ(store_.evaluation(twin).elite_energy, longer)
      << "a duplicate shows the energy of the kernel that it repeats";
  EXPECT_EQ(elite_of_run(store_, run_).front().launch_mj, 1.4);
}

TEST_F(GpuRows, OnlyWhatWasTimedHasThem) {
  const CandidateId failed =
      store_.record_evaluation(run_, sample::rejected(0, 5, {Gate::kBuild, "no"}));
  EXPECT_THAT(
      [&] {
        store_.record_energy(failed, {1, 1, 1, 1});
      },
      ThrowsMessage<DbError>(HasSubstr("has no stored timing")));
}

TEST_F(GpuRows, ARunIsSummedUp) {
  EXPECT_EQ(gpu_summary(store_, run_).timings, 0);
  add(full_state());
  GpuState quiet{.looks = 2};
  quiet.sm_clock_min_mhz = 1900;
  add(quiet);
  add({});
  const GpuSummary summary = gpu_summary(store_, run_);
  EXPECT_EQ(summary.timings, 2);
  EXPECT_EQ(summary.discarded, 30);
  EXPECT_EQ(summary.throttled, 1);
  EXPECT_EQ(summary.shared, 1);
  EXPECT_THAT(summary.others, ElementsAre(Pair("12", 1), Pair("4711 (python3)", 1)));
  EXPECT_THAT(summary.slowdowns,
              ElementsAre(Pair(Slowdown::kPowerCap, 1), Pair(Slowdown::kHardwareThermal, 1)));
  EXPECT_EQ(summary.busy_before_percent, 35);
  EXPECT_EQ(summary.sm_clock_min_mhz, 600);
  EXPECT_EQ(summary.sm_clock_max_mhz, 1900);
}

}  // namespace
}  // namespace evo
