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

TEST(Compilations, WhatIsPreparedIsStoredWhenItIsAskedFor) {
  fake::FakeClock clock;
  fake::FakeCompileService compilers(clock, 2, 1);
  fake::MemoryStore store;
  Compilations compilations(store, compilers);
  const auto request = [](const std::string& threads) {
    return CompileRequest{{"k.cu", "source", {}}, {"entry"}, "sm_90", {"-DTHREADS=" + threads}};
  };
  const auto finish = [&] {
    while (compilations.in_flight() > 0) {
      clock.advance(std::chrono::milliseconds(1));
      compilations.collect();
    }
  };
  const auto early = compilations.prepare(request("1"));  // asked for while it runs
  const auto late = compilations.prepare(request("2"));   // and when it is over
  const auto never = compilations.prepare(request("3"));
  const auto shared = compilations.prepare(request("4"));
  const auto sharer = compilations.start(request("4"));
  compilations.ask_for(early);
  finish();
  EXPECT_EQ(store.compilation_count(), 2U) << "1 and 4";
  EXPECT_NE(compilations.look(late), nullptr);
  compilations.ask_for(late);
  EXPECT_EQ(store.compilation_count(), 3U);
  for (const auto ticket : {early, late, shared, sharer}) {
    const auto built = compilations.take(ticket);
    ASSERT_TRUE(built && built->id);
    EXPECT_EQ(store.compilation(*built->id).ptx, built->record.ptx);
  }
  EXPECT_TRUE(compilations.take(never));
  EXPECT_EQ(store.compilation_count(), 3U);
  (void)compilations.start(request("3"));
  EXPECT_EQ(compilers.submitted(), 5U) << "what was lost is compiled again";
}

}  // namespace
}  // namespace evo
