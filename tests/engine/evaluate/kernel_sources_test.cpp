#include "engine/evaluate/kernel_sources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/json_reader.hpp"
#include "engine/device/arch_limits.hpp"
#include "engine/evaluate/tuning_task.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Not;

class KernelSourcesTest : public testing::Test {
 protected:
  KernelSourcesTest() {
    std::filesystem::copy(std::filesystem::path(EVO_SOURCE_DIR) / "tests/planted",
                          folder_.path() / "project", std::filesystem::copy_options::recursive);
    const auto file = folder_.path() / "project/kernel_templates/planted/problem.json";
    Json problem = read_json_file(file);
    problem["macros"] = {{"LENGTH", "N"}};
    problem["reference"]["macros"] = {{"SIMPLE", 1}};
    write_file(file, problem.dump());
  }

  [[nodiscard]] std::unique_ptr<TuningTask> task(bool with_lines = false) const {
    return std::make_unique<TuningTask>(folder_.path() / "project/search_spaces/wide.json", "",
                                        arch_limits("sm_90"), with_lines);
  }

 private:
  sample::TemporaryFolder folder_;
};

TEST_F(KernelSourcesTest, ARequestHasTheMacrosOfTheCandidateAndOfTheShape) {
  const auto task = this->task();
  const CompileRequest request = task->sources().request(task->space().defaults());
  EXPECT_THAT(request.options, IsSupersetOf({"-DTHREADS=64", "-DITEMS=1", "-DLENGTH=4096"}));
  EXPECT_THAT(request.options, Not(Contains("-lineinfo")));
  EXPECT_THAT(request.entries, ElementsAre("planted"));
  EXPECT_EQ(request.arch, "sm_90");
  const auto with_lines = this->task(true);
  EXPECT_THAT(with_lines->sources().request(task->space().defaults()).options,
              Contains("-lineinfo"));
}

TEST_F(KernelSourcesTest, TheReferenceHasItsOwnMacrosAndThoseOfTheShape) {
  const auto task = this->task();
  const CompileRequest request = task->sources().reference_request();
  EXPECT_THAT(request.options, IsSupersetOf({"-DSIMPLE=1", "-DLENGTH=4096"}));
  EXPECT_THAT(request.options, Not(Contains("-DTHREADS=64")));
  EXPECT_THAT(request.entries, ElementsAre("planted_reference"));
  EXPECT_EQ(request.source.name, task->sources().reference_source().name);
  EXPECT_NE(request.source.name, task->sources().source().name);
}

}  // namespace
}  // namespace evo
