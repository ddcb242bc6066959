// Tests the energy per launch with a made-up clock and a made-up energy counter.

#include "engine/gate/timing/energy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/gate/gate_fixture.hpp"
#include "tests/fakes/fake_monitor.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

TEST(EnergyWindow, RunsFromOneChangeOfTheCounterToAnother) {
  EnergyWindow window({.settle_s = 0.3, .window_s = 1, .patience_s = 2});
  // A launch takes 1 mJ and 1 ms. The energy counter is updated every 100 ms, with a delay of 7 ms.
  for (int ms = 0; !window.is_finished(); ms += 3) {
    ASSERT_LT(ms, 2000);
    const double told = std::floor((ms - 7) / 100.0) * 100;
    window.add(ms / 1e3, 5000 + told, ms);
  }
  EXPECT_NEAR(window.energy()->launch_mj, 1, 0.005);
  EXPECT_NEAR(window.energy()->power_w, 1, 0.005);
  EXPECT_GE(window.energy()->window_s, 1);
  EXPECT_LT(window.energy()->window_s, 1.15);
}

TEST(EnergyWindow, WhatTheGpuTookBeforeItSettledDoesNotCount) {
  EnergyWindow window({.settle_s = 0.5, .window_s = 1, .patience_s = 2});
  double counter = 0;
  for (int ms = 0; !window.is_finished(); ms += 10) {
    counter += ms < 500 ? 100 : 2;
    window.add(ms / 1e3, counter, ms / 10);
  }
  EXPECT_NEAR(window.energy()->launch_mj, 2, 1e-9);
}

TEST(EnergyWindow, ACounterThatStandsStillIsNoCounter) {
  EnergyWindow window({.settle_s = 0.3, .window_s = 1, .patience_s = 2});
  for (int i = 0; i < 20; ++i) window.add(i * 0.1, 42, i);
  EXPECT_FALSE(window.stands_still());
  window.add(2.0, 42, 21);
  EXPECT_TRUE(window.stands_still());
  EXPECT_FALSE(window.is_finished());
}

/// A fake device whose launches take 20 µs and whose energy counter increases with the time.
struct CountedDevice {
  CountedDevice() {
    fixture.time_us = [this](const auto&, std::int64_t) {
      now_s += 0.002;  // a graph of 100 launches
      return 20.0;
    };
    fixture.device->set_monitor(&monitor);
    kernel = fixture.load("k", [this](const fake::Launch& launch) {
      ++launches;
      return fault ? fault : GateFixture::honest(launch);
    });
    monitor.on_energy = [this]() -> std::optional<double> {
      if (!counts) return std::nullopt;
      return std::floor(now_s * 20) * 700;  // 700 mJ every 50 ms are 14 W
    };
  }
  [[nodiscard]] EnergyResult measure(GpuMonitor* gpu) {
    const TimingOptions options;
    return measure_energy(
        {*fixture.work, fixture.problem, fixture.made->cases, fixture.made->judge, options, 5},
        kernel, fixture.problem.shape("timed"), gpu, {}, [](const auto&) {},
        [this] { return now_s; });
  }

  GateFixture fixture;
  fake::FakeMonitor monitor;
  LoadedKernel kernel;
  double now_s = 1000;
  int launches = 0;
  bool counts = true;
  std::optional<Fault> fault;
};

TEST(Energy, IsWhatTheCounterGrewByForEachLaunch) {
  CountedDevice device;
  const EnergyResult result = device.measure(&device.monitor);
  ASSERT_TRUE(result.energy.has_value()) << result.not_supported;
  EXPECT_NEAR(result.energy->power_w, 14, 0.6);
  // A graph of 100 launches takes 2 ms at 14 W, so a launch takes 0.28 mJ.
  EXPECT_NEAR(result.energy->launch_mj, 0.28, 0.02);
  EXPECT_GE(result.energy->window_s, 1);
  EXPECT_GE(result.energy->launches, 45'000);
  EXPECT_EQ(device.fixture.device->graphs_alive(), 0U);
}

TEST(Energy, IsNotSupportedWithoutACounter) {
  CountedDevice device;
  EXPECT_THAT(device.measure(nullptr).not_supported, HasSubstr("libnvidia-ml.so.1"));
  device.counts = false;
  EXPECT_THAT(device.measure(&device.monitor).not_supported, HasSubstr("no energy counter"));
  EXPECT_EQ(device.launches, 0);
  device.counts = true;
  device.monitor.on_energy = [] { return 42.0; };
  EXPECT_THAT(device.measure(&device.monitor).not_supported, HasSubstr("does not change"));
}

TEST(Energy, OfAKernelThatFaultsIsARejection) {
  CountedDevice device;
  device.fault = Fault{"an illegal address", "", true};
  const EnergyResult result = device.measure(&device.monitor);
  ASSERT_TRUE(result.rejection.has_value());
  EXPECT_EQ(result.rejection->gate, Gate::kTiming);
  EXPECT_TRUE(result.device_lost);
  EXPECT_FALSE(result.energy.has_value());
}

}  // namespace
}  // namespace evo
