#include "engine/ptx/launch_attributes.hpp"

#include <gtest/gtest.h>

namespace evo {
namespace {

bool is_cooperative(const char* ptx, const char* entry) {
  return launch_attributes(ptx, entry).cooperative;
}
bool is_programmatic(const char* ptx, const char* entry) {
  return launch_attributes(ptx, entry).programmatic;
}

TEST(LaunchAttributes, AKernelThatReadsTheWorkspaceIsCooperative) {
  const char* ptx =
      ".visible .entry first(\n.param .u64 a\n)\n{ mov.u32 %r1, %envreg2; }\n"
      ".visible .entry second(.param .u64 a) { mov.u32 %r1, %envreg10; ret; }\n"
      ".entry third\n{ ret; }";
  EXPECT_TRUE(is_cooperative(ptx, "first"));
  EXPECT_FALSE(is_cooperative(ptx, "second"));
  EXPECT_FALSE(is_cooperative(ptx, "third"));
  EXPECT_FALSE(is_cooperative(ptx, "fir"));
  EXPECT_FALSE(is_programmatic(ptx, "first"));
}

TEST(LaunchAttributes, AKernelThatWaitsForThePreviousOneIsProgrammatic) {
  const char* ptx =
      ".entry waits(.param .u64 a) { .reg .b32 %r<2>; @%p1 griddepcontrol.wait; ret; }\n"
      ".entry lets() { griddepcontrol.launch_dependents; // griddepcontrol.wait;\nret; }\n"
      ".entry both() { mov.u32 %r1, %envreg1; griddepcontrol.wait; ret; }";
  EXPECT_EQ(launch_attributes(ptx, "waits"), (LaunchAttributes{.programmatic = true}));
  EXPECT_EQ(launch_attributes(ptx, "lets"), LaunchAttributes());
  EXPECT_EQ(launch_attributes(ptx, "both"), (LaunchAttributes{true, true}));
}

TEST(LaunchAttributes, AFunctionThatTheKernelMayCallCounts) {
  const char* ptx =
      ".func f() { mov.u32 %r1, %envreg1;}\n.func g() { griddepcontrol.wait; }\n"
      ".global .u64 table[1] = {g};\n.entry a() { call.uni f, (p); }\n"
      ".entry b() { mov.u64 %rd1, table; }\n.entry c() { ret; }";
  EXPECT_EQ(launch_attributes(ptx, "a"), (LaunchAttributes{.cooperative = true}));
  EXPECT_EQ(launch_attributes(ptx, "b"), (LaunchAttributes{.programmatic = true}));
  EXPECT_EQ(launch_attributes(ptx, "c"), LaunchAttributes());
}

TEST(LaunchAttributes, TextThatIsNoPtxHasNone) {
  for (const char* text : {"", ".entry", ".func", "%envreg", ".entry .entry .func", "%envreg12",
                           "griddepcontrol.wait", ".entry k { griddepcontrol.waits"})
    EXPECT_EQ(launch_attributes(text, "k"), LaunchAttributes()) << text;
}

}  // namespace
}  // namespace evo
