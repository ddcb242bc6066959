#include "engine/coordinator/compilations.hpp"

#include <gtest/gtest.h>

#include "tests/fakes/fake_services.hpp"

namespace evo {
namespace {

TEST(Compilations, WhatIsBeingCompiledIsNotCompiledAgain) {
  fake::FakeClock clock;
  fake::FakeCompileService compilers(clock, 2, 1);
  fake::MemoryStore store;
  Compilations compilations(store, compilers);
  const CompileRequest request{{"k.cu", "source", {}}, {"entry"}, "sm_90", {"-DTHREADS=64"}};
  CompileRequest another = request;
  another.options = {"-DTHREADS=128"};
  const auto first = compilations.start(request);
  const auto second = compilations.start(request);
  const auto third = compilations.start(another);
  EXPECT_EQ(compilers.submitted(), 2U);
  while (compilations.in_flight() > 0) {
    clock.advance(std::chrono::milliseconds(1));
    compilations.collect();
  }
  const auto built = compilations.take(first);
  const auto shared = compilations.take(second);
  const auto other = compilations.take(third);
  ASSERT_TRUE(built && shared && other);
  EXPECT_FALSE(built->cached);
  EXPECT_TRUE(shared->cached);
  EXPECT_EQ(shared->compile_ms, 0);
  EXPECT_EQ(shared->id, built->id);
  EXPECT_EQ(shared->record.ptx, built->record.ptx);
  EXPECT_NE(other->record.ptx, built->record.ptx);
  EXPECT_FALSE(other->cached);
}

}  // namespace
}  // namespace evo
