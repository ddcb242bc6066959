// What a harness makes of whole spaces, on the fake worker: which candidates are one kernel, what a
// configuration cannot break, and what becomes of kernels that fail in comparisons.

#include "engine/coordinator/harness.hpp"

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

class HarnessTest : public testing::Test {
 protected:
  HarnessTest() {
    const auto programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    setenv("EVO_WORKER", (programs / "fake-worker").c_str(), 1);
    setenv("EVO_FAKE_STATE", (folder_.path() / "state").c_str(), 1);
    std::filesystem::copy(std::filesystem::path(EVO_SOURCE_DIR) / "tests/planted",
                          folder_.path() / "project", std::filesystem::copy_options::recursive);
  }
  ~HarnessTest() override {
    unsetenv("EVO_WORKER");
    unsetenv("EVO_FAKE_STATE");
  }

  [[nodiscard]] std::filesystem::path space_file() const {
    return folder_.path() / "project/search_spaces/planted_duels.json";
  }
  [[nodiscard]] std::filesystem::path problem_file() const {
    return folder_.path() / "project/kernel_templates/planted/problem.json";
  }
  static void change(const std::filesystem::path& file, const std::function<void(Json&)>& edit) {
    Json json = read_json_file(file);
    edit(json);
    write_file(file, json.dump());
  }

  std::unique_ptr<Harness> open(bool with_device) {
    Services services{store_, std::make_unique<CompilePool>(worker_program(), CompilePoolOptions{}),
                      nullptr};
    if (with_device) {
      services.device = std::make_unique<DeviceClient>(
          worker_program(), "fake:measured", std::chrono::milliseconds(2000),
          [this](const std::string& kind, const std::string&) { events_.push_back(kind); });
    }
    HarnessOptions options;
    options.space_file = space_file();
    return std::make_unique<Harness>(options, std::move(services));
  }

  static Candidate candidate(const Harness& harness,
                             const std::vector<std::pair<std::string, std::string>>& settings) {
    return harness.space().candidate_from_settings(settings, harness.space().defaults());
  }

  std::vector<Judgement> judge(Harness& harness, const std::vector<Candidate>& candidates) {
    std::vector<Judgement> judged;
    for (const Candidate& candidate : candidates) judged.push_back(harness.judge(candidate));
    return judged;
  }

  KernelUnderTest green_kernel(Harness& harness, const std::string& bug) {
    const Candidate chosen = candidate(harness, {{"BUG", bug}});
    const Judgement judgement = judge(harness, {chosen}).front();
    EXPECT_TRUE(judgement.is_green())
        << bug << (judgement.rejection ? judgement.rejection->reason : std::string());
    return harness.kernel_of(chosen, judgement.built.record, judgement.kernel_key);
  }

  sample::TemporaryFolder folder_;
  std::vector<std::string> events_;
  Store store_ = Store::in_memory();
};

/// Macros that change no code: the fake compiler leaves out those that begin with UNUSED.
TEST_F(HarnessTest, TwoCandidatesAreOneKernelOnlyWhereAllThatDecidesAgrees) {
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
    // Only on a shape that is checked but not timed.
    kernel["workspace"] = {{"w", "N == 1003 ? 4 + UNUSED_WORKSPACE : 4"}};
    kernel["tolerance"] = {{"relative_l2", "N == 1 ? 0.001 * (1 + UNUSED_TOLERANCE) : 0.001"},
                           {"max_row_error", "0.001 * (1 + UNUSED_ROW)"}};
    kernel["independent_ctas"] = "UNUSED_CTAS";
  });
  const auto harness = open(false);
  std::vector<Candidate> candidates = {harness->space().defaults()};
  for (const char* macro :
       {"GRID", "BLOCK", "SHARED", "WORKSPACE", "TOLERANCE", "ROW", "CTAS", "NOTHING"}) {
    candidates.push_back(candidate(*harness, {{std::string("UNUSED_") + macro, "1"}}));
  }
  const auto judged = judge(*harness, candidates);
  std::set<std::string> keys;
  for (const Judgement& judgement : judged) {
    ASSERT_FALSE(judgement.rejection) << judgement.rejection->reason;
    EXPECT_EQ(judgement.built.record.ptx_hash, judged[0].built.record.ptx_hash);
    keys.insert(judgement.kernel_key);
  }
  EXPECT_EQ(keys.size(), judged.size() - 1);
  EXPECT_EQ(judged.back().kernel_key, judged.front().kernel_key);
}

