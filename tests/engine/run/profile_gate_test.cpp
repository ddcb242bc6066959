// Tests the profile gate: parsing of Nsight Compute's output, a missing ncu, and values that the
// time model predicts.

#include "engine/run/profile_gate.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/core/error.hpp"
#include "engine/run/ncu.hpp"
#include "tests/fakes/fake_world.hpp"

namespace evo {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kTensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";
constexpr const char* kDram = "dram__throughput.avg.pct_of_peak_sustained_elapsed";

// The output of Nsight Compute 2025 for a launch of two kernels, which take 3 µs and 1 µs.
const std::string kTwoKernels =
    R"csv(==PROF== Connected to process 4711 (/opt/evo-worker)
==PROF== Profiling "first" - 0: 0%....50%....100% - 1 pass
"ID","Process ID","Kernel Name","dram__bytes.sum","gpu__time_duration.sum","sm__x.avg.pct"
"","","","byte","ns","%"
"0","4711","first(float *, int)","1,000","3,000","40.5"
"1","4711","second","24","1000","20.5"
==PROF== Disconnected from process 4711
)csv";

TEST(NcuCsv, SumsAreAddedAndSharesAreWeighedByTime) {
  const NcuResult result = read_ncu_csv(kTwoKernels, {"dram__bytes.sum", "sm__x.avg.pct"});
  ASSERT_TRUE(std::holds_alternative<NcuCounts>(result)) << std::get<NcuFailure>(result).reason;
  const auto& figures = std::get<NcuCounts>(result).figures;
  EXPECT_EQ(figures.at("dram__bytes.sum").value, 1024);
  EXPECT_EQ(figures.at("dram__bytes.sum").unit, "byte");
  EXPECT_DOUBLE_EQ(figures.at("sm__x.avg.pct").value, 35.5);
  EXPECT_EQ(figures.at("sm__x.avg.pct").unit, "%");
}

std::string failure_of(const std::string& text, const std::string& metric) {
  const NcuResult result = read_ncu_csv(text, {metric});
  const auto* failure = std::get_if<NcuFailure>(&result);
  return failure == nullptr ? "counted" : failure->reason;
}

TEST(NcuCsv, WhatIsMissingIsNamed) {
  EXPECT_EQ(failure_of(kTwoKernels, "sm__x.avg.pct"), "counted");
  EXPECT_THAT(failure_of(kTwoKernels, "sm__y"), HasSubstr("does not know the metric sm__y"));
  EXPECT_THAT(failure_of("==WARNING== No kernels were profiled.\n", "sm__y"),
              HasSubstr("counted no kernel"));
  EXPECT_THAT(failure_of("\"ID\",\"sm__y\"\n\"\",\"%\"\n\"0\",\"n/a\"\n", "sm__y"),
              HasSubstr("no value of sm__y on this GPU: 'n/a'"));
  EXPECT_THAT(failure_of("\"ID\",\"sm__y\"\n\"\",\"%\"\n\"0\",\"nan\"\n", "sm__y"),
              HasSubstr("no value of sm__y"));
}

/// Tests with a shell script in place of the program ncu.
class FakeNcu : public testing::Test {
 protected:
  FakeNcu() { setenv("EVO_WORKER", EVO_BINARY_DIR "/bin/fake-worker", 1); }
  ~FakeNcu() override {
    unsetenv("EVO_NCU");
    unsetenv("EVO_WORKER");
  }
  void make(const std::string& script) {
    const std::filesystem::path file = folder_.path() / "ncu";
    write_file(file, "#!/bin/sh\n" + script);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    setenv("EVO_NCU", file.c_str(), 1);
  }
  [[nodiscard]] std::string run() {
    const NcuResult result = run_ncu({"true"}, folder_.path(), {"sm__x.avg.pct"}, [] {});
    if (const auto* failure = std::get_if<NcuFailure>(&result)) return failure->reason;
    return fmt::format("{}", std::get<NcuCounts>(result).figures.at("sm__x.avg.pct").value);
  }

  sample::TemporaryFolder folder_;
};

TEST_F(FakeNcu, ItsLogIsRead) {
  write_file(folder_.path() / "answer", kTwoKernels);
  make("echo \"$@\" > arguments; cp answer ncu.csv");
  EXPECT_EQ(run(), "35.5");
  EXPECT_EQ(read_text_file(folder_.path() / "arguments"),
            "--profile-from-start off --clock-control none --cache-control none --csv --page raw "
            "--print-units base --log-file " +
                (folder_.path() / "ncu.csv").string() +
                " --metrics gpu__time_duration.sum,sm__x.avg.pct true\n");
}

TEST_F(FakeNcu, WithoutTheRightToCountItSaysHowToGetIt) {
  make("echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission' > ncu.csv; exit 1");
  EXPECT_THAT(run(), HasSubstr("no permission to read the GPU's performance counters"));
  make("echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission' > ncu.csv");
  EXPECT_THAT(run(), HasSubstr("no permission to read the GPU's performance counters"));
}

TEST_F(FakeNcu, ItsLastWordsAreToldWhenItFails) {
  make("echo 'evo-worker: the profiled kernel failed: planted' >&2; exit 1");
  EXPECT_EQ(run(),
            "Nsight Compute measured nothing: evo-worker: the profiled kernel failed: "
            "planted");
  setenv("EVO_NCU", "/nowhere/ncu", 1);
  EXPECT_EQ(run(), "Nsight Compute (/nowhere/ncu) is not on the PATH");
  EXPECT_EQ(ncu_version(), "");
}

TEST_F(FakeNcu, TellsItsVersion) {
  make("echo 'NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.1.0.0 (build 1)'");
  EXPECT_EQ(ncu_version(), "ncu 2025.1.0.0");
}

