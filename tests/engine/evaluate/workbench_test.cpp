// Tests the class Workbench with a fake worker: which candidates share one kernel, which errors in
// the problem or space reject one candidate or the whole run, and how kernels that fail in A/B
// comparisons are treated.

#include "engine/evaluate/workbench.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "db/store.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/worker/compile_pool.hpp"
#include "engine/worker/device_client.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

class WorkbenchTest : public testing::Test {
 protected:
  WorkbenchTest() {
    const auto programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    setenv("EVO_WORKER", (programs / "fake-worker").c_str(), 1);
    setenv("EVO_FAKE_STATE", (folder_.path() / "state").c_str(), 1);
    std::filesystem::copy(std::filesystem::path(EVO_SOURCE_DIR) / "tests/planted",
                          folder_.path() / "project", std::filesystem::copy_options::recursive);
  }
  ~WorkbenchTest() override {
    unsetenv("EVO_WORKER");
    unsetenv("EVO_FAKE_STATE");
  }

  [[nodiscard]] std::filesystem::path space_file() const {
    return folder_.path() / "project/search_spaces/planted_comparisons.json";
  }
  [[nodiscard]] std::filesystem::path problem_file() const {
    return folder_.path() / "project/kernel_templates/planted/problem.json";
  }
  static void change(const std::filesystem::path& file, const std::function<void(Json&)>& edit) {
    Json json = read_json_file(file);
    edit(json);
    write_file(file, json.dump());
  }

  std::unique_ptr<Workbench> open(bool with_device) {
    auto loop = std::make_unique<SystemLoop>();
    auto compilers = std::make_unique<CompilePool>(*loop, worker_program(), CompilePoolOptions{});
    Services services{std::move(loop), store_, std::move(compilers)};
    if (with_device) {
      auto device = std::make_unique<DeviceClient>(
          *services.loop, worker_program(), "fake:measured", std::chrono::milliseconds(2000),
          [this](const std::string& kind, const std::string&) { events_.push_back(kind); });
      device->wait_until_open();
      services.devices.push_back(std::move(device));
    }
    WorkbenchOptions options;
    options.space_file = space_file();
    return std::make_unique<Workbench>(options, std::move(services));
  }

  static Candidate candidate(const Workbench& bench,
                             const std::vector<std::pair<std::string, std::string>>& settings) {
    const Space& space = bench.task().space();
    return space.candidate_from_settings(settings, space.defaults());
  }

  static std::vector<Evaluation> judge(Workbench& bench, const std::vector<Candidate>& candidates) {
    std::vector<Evaluation> judged;
    for (const Candidate& candidate : candidates) {
      judged.push_back(bench.wait(bench.evaluator().evaluate(candidate, {})));
    }
    return judged;
  }

  static KernelUnderTest green_kernel(Workbench& bench, const std::string& bug) {
    const Candidate chosen = candidate(bench, {{"BUG", bug}});
    const Evaluation evaluation = judge(bench, {chosen}).front();
    EXPECT_TRUE(evaluation.is_green())
        << bug << (evaluation.rejection ? evaluation.rejection->reason : std::string());
    return kernel_under_test(bench.task(), evaluation);
  }

  static ComparedPair compare(Workbench& bench, const KernelUnderTest& first,
                              const KernelUnderTest& second) {
    HomeDevice home = bench.take_home();
    return bench.wait(home.compare(first, second));
  }

  sample::TemporaryFolder folder_;
  std::vector<std::string> events_;
  Store store_ = Store::in_memory();
};

