#include "engine/evaluate/compilations.hpp"

#include <gtest/gtest.h>

#include "tests/fakes/fake_services.hpp"

namespace evo {
namespace {

TEST(Compilations, WhatIsBeingCompiledIsNotCompiledAgain) {
  fake::FakeLoop loop;
  fake::FakeCompileService compilers(loop, 2, 1);
  fake::MemoryStore store;
  Compilations compilations(loop, store, compilers);
  const CompileRequest request{{"k.cu", "source", {}}, {"entry"}, "sm_90", {"-DTHREADS=64"}};
  CompileRequest another = request;
  another.options = {"-DTHREADS=128"};
  std::vector<CompilationRecord> built(3);
  const auto compile = [&](const CompileRequest& wanted, CompilationRecord& result) -> Task<> {
    result = co_await compilations.compile(wanted);
  };
  loop.spawn(compile(request, built[0]));
  loop.spawn(compile(request, built[1]));
  loop.run(compile(another, built[2]));
  const CompilationRecord& other = built[2];
  loop.run(compile(request, built[1]));
  EXPECT_EQ(compilers.submitted(), 2U);
  EXPECT_EQ(built[1].wall_ms, 0);
  EXPECT_EQ(built[1].id, built[0].id);
  EXPECT_EQ(built[1].ptx, built[0].ptx);
  EXPECT_NE(other.ptx, built[0].ptx);
}

/// A run starts compilations while it opens the devices, before a candidate needs them. A later
/// request must get the finished compilation and not start another.
TEST(Compilations, APrefetchedCompilationIsTakenWithItsTime) {
  fake::FakeLoop loop;
  fake::FakeCompileService compilers(loop, 1, 1);
  fake::MemoryStore store;
  Compilations compilations(loop, store, compilers);
  const CompileRequest request{{"k.cu", "source", {}}, {"entry"}, "sm_90", {"-DTHREADS=64"}};
  compilations.prefetch(request);
  compilations.prefetch(request);
  loop.run(loop.sleep(1000));
  EXPECT_EQ(compilations.in_flight(), 0U)
      << "the compilation has finished before the first request";
  const CompilationRecord first = loop.run(compilations.compile(request));
  const CompilationRecord second = loop.run(compilations.compile(request));
  EXPECT_EQ(compilers.submitted(), 1U);
  EXPECT_TRUE(first.id.has_value());
  EXPECT_EQ(second.id, first.id);
  EXPECT_GT(compilations.busy_ms(), 0);
}

}  // namespace
}  // namespace evo