/// Applies the profile gate to the default configuration on a fake device.
Profiled profiled_on(const fake::DeviceBehaviour& behaviour, const std::string& space = "wide") {
  fake::MemoryStore store;
  World world(store, behaviour, {.space = space});
  const Candidate candidate = world.task().space().defaults();
  const Evaluation evaluation = world.bench->wait(world.bench->evaluator().evaluate(candidate, {}));
  return profile_gate(*world.bench, kernel_under_test(world.task(), evaluation));
}

/// Applies the profile gate on a device that predicts the given utilisations of tensor cores and
/// DRAM, in percent.
Profiled predicted(double tensor, double dram) {
  fake::DeviceBehaviour behaviour;
  behaviour.kind = TimeKind::kPredicted;
  behaviour.profile = {{kTensor, tensor}, {kDram, dram}, {"another", 7}};
  return profiled_on(behaviour);
}

TEST(ProfileGate, TheRequirementDecides) {
  for (const auto& [tensor, dram, passes] :
       {std::tuple{50.0, 99.0, true}, {49.9, 49.9, true}, {49.9, 50.0, false}}) {
    const Profiled profiled = predicted(tensor, dram);
    ASSERT_TRUE(profiled.record.has_value()) << profiled.left_out;
    EXPECT_EQ(profiled.record->passed, passes) << tensor << " " << dram;
    EXPECT_EQ(profiled.record->kind, TimeKind::kPredicted);
    EXPECT_EQ(profiled.record->tool, "time model");
    EXPECT_EQ(profiled.record->require, "tensor >= 50 || dram < 50");
    ASSERT_EQ(profiled.record->metrics.size(), 2U);
    EXPECT_EQ(profiled.record->metrics[0], (ProfileMetric{"dram", kDram, dram, "%"}));
  }
  EXPECT_EQ(metrics_text(*predicted(49.9, 50).record), "dram 50 %, tensor 49.9 %");
}

TEST(ProfileGate, WhatTheTimeModelDoesNotSayLeavesItOut) {
  fake::DeviceBehaviour behaviour;
  behaviour.kind = TimeKind::kPredicted;
  for (const bool says_something : {false, true}) {
    if (says_something) behaviour.profile = {{kTensor, 1}};
    const Profiled profiled = profiled_on(behaviour);
    EXPECT_FALSE(profiled.record.has_value());
    EXPECT_THAT(profiled.left_out,
                HasSubstr(says_something ? kDram : "does not predict the utilisation"));
  }
}

TEST(ProfileGate, AKernelThatIsNotPredictedIsLeftOut) {
  fake::DeviceBehaviour behaviour;
  behaviour.kind = TimeKind::kPredicted;
  behaviour.profile_of = [] { return WorkerFailure{"the worker died"}; };
  EXPECT_EQ(profiled_on(behaviour).left_out, "the worker died");
  behaviour.profile_of = [] {
    return PredictedProfile{.percent = {{kTensor, 90}, {kDram, 1}},
                            .rejection = Rejection{Gate::kTiming, "it hangs"}};
  };
  const Profiled profiled = profiled_on(behaviour);
  EXPECT_EQ(profiled.left_out, "it hangs");
  EXPECT_FALSE(profiled.record.has_value());
}

TEST(ProfileGate, AProblemThatAsksForNothingIsNamed) {
  EXPECT_THAT([] { (void)profiled_on({}, "busy"); },
              ThrowsMessage<InputError>(HasSubstr("problem.json has no \"profile\"")));
}

TEST_F(FakeNcu, WhatItCountsDecides) {
  const std::string columns = std::string("\"ID\",\"gpu__time_duration.sum\",\"") + kTensor +
                              "\",\"" + kDram + "\"\n\"\",\"ns\",\"%\",\"%\"\n";
  write_file(folder_.path() / "answer", columns + "\"0\",\"1000\",\"60.5\",\"70\"\n");
  make("[ \"$1\" = --version ] && { echo 'Version 2025.1.0.0 (build 1)'; exit 0; }\ncp " +
       (folder_.path() / "answer").string() + " ncu.csv");
  const Profiled counted = profiled_on({});
  ASSERT_TRUE(counted.record.has_value()) << counted.left_out;
  EXPECT_TRUE(counted.record->passed);
  EXPECT_EQ(counted.record->kind, TimeKind::kMeasured);
  EXPECT_EQ(counted.record->tool, "ncu 2025.1.0.0");
  EXPECT_FALSE(rejection_of(*counted.record).has_value());

  write_file(folder_.path() / "answer", columns + "\"0\",\"1000\",\"10\",\"70\"\n");
  const Profiled idle = profiled_on({});
  ASSERT_TRUE(idle.record.has_value()) << idle.left_out;
  const auto rejection = rejection_of(*idle.record);
  ASSERT_TRUE(rejection.has_value());
  EXPECT_EQ(rejection->gate, Gate::kProfile);
  EXPECT_EQ(rejection->reason,
            "tensor >= 50 || dram < 50 is false: dram 70 %, tensor 10 % (ncu 2025.1.0.0)");
}

TEST_F(FakeNcu, WithoutItsFiguresTheGateIsLeftOut) {
  make(
      "[ \"$1\" = --version ] && { echo 'Version 2025.1.0.0 (build 1)'; exit 0; }\n"
      "echo 'planted' >&2; exit 1");
  const Profiled failed = profiled_on({});
  EXPECT_FALSE(failed.record.has_value());
  EXPECT_THAT(failed.left_out, HasSubstr("planted"));
  setenv("EVO_NCU", "/nowhere/ncu", 1);
  EXPECT_THAT(profiled_on({}).left_out, HasSubstr("is not on the PATH, or does not start"));
}

}  // namespace
}  // namespace evo