/// The macros that begin with UNUSED do not change the code, because the fake compiler ignores
/// them. Candidates that differ only in an UNUSED macro share a kernel unless the macro changes the
/// launch or the check.
TEST_F(WorkbenchTest, TwoCandidatesAreOneKernelOnlyWhereAllThatDecidesAgrees) {
  change(space_file(), [](Json& space) {
    for (const char* macro :
         {"NOTHING", "GRID", "BLOCK", "SHARED", "WORKSPACE", "TOLERANCE", "ROW", "CTAS"}) {
      space["parameters"].push_back(
          {{"macro", std::string("UNUSED_") + macro}, {"values", {0, 1}}, {"meaning", "no code"}});
    }
  });
  change(problem_file(), [](Json& problem) {
    problem["arguments"].push_back({{"name", "w"}, {"direction", "workspace"}, {"dtype", "u32"}});
    problem["tolerance"]["max_row_error"] = 1;
    problem["arguments"][1]["row"] = "1";
    Json& kernel = problem["templates"]["planted"];
    kernel["grid"] = {"ceil_div(N, THREADS) + UNUSED_GRID"};
    kernel["block"] = {"THREADS + UNUSED_BLOCK"};
    kernel["dynamic_shared_bytes"] = "16 * UNUSED_SHARED";
    // UNUSED_WORKSPACE changes the size of the workspace only on a shape that is checked but not
    // timed.
    kernel["workspace"] = {{"w", "N == 1003 ? 4 + UNUSED_WORKSPACE : 4"}};
    kernel["tolerance"] = {{"relative_l2", "N == 1 ? 0.001 * (1 + UNUSED_TOLERANCE) : 0.001"},
                           {"max_row_error", "0.001 * (1 + UNUSED_ROW)"}};
    kernel["independent_ctas"] = "UNUSED_CTAS";
  });
  const auto bench = open(false);
  std::vector<Candidate> candidates = {bench->task().space().defaults()};
  for (const char* macro :
       {"GRID", "BLOCK", "SHARED", "WORKSPACE", "TOLERANCE", "ROW", "CTAS", "NOTHING"}) {
    candidates.push_back(candidate(*bench, {{std::string("UNUSED_") + macro, "1"}}));
  }
  const auto judged = judge(*bench, candidates);
  std::set<std::string> keys;
  for (const Evaluation& evaluation : judged) {
    ASSERT_FALSE(evaluation.rejection) << evaluation.rejection->reason;
    EXPECT_EQ(evaluation.compilation.ptx_hash, judged[0].compilation.ptx_hash);
    keys.insert(evaluation.kernel_key);
  }
  EXPECT_EQ(keys.size(), judged.size() - 1);
  EXPECT_EQ(judged.back().kernel_key, judged.front().kernel_key);
}

/// The manifest's conditions contain the names of shape variables, not the timed shape's numbers,
/// so that loaders can evaluate the conditions for other shapes.
TEST_F(WorkbenchTest, TheManifestSaysWhichOtherShapesAKernelIsFor) {
  change(space_file(), [](Json& space) {
    space["let"] = {{"TILE", "THREADS * ITEMS"}};
    space["constraints"].push_back({{"expression", "N % TILE == 0 || PARITY"}, {"why", "no tail"}});
    space["constraints"].push_back({{"expression", "THREADS <= MAX_THREADS_PER_CTA - 0 * SIZE"}});
  });
  change(problem_file(), [](Json& problem) {
    problem["let"] = {{"SIZE", "N"}};
    problem["macros"] = {{"PARITY", "N % 2"}};
    problem["templates"]["planted"]["shapes_where"] = "N > 0";
  });
  const auto bench = open(false);
  const Json manifest = Json::parse(bench->task().manifest(bench->task().space().defaults()));
  EXPECT_EQ(manifest["valid"], Json::parse(R"json([
    {"expression": "(N % 2) == 0", "why": "compiled with PARITY=0"},
    {"expression": "N > 0", "why": "template planted supports no other shapes"},
    {"expression": "N % (THREADS * ITEMS) == 0 || (N % 2)", "why": "no tail"},
    {"expression": "THREADS <= 1024 - 0 * N", "why": ""}])json"))
      << manifest["valid"];
}

TEST_F(WorkbenchTest, AConfigurationThatBreaksAnExpressionIsRejectedAndTheOthersGoOn) {
  struct Case {
    const char* what;
    std::function<void(Json&)> edit;
  };
  const auto workspace = [](const char* extent) {
    return [extent](Json& problem) {
      problem["arguments"].push_back({{"name", "w"}, {"direction", "workspace"}, {"dtype", "u32"}});
      problem["templates"]["planted"]["workspace"] = {{"w", extent}};
    };
  };
  const std::vector<Case> cases = {
      {"division by zero",
       [](Json& p) {
         p["templates"]["planted"]["tolerance"]["relative_l2"] = "abs(1 / (ITEMS - 4))";
       }},
      {"tolerance",
       [](Json& p) {
         p["templates"]["planted"]["tolerance"]["bad_share"] = "ITEMS == 4 ? 0 - 1 : 0";
       }},
      {"independent",
       [](Json& p) { p["templates"]["planted"]["independent_ctas"] = "1 / (ITEMS - 4)"; }},
      {"whole number", workspace("ITEMS == 4 ? 0.5 : 1")},
      {"whole number", workspace("ITEMS == 4 ? 0 - 1 : 1")},
      {"whole number", workspace("ITEMS == 4 ? 1e300 : 1")},
      {"1 TiB", workspace("ITEMS == 4 ? 9e11 : 1")},
      {"grid", [](Json& p) { p["templates"]["planted"]["grid"] = {"ITEMS == 4 ? 0.5 : 32"}; }},
  };
  const std::string original = read_text_file(problem_file());
  for (const Case& one : cases) {
    change(problem_file(), one.edit);
    const auto bench = open(false);
    const auto judged =
        judge(*bench, {candidate(*bench, {{"ITEMS", "2"}, {"THREADS", "32"}}),
                       candidate(*bench, {{"ITEMS", "4"}}), candidate(*bench, {{"ITEMS", "8"}})});
    ASSERT_EQ(judged.size(), 3U);
    ASSERT_TRUE(judged[1].rejection.has_value()) << one.what;
    EXPECT_EQ(judged[1].rejection->gate, Gate::kResource);
    if (std::string(one.what) != "independent") {
      EXPECT_THAT(judged[1].rejection->reason, HasSubstr(one.what));
    }
    EXPECT_TRUE(judged[1].kernel_key.empty())
        << "a rejected candidate shares its kernel with no other candidate";
    EXPECT_FALSE(judged[0].rejection || judged[2].rejection) << one.what;
    write_file(problem_file(), original);
  }
}

