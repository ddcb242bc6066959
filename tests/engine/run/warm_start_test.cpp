// Tests which configurations of earlier runs a new run evaluates first.

#include "engine/run/warm_start.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/db/sample.hpp"
#include "tests/fakes/fake_world.hpp"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class WarmStart : public testing::Test {
 protected:
  /// Stores an earlier run whose elite has the given configurations, the best first.
  RunId earlier(const std::string& shape, const std::vector<std::string>& configs,
                const std::string& device = "fake GPU") {
    RunInfo info = sample::run_info();
    info.device.name = device;
    info.problem = {problem_text_, world_.task().problem().name, problem_text_};
    info.space = {space_text_, "an older space", space_text_};
    info.shape = shape;
    const RunId run = store_.start_run(info);
    const CompilationId compilation = store_.put_compilation(sample::compilation("a"));
    GenerationRecord generation;
    for (std::size_t i = 0; i < configs.size(); ++i) {
      EvaluationRecord record =
          sample::green(0, static_cast<int>(i), compilation, 10 + static_cast<double>(i));
      record.config_json = configs[i];
      record.kernel_key = configs[i];
      generation.elite.push_back(store_.record_evaluation(run, record));
    }
    store_.record_generation(run, generation);
    return run;
  }

  static std::string config(int threads, int items) {
    return R"({"BUG":"none","THREADS":)" + std::to_string(threads) + R"(,"ITEMS":)" +
           std::to_string(items) + R"(,"OTHER":0})";
  }

  std::vector<std::string> known(std::size_t most = 8) {
    std::vector<std::string> found;
    for (const KnownCandidate& one : find_known(store_, world_.task(), most)) {
      found.push_back(std::to_string(one.run) + " " +
                      world_.task().space().config_json(one.candidate));
    }
    return found;
  }

  static std::string of(RunId run, const std::string& config) {
    return std::to_string(run) + " " + config;
  }

  fake::MemoryStore memory_;
  World world_{memory_, {}, {.space = "by_shape"}};
  Store store_ = Store::in_memory();
  std::string problem_text_ = world_.task().problem().text;
  std::string space_text_ = world_.task().space().definition().text;
};

TEST_F(WarmStart, NothingIsKnownAtFirst) { EXPECT_THAT(known(), IsEmpty()); }

TEST_F(WarmStart, TheBestOfEachRunFirstAndTheNearestShapesFirst) {
  const RunId ragged = earlier("ragged", {config(64, 1), config(64, 2)});
  const RunId mission = earlier("mission", {config(128, 1), config(128, 4)});
  EXPECT_THAT(known(), ElementsAre(of(mission, config(128, 1)), of(ragged, config(64, 1)),
                                   of(mission, config(128, 4)), of(ragged, config(64, 2))));
  EXPECT_THAT(known(1), ElementsAre(of(mission, config(128, 1))));
}

TEST_F(WarmStart, TheSameDeviceBeforeOthersAndTheNewestOfAllThat) {
  const RunId other = earlier("mission", {config(64, 1)}, "another GPU");
  const RunId older = earlier("mission", {config(128, 1)});
  const RunId newer = earlier("mission", {config(256, 1), config(128, 1)});
  EXPECT_THAT(known(), ElementsAre(of(newer, config(256, 1)), of(older, config(128, 1)),
                                   of(other, config(64, 1))))
      << "a configuration of several runs is proposed once";
}

TEST_F(WarmStart, OnlyWhatTheSpaceHasAndAllows) {
  (void)earlier(
      "mission",
      {config(96, 1), config(512, 8)});  // 96 is no value of THREADS; 512 · 8 violates a constraint
  EXPECT_THAT(known(), IsEmpty());
  // A macro that the new space lacks is dropped; a macro that the earlier space lacked gets its
  // default.
  const RunId run = earlier("mission", {R"({"BUG":"none","THREADS":256,"GONE":3})"});
  EXPECT_THAT(known(), ElementsAre(of(run, config(256, 1))));
}

TEST_F(WarmStart, OtherProblemsAndTemplatesTeachNothing) {
  space_text_ = R"({"template": "another"})";
  (void)earlier("mission", {config(128, 1)});
  space_text_ = "no JSON";
  (void)earlier("mission", {config(128, 1)});
  RunInfo info = sample::run_info();
  (void)store_.start_run(info);
  EXPECT_THAT(known(), IsEmpty());
}

}  // namespace
}  // namespace evo
