// Tests the values that NvmlMonitor reads from a fake NVML library.

#include "engine/device/cuda/nvml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace evo {
namespace {

using testing::ElementsAre;

constexpr const char* kBusId = "0000:65:00.0";

class Nvml : public testing::Test {
 protected:
  void TearDown() override { unsetenv("EVO_FAKE_NVML"); }
  std::unique_ptr<NvmlMonitor> open(const char* doing = "") {
    setenv("EVO_FAKE_NVML", doing, 1);
    return NvmlMonitor::open(kBusId, EVO_FAKE_NVML_LIBRARY);
  }
};

TEST_F(Nvml, ReadsTheGpuAtTheBusId) {
  const auto monitor = open();
  ASSERT_NE(monitor, nullptr);
  const GpuPace pace = monitor->pace();
  EXPECT_EQ(pace.sm_clock_mhz, 1980);
  EXPECT_TRUE(pace.slowdowns.empty()) << "an idle GPU is not throttled";
  const GpuCondition condition = monitor->condition();
  EXPECT_EQ(condition.memory_clock_mhz, 2619);
  EXPECT_EQ(condition.temperature_c, 41);
  EXPECT_EQ(condition.power_w, 312.5);
  EXPECT_EQ(monitor->busy_percent(), 37);
  EXPECT_EQ(monitor->energy_mj(), 123456789012.0);
}

TEST_F(Nvml, NamesTheReasonsOfASlowGpu) {
  EXPECT_THAT(open("hot")->pace().slowdowns,
              ElementsAre(Slowdown::kPowerCap, Slowdown::kHardwareThermal));
}

TEST_F(Nvml, WhatTheDriverDoesNotTellIsMissing) {
  const auto monitor = open("no clocks, no energy");
  ASSERT_NE(monitor, nullptr);
  EXPECT_EQ(monitor->pace().sm_clock_mhz, std::nullopt);
  EXPECT_EQ(monitor->condition().memory_clock_mhz, std::nullopt);
  EXPECT_EQ(monitor->condition().temperature_c, 41);
  EXPECT_EQ(monitor->energy_mj(), std::nullopt);
}

TEST_F(Nvml, ThisProcessIsNoOther) {
  const auto monitor = open();
  monitor->find_own_process();
  EXPECT_THAT(monitor->other_processes(), ElementsAre("4200000"));
}

TEST_F(Nvml, InAContainerTheOneThatCameIsThisProcess) {
  const auto monitor = open("contained");
  monitor->find_own_process();
  EXPECT_THAT(monitor->other_processes(), ElementsAre("4200000"));
}

/// An idle process, which the destructor kills.
class Idle {
 public:
  Idle() : process_(fork()) {
    if (process_ != 0) return;
    pause();
    _exit(0);
  }
  ~Idle() {
    ::kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Idle(const Idle&) = delete;
  Idle& operator=(const Idle&) = delete;
  [[nodiscard]] std::string number() const { return std::to_string(process_); }

 private:
  pid_t process_;
};

TEST_F(Nvml, AnotherWorkerOfTheSameProgramIsNoOther) {
  const Idle idle;
  setenv("EVO_FAKE_NVML_PROCESS", idle.number().c_str(), 1);
  EXPECT_THAT(open()->other_processes(), ElementsAre(testing::StartsWith(idle.number() + " (")))
      << "other_processes() also lists child processes";
  const pid_t sibling = fork();
  if (sibling == 0) _exit(open()->other_processes().empty() ? 0 : 1);
  int status = 0;
  waitpid(sibling, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  unsetenv("EVO_FAKE_NVML_PROCESS");
}

TEST_F(Nvml, ManyProcessesAreAllListed) {
  EXPECT_EQ(open("crowd")->other_processes().size(), 100U);
}

TEST_F(Nvml, WithoutTheLibraryTheDriverOrTheGpuThereIsNoMonitor) {
  EXPECT_EQ(NvmlMonitor::open(kBusId, "libnvidia-ml-that-is-not-there.so.1"), nullptr);
  EXPECT_EQ(open("no driver"), nullptr);
  EXPECT_EQ(NvmlMonitor::open("0000:01:00.0", EVO_FAKE_NVML_LIBRARY), nullptr);
}

}  // namespace
}  // namespace evo
