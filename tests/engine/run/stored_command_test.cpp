#include "engine/run/stored_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A command with the searches "mission,small" and "long".
class StoredCommands : public testing::Test {
 protected:
  static RunInfo info(const std::string& shape, const std::string& group,
                      const std::string& searches = R"(["mission,small", "long"])") {
    RunInfo info = sample::run_info();
    info.shape = shape;
    info.options_json = R"({"max_in_flight": 8, "group": ")" + group + R"(", "searches": )" +
                        searches + (shape == "long" ? "}" : R"(, "shapes": ["mission", "small"]})");
    return info;
  }
  std::vector<RunId> begin_first(const std::string& group) {
    return store_.start_runs({info("mission", group), info("small", group)});
  }
  void finish(const std::vector<RunId>& runs, RunStatus status = RunStatus::kFinished) {
    for (const RunId run : runs) store_.finish_run(run, status);
  }
  [[nodiscard]] StoredCommand find(const std::vector<std::string>& given = {}) const {
    return find_unfinished_command(store_, request_, {info("mission", ""), info("long", "")},
                                   {0, "evo.db", given});
  }
  [[nodiscard]] std::string why_not(const std::vector<std::string>& given = {}) const {
    try {
      return "found " + find(given).group;
    } catch (const InputError& error) {
      return error.what();
    }
  }

  Store store_ = Store::in_memory();
  RunRequest request_ = [] {
    RunRequest request;
    request.searches = {"mission,small", "long"};
    return request;
  }();
};

TEST_F(StoredCommands, ASearchMayBeInterrupted) {
  const std::vector<RunId> runs = begin_first("a");
  finish(runs, RunStatus::kInterrupted);
  const StoredCommand command = find();
  EXPECT_EQ(command.group, "a");
  ASSERT_EQ(command.searches.size(), 2U);
  EXPECT_EQ(command.searches[0].size(), 2U);
  EXPECT_EQ(command.begun().front().id, runs.front());
  EXPECT_FALSE(command.is_finished(0));
  EXPECT_FALSE(command.is_finished(1));
}

TEST_F(StoredCommands, ALaterSearchMayHaveNotBegun) {
  finish(begin_first("a"));
  const StoredCommand command = find();
  EXPECT_TRUE(command.is_finished(0));
  EXPECT_TRUE(command.searches[1].empty());
}

TEST_F(StoredCommands, TheNewestUnfinishedOneIsFound) {
  begin_first("old");
  begin_first("new");
  finish(begin_first("whole"));
  finish({store_.start_run(info("long", "whole"))});
  EXPECT_EQ(find().group, "new");
}

TEST_F(StoredCommands, OtherSearchesAreAnotherCommand) {
  store_.start_run(info("long", "a", R"(["long", "mission,small"])"));
  store_.start_run(sample::run_info());
  EXPECT_THAT(why_not(), HasSubstr("evo.db has no unfinished searches for these shapes"));
}

TEST_F(StoredCommands, AChangedProblemIsAnotherCommand) {
  RunInfo changed = info("mission", "a");
  changed.problem.key = "changed";
  store_.start_run(changed);
  EXPECT_THAT(why_not(), HasSubstr("whose files have changed since"));
}

TEST_F(StoredCommands, FixedOptionsCannotChange) {
  RunInfo seeded = info("mission", "a");
  seeded.seed = 77;
  store_.start_run(seeded);
  EXPECT_EQ(why_not(), "found a");
  EXPECT_THAT(why_not({"--seed"}), HasSubstr("can only be continued with its own value, 77"));
}

}  // namespace
}  // namespace evo
