// Tests the survey of a machine's libraries if a library ends the worker process or never answers.

#include "engine/worker/survey.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/core/json_reader.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Surveys the machine with a shell script in place of evo-worker.
class Survey : public testing::Test {
 protected:
  MachineSurvey with(const std::string& script) const {
    const auto worker = folder_.path() / "worker";
    write_file(worker, "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
    return survey_machine(worker, "auto", std::chrono::milliseconds(300));
  }
  sample::TemporaryFolder folder_;
};

TEST_F(Survey, OfLibrariesThatNeverAnswerEnds) {
  const auto start = std::chrono::steady_clock::now();
  const MachineSurvey survey = with("exec sleep 1000");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  EXPECT_EQ(survey.nvml.failure, "NVML does not answer within 0.3 s");
  EXPECT_EQ(survey.cuda.failure, "the CUDA driver does not answer within 0.3 s");
  EXPECT_EQ(survey.nvrtc.failure, "NVRTC does not answer within 0.3 s");
  EXPECT_EQ(std::get<OpenFailure>(survey.device).reason,
            "the GPU's worker does not answer within 0.3 s");
}

TEST_F(Survey, OfLibrariesThatEndTheirProcessSaysSo) {
  const MachineSurvey survey = with("exit 7");
  EXPECT_EQ(survey.nvml.failure, "NVML ended its process: exit code 7");
  EXPECT_EQ(survey.cuda.failure, "the CUDA driver ended its process: exit code 7");
  EXPECT_THAT(std::get<OpenFailure>(survey.device).reason, StartsWith("the GPU's worker ended"));
}

TEST_F(Survey, OfWhatIsNoMessageSaysSo) {
  EXPECT_THAT(
      with("printf '\\377\\377\\377\\377\\377\\377\\377\\377'; exec sleep 1000").cuda.failure,
      HasSubstr("the CUDA driver "));
}

}  // namespace
}  // namespace evo
