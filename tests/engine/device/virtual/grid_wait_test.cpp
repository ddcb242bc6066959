#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>

#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

// Tests reports about accesses before griddepcontrol.wait in programmatic dependent launches.

namespace evo::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class GridWait : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  }

  static const std::string& ptx(int bug) {
    static std::map<int, std::string> known;
    std::string& text = known[bug];
    if (text.empty()) {
      text = compile_to_ptx(kernel_source("grid_wait.cu"), "compute_90",
                            {"-lineinfo", "-DBUG=" + std::to_string(bug)});
    }
    return text;
  }

  /// Launches a kernel of kernels/grid_wait.cu with one CTA of 64 threads; returns the fault, if
  /// any. `bug`: the value of the macro BUG.
  static std::optional<Fault> run(const std::string& entry, int bug) {
    TestGpu gpu("virtual:h200");
    std::vector<int> x(64);
    std::iota(x.begin(), x.end(), 1);
    return gpu.run(ptx(bug), entry, {{1, 1, 1}, {64, 1, 1}, 0},
                   {gpu.input("x", x), gpu.output<int>("y", 64)});
  }
  static std::string reason(const std::string& entry, int bug) {
    const auto fault = run(entry, bug);
    return fault ? fault->reason : "";
  }
};

TEST_F(GridWait, KernelsThatWaitAreRight) {
  for (const char* entry : {"every_thread", "one_thread_and_a_barrier", "one_lane", "mbarrier",
                            "bulk_copy", "asynchronous_copy", "some_leave", "only_lets_go"})
    EXPECT_EQ(text_of(run(entry, 0)), "") << entry;
}

TEST_F(GridWait, AReadBeforeItIsReported) {
  const std::string found = reason("every_thread", 1);
  EXPECT_THAT(
      found, ContainsRegex("^missing griddepcontrol.wait: read of 4 bytes at byte (0|128) of 'x' "
                           "\\(256 bytes\\) by thread \\((0|32),0,0\\) of warp [01], which neither "
                           "executed griddepcontrol.wait nor waited at a barrier for a thread that "
                           "executed it"));
  EXPECT_THAT(found, HasSubstr("(ld.global"));
  EXPECT_THAT(found, HasSubstr("kernel.cu:16"));
}

TEST_F(GridWait, WarpsThatDoNotWaitAreReported) {
  const std::string found = reason("every_thread", 2);
  EXPECT_THAT(found, HasSubstr("byte 128 of 'x'"));
  EXPECT_THAT(found, HasSubstr("of warp 1"));
}

TEST_F(GridWait, AWriteBeforeItIsReported) {
  EXPECT_THAT(reason("every_thread", 3), HasSubstr("wait: write of 4 bytes at byte "));
}

TEST_F(GridWait, ABarrierOfTheWaitingWarpServesOnlyThatWarp) {
  const std::string found = reason("one_thread_and_a_barrier", 1);
  EXPECT_THAT(found, HasSubstr("thread (0,0,0) of warp 0"));
}

TEST_F(GridWait, LanesMustMeetTheOneThatWaited) {
  EXPECT_THAT(reason("one_lane", 2), HasSubstr("missing griddepcontrol.wait: read"));
  EXPECT_THAT(reason("one_lane", 1), ContainsRegex("thread \\((16|48),0,0\\) of warp [01]"));
}

TEST_F(GridWait, AnArrivalBeforeTheWaitDoesNotServe) {
  EXPECT_THAT(reason("mbarrier", 1), HasSubstr("of warp 1"));
}

TEST_F(GridWait, ABulkCopyBeforeItIsReported) {
  EXPECT_THAT(reason("bulk_copy", 1),
              HasSubstr("missing griddepcontrol.wait: bulk copy of 256 bytes from byte 0 of 'x'"));
}

TEST_F(GridWait, AnAsynchronousCopyBeforeItIsReported) {
  EXPECT_THAT(reason("asynchronous_copy", 1), HasSubstr("wait: read of 4 bytes at byte "));
}

TEST_F(GridWait, AReadOfATextureBeforeItIsReported) {
  for (const int bug : {0, 1}) {
    TestGpu gpu("virtual:h200");
    const BufferId x = gpu.input("x", std::vector<int>(64));
    const TextureId texture = gpu.device().textures()->make_texture(
        {.name = "x", .type = TexelType::kS32, .width = 64, .storage = TextureStorage::kLinear}, x);
    const std::string found = text_of(gpu.run(ptx(bug), "texture", {{1, 1, 1}, {64, 1, 1}, 0},
                                              {texture, gpu.output<int>("y", 64)}));
    EXPECT_EQ(found.find("missing griddepcontrol.wait: read of texture 'x' by thread"),
              bug == 0 ? std::string::npos : 0)
        << found;
    EXPECT_EQ(found.empty(), bug == 0) << found;
  }
}

TEST_F(GridWait, ALaunchWithoutChecksReportsNothing) {
  TestGpu gpu("virtual:h200", {.threads = 1, .checks = false});
  EXPECT_EQ(text_of(gpu.run(ptx(1), "every_thread", {{1, 1, 1}, {64, 1, 1}, 0},
                            {gpu.input("x", std::vector<int>(64)), gpu.output<int>("y", 64)})),
            "");
}

TEST(GridWaitSpelling, NeedsSm90) {
  const auto module = [](const std::string& target, const std::string& kind) {
    return ".version 8.0\n.target " + target +
           "\n.address_size 64\n.visible .entry k()\n{\ngriddepcontrol." + kind + ";\nret;\n}\n";
  };
  for (const char* kind : {"wait", "launch_dependents"}) {
    EXPECT_EQ(text_of(TestGpu("virtual:h200").run(module("sm_90a", kind), "k", {}, {})), "");
    const std::string old = text_of(TestGpu().run(module("sm_89", kind), "k", {}, {}));
    EXPECT_THAT(old, HasSubstr("not supported: griddepcontrol." + std::string(kind) +
                               " (needs sm_90 or newer, the target is sm_89)"));
    EXPECT_THAT(old, HasSubstr("line 6"));
  }
  EXPECT_NE(text_of(TestGpu("virtual:h200").run(module("sm_90", "other"), "k", {}, {})), "");
}

}  // namespace
}  // namespace evo::test
