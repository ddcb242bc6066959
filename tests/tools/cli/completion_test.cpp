#include "tools/cli/completion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "tools/cli/number_options.hpp"
#include "tools/cli/value_lists.hpp"

namespace evo {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Not;

using Words = std::vector<std::string>;

class Completion : public testing::Test {
 protected:
  Completion() {
    app_.add_option("--space", text_)->type_name(value_words::kSpace);
    app_.add_option("--shape", text_)->type_name(value_words::kShapes);
    app_.add_option("--set", texts_)->type_name(value_words::kSetting);
    app_.add_option("--jobs", number_)->transform(whole_number(1, 9));
    app_.add_option("--resume", number_)->expected(0, 1);
    app_.add_flag("--json", flag_);
    app_.fallthrough();
    CLI::App* show = app_.add_subcommand("show");
    show->add_option("FIRST", text_)->type_name(value_words::kFile);
    show->add_option("SECOND", texts_)->expected(2)->type_name(value_words::kFolder);
    show->add_flag("--all", flag_);
    app_.add_subcommand("shards");
    lists_ = {{value_words::kSpace,
               [](const GivenValues&) {
                 return Words{"wide", "wild"};
               }},
              {value_words::kShapes,
               [](const GivenValues& given) {
                 return given.contains(value_words::kSpace)
                            ? Words{"small_of_" + given.at(value_words::kSpace), "large"}
                            : throw InputError("no space");
               }},
              {value_words::kSetting, [](const GivenValues&) {
                 return Words{"A=1", "A=2"};
               }}};
  }
  Words at(const Words& words) const { return completions(app_, words, lists_); }

  CLI::App app_;
  ValueLists lists_;
  std::string text_;
  Words texts_;
  int number_ = 0;
  bool flag_ = false;
};

TEST_F(Completion, OffersCommandsAndOptionsThatBeginAsTheWordDoes) {
  EXPECT_THAT(at({"sh"}), ElementsAre("none", "show", "shards"));
  EXPECT_THAT(at({"--s"}), ElementsAre("none", "--space", "--shape", "--set"));
  EXPECT_THAT(at({""}), IsSupersetOf({"show", "shards", "--help", "--json"}));
}

TEST_F(Completion, OffersTheOptionsOfACommandAndThoseAroundIt) {
  EXPECT_THAT(at({"show", "--"}), IsSupersetOf({"--all", "--space"}));
  EXPECT_THAT(at({"shards", "--"}), Not(Contains("--all")));
}

TEST_F(Completion, OffersTheValuesOfAnOption) {
  EXPECT_THAT(at({"--space", "wi"}), ElementsAre("files *.json", "wide", "wild"));
  EXPECT_THAT(at({"--json", "--space=wil"}), ElementsAre("files *.json", "--space=wild"));
  EXPECT_THAT(at({"--jobs", ""}), ElementsAre("none"));
}

TEST_F(Completion, KnowsWhatWasGivenBefore) {
  EXPECT_THAT(at({"--space", "wide", "--shape", ""}),
              ElementsAre("none", "small_of_wide", "large"));
  EXPECT_THAT(at({"--space=wild", "--shape", "large,s"}),
              ElementsAre("none", "large,small_of_wild"));
}

TEST_F(Completion, ThatCannotBeHadIsEmpty) {
  EXPECT_THAT(at({"--shape", ""}), ElementsAre("none"));
  EXPECT_THAT(at({"--absent=", ""}), Contains("show"));
  EXPECT_THAT(at({"--absent=x"}), ElementsAre("none"));
}

TEST_F(Completion, OffersMoreValuesOrAnOptionWhereBothMayStand) {
  EXPECT_THAT(at({"--set", "A=1", ""}), ElementsAre("none", "A=1", "A=2", "show", "shards"));
  EXPECT_THAT(at({"--set", "A=1", "--j"}), ElementsAre("none", "--jobs", "--json"));
  EXPECT_THAT(at({"--resume", "--j"}), ElementsAre("none", "--jobs", "--json"));
}

TEST_F(Completion, CountsArguments) {
  EXPECT_THAT(at({"show", ""}), ElementsAre("files"));
  EXPECT_THAT(at({"show", "a", ""}), ElementsAre("folders"));
  EXPECT_THAT(at({"show", "a", "b", "--all", ""}), ElementsAre("folders"));
  EXPECT_THAT(at({"show", "a", "b", "c", "--al"}), ElementsAre("none", "--all"));
}

TEST(ValueLists, NameWhatIsShipped) {
  const ValueLists lists = space_values();
  const auto values = [&](const char* word, const GivenValues& given) {
    return lists.at(word)(given);
  };
  const GivenValues softmax = {{value_words::kSpace, "row_softmax_l4"}};
  EXPECT_THAT(values(value_words::kSpace, {}),
              IsSupersetOf({"row_softmax_l4", "row_softmax_h200"}));
  EXPECT_THAT(values(value_words::kShape, softmax), IsSupersetOf({"single", "mission"}));
  EXPECT_THAT(values(value_words::kShape, softmax), Not(Contains("all")));
  EXPECT_THAT(values(value_words::kShapes, softmax), Contains("all"));
  EXPECT_THAT(values(value_words::kMilestone, softmax), IsSupersetOf({"plain", "fast exp"}));
  EXPECT_THAT(values(value_words::kSetting, softmax), Contains("ROWS_PER_CTA=2"));
  // Without --space, the completion offers the shapes of the default space for the device.
  EXPECT_THAT(values(value_words::kShape, {{value_words::kDevice, "virtual:h200"}}),
              Contains("mission"));
  EXPECT_THAT(device_values()({}), IsSupersetOf({"auto", "none", "virtual:l4", "virtual:a100"}));
}

}  // namespace
}  // namespace evo
