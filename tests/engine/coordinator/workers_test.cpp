#include "engine/coordinator/workers.hpp"

#include <gtest/gtest.h>

#include "tests/fakes/fake_services.hpp"

namespace evo {
namespace {

TEST(Workers, WhatTheDeviceAnsweredGoesBeforeWhatIsCompiled) {
  fake::FakeClock clock;
  fake::FakeCompileService compilers(clock, 1, 1);
  compilers.longest_ms = 1;
  fake::DeviceBehaviour behaviour;
  behaviour.check_ms = 1;
  fake::FakeDeviceService device(clock, behaviour);
  fake::MemoryStore store;
  Compilations compilations(store, compilers);
  Forecasts forecasts({});
  Workers workers(compilations, {&forecasts}, &device, clock);
  const auto start = [&](const std::string& threads) {
    return compilations.start(
        {{"k.cu", "source", {}}, {"entry"}, "sm_90", {"-DTHREADS=" + threads}});
  };
  const Built built = workers.wait_for(start("64"));
  const KernelUnderTest kernel{"key", {built.record.ptx, built.record.cubin, {}}, {}, {"mission"}};
  const auto check = [&] {
    (void)workers.check(kernel, Effort::kScreening, Workers::Purpose::kJudging);
  };
  const auto ticket = start("128");
  check();  // both are done at the same instant
  EXPECT_FALSE(workers.is_compiled(ticket)) << "the device would have waited for the database";
  check();
  EXPECT_TRUE(workers.is_compiled(ticket));
}

}  // namespace
}  // namespace evo
