// Tests launches of several steps, which run in order, each with its own kernel, grid and
// arguments.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Two kernels with one thread per CTA: add computes out[i] = in[i] + 1, and twice computes out[i] =
// 2 * in[i] + factor, where i is the index of the CTA.
constexpr const char* kTwoEntries = R"(.version 8.0
.target sm_80
.address_size 64
.const .align 4 .u32 factor;
.visible .entry add(.param .u64 in, .param .u64 out)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.u32 %r2, [%rd4];
  add.s32 %r3, %r2, 1;
  add.s64 %rd5, %rd2, %rd3;
  st.global.u32 [%rd5], %r3;
  ret;
}
.visible .entry twice(.param .u64 out, .param .u64 in)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.u32 %r2, [%rd4];
  ld.const.u32 %r4, [factor];
  mad.lo.s32 %r3, %r2, 2, %r4;
  add.s64 %rd5, %rd2, %rd3;
  st.global.u32 [%rd5], %r3;
  ret;
}
)";

const LaunchStep kAdd = {{{3, 1, 1}, {1, 1, 1}, 0}, 0, std::vector<std::size_t>{0, 1}};
const LaunchStep kTwice = {{{2, 1, 1}, {1, 1, 1}, 0}, 1, std::vector<std::size_t>{2, 1}};

class VirtualSteps : public testing::Test {
 protected:
  VirtualSteps() {
    const auto loaded = gpu_.device().load({kTwoEntries, {}, {"add", "twice"}, {"factor"}});
    if (const auto* fault = std::get_if<Fault>(&loaded)) throw std::runtime_error(fault->reason);
    kernel_ = std::get<KernelId>(loaded);
  }

  std::string launched(std::vector<LaunchStep> steps) {
    const auto fault = gpu_.device().launch(kernel_, LaunchPlan(std::move(steps)), arguments_);
    return fault ? fault->reason : "";
  }
  double predicted(std::vector<LaunchStep> steps) {
    const auto us =
        gpu_.device().predicting()->predict_us(kernel_, LaunchPlan(std::move(steps)), arguments_);
    return std::get<double>(us);
  }

  TestGpu gpu_;
  KernelId kernel_ = 0;
  BufferId in_ = gpu_.input<int>("in", {10, 20, 30});
  BufferId between_ = gpu_.inout<int>("between", {1, 1, 1});
  BufferId out_ = gpu_.inout<int>("out", {0, 0, 0});
  std::vector<KernelArgument> arguments_ = {in_, between_, out_, gpu_.input<int>("factor", {100})};
};

TEST_F(VirtualSteps, RunOneAfterTheOther) {
  EXPECT_EQ(launched({kAdd, kTwice}), "");
  EXPECT_THAT(gpu_.read<int>(between_, 3), ElementsAre(11, 21, 31));
  EXPECT_THAT(gpu_.read<int>(out_, 3), ElementsAre(122, 142, 0))
      << "the grid of the second step has only two CTAs";
  EXPECT_EQ(gpu_.device().statistics().ctas, 5U);
}

TEST_F(VirtualSteps, AnotherOrderIsAnotherResult) {
  EXPECT_EQ(launched({kTwice, kAdd}), "");
  EXPECT_THAT(gpu_.read<int>(out_, 3), ElementsAre(102, 102, 0));
}

TEST_F(VirtualSteps, AFaultNamesItsStepAndEndsTheLaunch) {
  LaunchStep wide = kAdd;
  wide.config.grid[0] = 4;
  EXPECT_THAT(launched({wide, kTwice}), AllOf(HasSubstr("step add: "), HasSubstr("out-of-bounds")));
  EXPECT_THAT(gpu_.read<int>(out_, 3), ElementsAre(0, 0, 0));
  EXPECT_THAT(launched({wide}), testing::Not(HasSubstr("step add")));
  LaunchStep few = kTwice;
  few.arguments = {2};
  EXPECT_THAT(launched({kAdd, few}), HasSubstr("step twice: "));
  few.arguments = {2, 3};
  EXPECT_THROW((void)launched({kAdd, few}), InputError)
      << "argument 3 is the constant `factor`, which is no parameter";
}

TEST_F(VirtualSteps, AreNeverSampled) {
  gpu_.device().interpreting()->set_cta_sample({0});
  EXPECT_EQ(launched({kAdd, kTwice}), "");
  EXPECT_THAT(gpu_.read<int>(between_, 3), ElementsAre(11, 21, 31));
  EXPECT_EQ(launched({kTwice}), "");
  EXPECT_EQ(gpu_.device().statistics().ctas, 1U);
}

TEST_F(VirtualSteps, PredictedTimesAddUp) {
  const double first = predicted({kAdd});
  const double second = predicted({kTwice});
  EXPECT_DOUBLE_EQ(predicted({kAdd, kTwice}), first + second);
  EXPECT_THAT(gpu_.read<int>(between_, 3), ElementsAre(1, 1, 1))
      << "predictions do not change buffers";
}

TEST_F(VirtualSteps, AnEntryThatIsNotThereIsAFault) {
  const auto loaded = gpu_.device().load({kTwoEntries, {}, {"add", "thrice"}, {}});
  EXPECT_THAT(std::get<Fault>(loaded).reason, HasSubstr("thrice"));
}

}  // namespace
}  // namespace evo::test
