// Tests evo-tune and evo-judge with a problem that two kernels compute one after the other (steps).
// A CUDA GPU and a virtual GPU must give the same results.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "db/queries.hpp"
#include "tests/cli/row_sums.hpp"

namespace evo::steps_test {
namespace {

using testing::HasSubstr;

class StepsOnDevice : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const ProgramResult opened = project_.judge();
    if (opened.exit_code == 3 ||
        (opened.exit_code == 2 && opened.err.find("unknown device") != std::string::npos)) {
      GTEST_SKIP() << opened.err;
    }
  }

  Json judged(const std::string& more) const {
    const ProgramResult result = project_.judge(more);
    return result.out.empty() ? Json{{"error", result.err}} : Json::parse(result.out);
  }
  [[nodiscard]] static bool is_virtual() { return GetParam().starts_with("virtual:"); }

  RowSums project_{GetParam()};
};

TEST_P(StepsOnDevice, AreRightAndTimedAsOne) {
  for (const char* splits : {"4", "1"}) {
    const Json found = judged(std::string("--set SPLITS=") + splits);
    ASSERT_EQ(found["verdict"], "green") << found;
    EXPECT_GT(found["timing"]["p50_us"], 0.2);
    EXPECT_LT(found["timing"]["p50_us"], 500.0);
    EXPECT_GE(found["timing"]["samples"], is_virtual() ? 1 : 100);
  }
}

TEST_P(StepsOnDevice, AWrongSecondStepIsFoundWrong) {
  project_.kernel(RowSums::final_sum("sum + (threadIdx.x == 5)"));
  const Json found = judged("--set SPLITS=4");
  EXPECT_EQ(found["rejection"]["gate"], "correctness") << found;
  EXPECT_THAT(found["rejection"].value("reason", ""), HasSubstr("y[5]"));
}

TEST_P(StepsOnDevice, AStepWithOtherParametersThanItsKernelIsRefused) {
  project_.step(1)["arguments"] = {"parts", "y", "n"};
  const Json found = judged("--set SPLITS=4");
  EXPECT_THAT(found["rejection"].value("reason", ""), HasSubstr("step _Z9final_sum")) << found;
}

TEST_P(StepsOnDevice, OneKernelIsLaunchedTwiceWithDifferentSharedMemory) {
  project_.write("kernel_templates/row_sums/row_sums.cu",
                 "__global__ void sums(const float* x, float* y, int n, int rows) {\n"
                 "  extern __shared__ float room[];\n"
                 "  float sum = 0;\n"
                 "  for (int i = 0; i < n; ++i) sum += x[threadIdx.x * n + i];\n"
                 "  room[threadIdx.x] = sum;\n"
                 "  y[threadIdx.x] = room[threadIdx.x] + 0 * rows;\n}\n");
  project_.problem["arguments"].push_back(
      {{"name", "rows"}, {"direction", "scalar"}, {"dtype", "i32"}, {"value", "ROWS"}});
  Json first = {{"entry", "sums"},
                {"grid", {1}},
                {"block", {"ROWS"}},
                {"dynamic_shared_bytes", 90000},
                {"arguments", {"x", "y", "n", "rows"}}};
  Json second = first;
  second["dynamic_shared_bytes"] = 60000;
  project_.problem["templates"]["row_sums"]["steps"] = {first, second};
  EXPECT_EQ(judged("")["verdict"], "green");
}

TEST_P(StepsOnDevice, EndInAnElite) {
  const ProgramResult tuned = project_.tune();
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  const Store store = Store::open_read_only(project_.folder() / "evo.db");
  for (const EvaluationRecord& evaluation : store.evaluations(1)) {
    EXPECT_FALSE(evaluation.rejection) << evaluation.rejection->reason;
  }
  EXPECT_FALSE(elite_of_run(store, 1).empty());
}

std::string test_name(const testing::TestParamInfo<std::string>& device) {
  std::string name = device.param;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Gpu, StepsOnDevice, testing::Values("cuda:0"), test_name);
INSTANTIATE_TEST_SUITE_P(Virtual, StepsOnDevice, testing::Values("virtual:l4"), test_name);

}  // namespace
}  // namespace evo::steps_test
