// Tests evo-tune and evo-judge with input that they cannot use. The programs must end with exit
// code 2 (3 if something is missing on the machine) and a message that names the wrong input, for
// example the file, the key, the value and the allowed values.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "db/queries.hpp"
#include "engine/core/json_reader.hpp"
#include "tests/cli/fake_session.hpp"

namespace evo {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class BadInput : public testing::Test {
 protected:
  BadInput() : space_(json::parse(read_text_file(FakeSession::faults_space()))) {
    std::filesystem::create_directories(session_.path("search_spaces"));
    std::filesystem::copy(source_folder() / "tests/planted/kernel_templates",
                          session_.path("kernel_templates"),
                          std::filesystem::copy_options::recursive);
  }

  /// Writes the space `space_`, which a test may have changed, to a file, and runs evo-tune on it.
  ProgramResult tune_changed(const std::string& more = {}) const {
    write_file(session_.path("search_spaces/bad.json"), space_.dump());
    return session_.run("evo-tune --space search_spaces/bad.json --device fake:measured " + more);
  }

  void expect_bad_space(const std::vector<std::string>& parts) const {
    const ProgramResult result = tune_changed();
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("bad.json"));
    for (const std::string& part : parts) EXPECT_THAT(result.err, HasSubstr(part));
  }

  void expect_bad_usage(const std::string& command, int code,
                        const std::vector<std::string>& parts) const {
    const ProgramResult result = session_.run(command);
    EXPECT_EQ(result.exit_code, code) << command << "\n" << result.err;
    EXPECT_EQ(result.out, "") << command;
    for (const std::string& part : parts) EXPECT_THAT(result.err, HasSubstr(part)) << command;
  }

  FakeSession session_;
  json space_;
};

TEST_F(BadInput, UnknownKey) {
  space_["paramters"] = 1;
  expect_bad_space({"paramters", "unknown key", "allowed", "parameters"});
}

TEST_F(BadInput, WrongType) {
  space_["parameters"][1]["macro"] = 5;
  expect_bad_space({"parameters[1].macro", "5", "allowed: a non-empty string"});
}

TEST_F(BadInput, AnArchitecturesOwnVariantOnAnotherDevice) {
  space_["arch"] = "sm_89a";
  expect_bad_space({"arch: \"sm_89a\"", "exactly sm_89", "this one is sm_90", "fake GPU"});
}

TEST_F(BadInput, TheDevicesOwnVariantIsCompiledForWhenTheSpaceAsks) {
  space_["arch"] = "sm_90a";
  const ProgramResult result = tune_changed("--generations 1 --offspring 1");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("fake GPU, sm_90a"), Not(HasSubstr("is written for"))));
  const Store store = session_.store();
  const EvaluationRecord winner = store.evaluation(elite_of_run(store, 1).front().candidate);
  EXPECT_EQ(store.compilation(*winner.compilation).arch, "sm_90a");
}

TEST_F(BadInput, EmptyValueList) {
  space_["parameters"][1]["values"] = json::array();
  expect_bad_space({"parameters[1]", "values", "[]", "allowed"});
}

TEST_F(BadInput, UnsatisfiableConstraints) {
  space_["constraints"].push_back({{"expression", "THREADS > 9999"}, {"why", "planted"}});
  expect_bad_space({"THREADS > 9999"});
}

TEST_F(BadInput, MisspeltMacroInAConstraint) {
  space_["constraints"].push_back({{"expression", "THREDS > 1"}, {"why", "planted"}});
  expect_bad_space({"THREDS", "THREADS"});
}

TEST_F(BadInput, UnknownProblemAndTemplate) {
  space_["problem"] = "plantd";
  expect_bad_space({"plantd", "kernel_templates"});
  space_["problem"] = "planted";
  space_["template"] = "wmma";
  const ProgramResult result = tune_changed();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("wmma"), HasSubstr("allowed: planted")));
}

TEST_F(BadInput, NotJson) {
  write_file(session_.path("search_spaces/bad.json"), "{\"format\": }");
  expect_bad_usage("evo-tune --space search_spaces/bad.json --device fake:measured", 2,
                   {"bad.json", "not JSON", "line 1, column"});
}

TEST_F(BadInput, MissingSpaceFile) {
  expect_bad_usage("evo-tune --space none.json --device fake:measured", 2,
                   {"none.json", "no such file"});
}