TEST_F(WorkbenchTest, TheSameDeviceServesShapesOfAnotherBuild) {
  change(problem_file(), [](Json& problem) { problem["macros"] = {{"ODD", "N % 2"}}; });
  const auto bench = open(true);
  EXPECT_EQ(green_kernel(*bench, "none").shapes, std::vector<std::string>{"mission"});
  const std::string even =
      judge(*bench, {bench->task().space().defaults()}).front().compilation.options;
  bench->use_shapes("ragged,single");
  EXPECT_EQ(bench->task().shape_count(), 2U);
  const Evaluation odd = judge(*bench, {bench->task().space().defaults()}).front();
  EXPECT_TRUE(odd.is_green());
  EXPECT_THAT(even, HasSubstr("-DODD=0"));
  EXPECT_THAT(odd.compilation.options, HasSubstr("-DODD=1"));
  EXPECT_THAT(events_, testing::IsEmpty()) << "no worker was replaced";
}

TEST_F(WorkbenchTest, AStopEndsThePreparationOfOtherShapes) {
  change(problem_file(), [](Json& problem) { problem["macros"] = {{"ODD", "N % 2"}}; });
  setenv("EVO_FAKE_COMPILE_MS", "300", 1);
  const auto bench = open(true);
  unsetenv("EVO_FAKE_COMPILE_MS");
  const std::atomic<bool> stop{true};
  bench->loop().stop_when({.requested = &stop});
  EXPECT_THROW(bench->use_shapes("ragged"), Interrupted);
}

TEST_F(WorkbenchTest, CompilerOptionsAreHeldAgainstTheSpace) {
  const std::string original = read_text_file(space_file());
  for (const char* option : {"-DTHREADS=1", "-DBUG_NONE=1", "--time=x", "-I/etc"}) {
    change(space_file(), [&](Json& space) { space["compiler_options"] = {option}; });
    try {
      (void)open(false);
      ADD_FAILURE() << option;
    } catch (const SpaceError& error) {
      EXPECT_THAT(error.what(), HasSubstr("planted_comparisons.json: compiler_options: \"" +
                                          std::string(option) + "\""));
    }
    write_file(space_file(), original);
  }
}

TEST_F(WorkbenchTest, AKernelThatFailsInAPairAndThenAloneIsNamed) {
  const auto bench = open(true);
  const KernelUnderTest good = green_kernel(*bench, "none");
  const KernelUnderTest bad = green_kernel(*bench, "fails_since_a_pair");
  for (const bool bad_first : {true, false}) {
    const ComparedPair result = bad_first ? compare(*bench, bad, good) : compare(*bench, good, bad);
    EXPECT_TRUE(result.pair.rejection);
    EXPECT_EQ(result.first_failed.has_value(), bad_first);
    EXPECT_EQ(result.second_failed.has_value(), !bad_first);
    EXPECT_THAT((bad_first ? result.first_failed : result.second_failed)->reason,
                HasSubstr("failed beside another one"));
  }
}

TEST_F(WorkbenchTest, AKernelThatFailsInPairsOnlyIsNotBlamedAlone) {
  const auto bench = open(true);
  const KernelUnderTest good = green_kernel(*bench, "none");
  const KernelUnderTest bad = green_kernel(*bench, "fails_in_pairs");
  const ComparedPair result = compare(*bench, good, bad);
  EXPECT_TRUE(result.pair.rejection) << "the comparison was repeated and failed again";
  EXPECT_FALSE(result.first_failed);
  EXPECT_FALSE(result.second_failed);
  const ComparedPair next = compare(*bench, good, good);
  EXPECT_FALSE(next.pair.rejection);
}

}  // namespace
}  // namespace evo