/// With names in place of the timed shape's numbers, so that they can be asked of another shape.
TEST_F(HarnessTest, TheManifestSaysWhichOtherShapesAKernelIsFor) {
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
  const auto harness = open(false);
  const Json manifest = Json::parse(harness->manifest(harness->space().defaults()));
  EXPECT_EQ(manifest["valid"], Json::parse(R"json([
    {"expression": "(N % 2) == 0", "why": "compiled with PARITY=0"},
    {"expression": "N > 0", "why": "template planted supports no other shapes"},
    {"expression": "N % (THREADS * ITEMS) == 0 || (N % 2)", "why": "no tail"},
    {"expression": "THREADS <= 1024 - 0 * N", "why": ""}])json"))
      << manifest["valid"];
}

TEST_F(HarnessTest, AConfigurationThatBreaksAnExpressionIsRejectedAndTheOthersGoOn) {
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
    const auto harness = open(false);
    const auto judged = judge(
        *harness, {candidate(*harness, {{"ITEMS", "2"}, {"THREADS", "32"}}),
                   candidate(*harness, {{"ITEMS", "4"}}), candidate(*harness, {{"ITEMS", "8"}})});
    ASSERT_EQ(judged.size(), 3U);
    ASSERT_TRUE(judged[1].rejection.has_value()) << one.what;
    EXPECT_EQ(judged[1].rejection->gate, Gate::kResource);
    if (std::string(one.what) != "independent") {
      EXPECT_THAT(judged[1].rejection->reason, HasSubstr(one.what));
    }
    EXPECT_TRUE(judged[1].kernel_key.empty()) << "a candidate that is no kernel is nobody's twin";
    EXPECT_FALSE(judged[0].rejection || judged[2].rejection) << one.what;
    write_file(problem_file(), original);
  }
}

TEST_F(HarnessTest, CompilerOptionsAreHeldAgainstTheSpace) {
  const std::string original = read_text_file(space_file());
  for (const char* option : {"-DTHREADS=1", "-DBUG_NONE=1", "--time=x", "-I/etc"}) {
    change(space_file(), [&](Json& space) { space["compiler_options"] = {option}; });
    try {
      (void)open(false);
      ADD_FAILURE() << option;
    } catch (const SpaceError& error) {
      EXPECT_THAT(error.what(), HasSubstr("planted_duels.json: compiler_options: \"" +
                                          std::string(option) + "\""));
    }
    write_file(space_file(), original);
  }
}

TEST_F(HarnessTest, AKernelThatFailsInAPairAndThenAloneIsNamed) {
  const auto harness = open(true);
  const KernelUnderTest good = green_kernel(*harness, "none");
  const KernelUnderTest bad = green_kernel(*harness, "fails_since_a_pair");
  for (const bool bad_first : {true, false}) {
    const Duel duel = bad_first ? harness->duel(bad, good) : harness->duel(good, bad);
    EXPECT_TRUE(duel.pair.rejection);
    EXPECT_EQ(duel.first_failed.has_value(), bad_first);
    EXPECT_EQ(duel.second_failed.has_value(), !bad_first);
    EXPECT_THAT((bad_first ? duel.first_failed : duel.second_failed)->reason,
                HasSubstr("failed beside another one"));
  }
}

TEST_F(HarnessTest, AKernelThatFailsInPairsOnlyIsNotBlamedAlone) {
  const auto harness = open(true);
  const KernelUnderTest good = green_kernel(*harness, "none");
  const KernelUnderTest bad = green_kernel(*harness, "fails_in_pairs");
  const Duel duel = harness->duel(good, bad);
  EXPECT_TRUE(duel.pair.rejection) << "it was tried once more, and failed again";
  EXPECT_FALSE(duel.first_failed);
  EXPECT_FALSE(duel.second_failed);
  const Duel next = harness->duel(good, good);
  EXPECT_FALSE(next.pair.rejection);
}

}  // namespace
}  // namespace evo