TEST_F(BadInput, UnknownStrategyShapeAndDevice) {
  expect_bad_usage(FakeSession::tune("--strategy magic"), 2, {"magic", "full", "random"});
  expect_bad_usage(FakeSession::tune("--shape huge"), 2, {"huge", "allowed: ", "mission"});
  expect_bad_usage("evo-tune --space " + FakeSession::faults_space() + " --device fake:other", 2,
                   {"fake:other", "allowed"});
}

TEST_F(BadInput, BadOptions) {
  for (const char* options :
       {"--generations 0", "--generations x", "--offspring 0", "--elite -1", "--frobnicate",
        "--json --quiet", "--max-seconds -3", "--timeout 0", "--jobs 0"}) {
    expect_bad_usage("evo-tune " + std::string(options), 2, {});
  }
}

TEST_F(BadInput, UnknownMacroOrValueInSet) {
  expect_bad_usage(FakeSession::judge("--set THREDS=64"), 2, {"THREDS", "THREADS", "ITEMS"});
  expect_bad_usage(FakeSession::judge("--set THREADS=65"), 2, {"THREADS", "65", "64", "128"});
  expect_bad_usage(FakeSession::judge("--set THREADS"), 2, {"MACRO=VALUE"});
  expect_bad_usage(FakeSession::judge("--set THREADS=512 ITEMS=8"), 2,
                   {"THREADS * ITEMS <= 1024", "a CTA takes at most 1024 elements"});
  expect_bad_usage(FakeSession::judge("--milestone mary"), 2, {"mary", "clean"});
}

TEST_F(BadInput, ProblemFileErrors) {
  const std::string file = session_.path("kernel_templates/planted/problem.json");
  const json good = json::parse(read_text_file(file));
  const auto expect = [&](const json& problem, const std::vector<std::string>& parts) {
    write_file(file, problem.dump());
    const ProgramResult result = tune_changed();
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr("problem.json"));
    for (const std::string& part : parts) EXPECT_THAT(result.err, HasSubstr(part));
  };
  json bad = good;
  bad["flopps"] = 1;
  expect(bad, {"flopps", "unknown key", "flops"});
  bad = good;
  bad["arguments"][0]["dtype"] = "f8";
  expect(bad, {"arguments[0].dtype", "f8", "e4m3"});
  bad = good;
  bad["templates"]["planted"]["grid"][0] = "ceil_div(N, THREDS * ITEMS)";
  expect(bad, {"templates.planted.grid", "THREDS", "THREADS"});
  bad = good;
  bad["tolerance"]["relative_l2"] = "THREDS * 1e-6";
  expect(bad, {"relative_l2", "THREDS", "THREADS"});
}

TEST_F(BadInput, DatabaseOfAnotherProgram) {
  write_file(session_.path("other.db"), "this is not a database, but long enough to look at it.");
  expect_bad_usage(FakeSession::tune("--db other.db"), 2, {"other.db"});
  EXPECT_EQ(read_text_file(session_.path("other.db")).substr(0, 15), "this is not a d");
}

// The following tests use the real worker, because it reports which GPU, driver or NVRTC is
// missing.

TEST_F(BadInput, UnknownDeviceWithTheRealWorker) {
  const ProgramResult result = run_program(
      "evo-tune --space " + FakeSession::faults_space() + " --device gpu7", session_.folder());
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("gpu7"), HasSubstr("allowed: auto, cuda:N")));
}

TEST_F(BadInput, ADeviceThatIsNotThereIsMissing) {
  const ProgramResult result = run_program(
      "evo-tune --space " + FakeSession::faults_space() + " --device cuda:77", session_.folder());
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, testing::AnyOf(HasSubstr("no CUDA driver"), HasSubstr("cuda:77"),
                                         HasSubstr("no usable GPU")));
}

TEST_F(BadInput, NvrtcThatIsNotThereIsMissing) {
  for (const char* program : {"evo-tune", "evo-judge"}) {
    const ProgramResult result = run_program(
        std::string(program) + " --space " + FakeSession::faults_space() + " --device none",
        session_.folder(), "EVO_NVRTC=/nonexistent/libnvrtc.so ");
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_THAT(result.err, AllOf(HasSubstr("/nonexistent/libnvrtc.so"), HasSubstr("EVO_NVRTC"),
                                  HasSubstr("CUDA Toolkit")));
  }
}

TEST_F(BadInput, AWorkerThatIsNotThereIsMissing) {
  const ProgramResult result =
      run_program(FakeSession::tune(""), session_.folder(), "EVO_WORKER=/nonexistent/worker ");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("/nonexistent/worker"), HasSubstr("EVO_WORKER")));
}

}  // namespace
}  // namespace evo
