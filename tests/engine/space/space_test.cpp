#include "engine/space/space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/space/neighbours.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

Parameter integer_values(std::string macro, const std::vector<int>& values) {
  Parameter parameter{std::move(macro), {}, 0, "m"};
  for (const int value : values) {
    parameter.values.push_back(
        {ParameterValue::Kind::kInteger, std::to_string(value), static_cast<double>(value)});
  }
  return parameter;
}

Parameter names(std::string macro, const std::vector<std::string>& values) {
  Parameter parameter{std::move(macro), {}, 0, "m"};
  for (const std::string& value : values) {
    parameter.values.push_back(
        {ParameterValue::Kind::kName, value, static_cast<double>(parameter.values.size())});
  }
  return parameter;
}

SpaceDefinition small() {
  SpaceDefinition definition{.file = "small.json",
                             .name = "small",
                             .problem = "p",
                             .template_name = "t",
                             .arch = "sm_89",
                             .shape = "s",
                             .parameters = {}};
  definition.parameters = {
      integer_values("TILE", {16, 32, 64, 128}), integer_values("STAGES", {1, 2, 3}),
      integer_values("WARPS", {1, 2, 4, 8}), names("SWIZZLE", {"none", "pad", "xor"}),
      integer_values("BK", {8, 16, 32})};
  definition.constraints = {{"TILE * STAGES <= 128 && WARPS * 16 <= TILE", "fits"},
                            {"SWIZZLE != SWIZZLE_XOR || STAGES > 1", "xor needs a ring"},
                            {"(BK + (SWIZZLE == SWIZZLE_PAD ? 8 : 0)) * WARPS <= 128", "banks"}};
  return definition;
}

/// All valid candidates of a space, found by evaluating every combination of values.
std::set<Candidate> brute_force(const Space& space) {
  std::set<Candidate> valid;
  Candidate candidate;
  candidate.choice.assign(space.parameter_count(), 0);
  for (;;) {
    if (space.violated(candidate) == nullptr) valid.insert(candidate);
    std::size_t p = 0;
    while (p < candidate.choice.size() && ++candidate.choice[p] == space.value_count(p)) {
      candidate.choice[p++] = 0;
    }
    if (p == candidate.choice.size()) return valid;
  }
}

/// The definition of a space with random parameters and random constraints, each of which uses up
/// to 4 parameters.
SpaceDefinition random_definition(Random& random) {
  SpaceDefinition definition = small();
  definition.parameters.clear();
  definition.constraints.clear();
  const std::size_t count = 3 + random.below(4);
  for (std::size_t p = 0; p < count; ++p) {
    std::vector<int> values;
    for (std::size_t v = 0; v <= random.below(4); ++v) values.push_back(1 << v);
    definition.parameters.push_back(integer_values("P" + std::to_string(p), values));
  }
  for (std::size_t c = 0; c < 1 + random.below(4); ++c) {
    std::string sum = "P" + std::to_string(random.below(count));
    for (std::size_t i = 0; i < 1 + random.below(3); ++i) {
      sum += (random.below(2) == 0 ? " * P" : " + P") + std::to_string(random.below(count));
    }
    definition.constraints.push_back({sum + " <= " + std::to_string(8 + random.below(24)), "w"});
  }
  return definition;
}

TEST(Space, CountsExactlyWhatBruteForceFinds) {
  Random random(7);
  for (int trial = 0; trial < 200; ++trial) {
    const Space space(random_definition(random));
    const std::set<Candidate> valid = brute_force(space);
    ASSERT_TRUE(space.count().exact);
    ASSERT_EQ(space.count().value, static_cast<double>(valid.size()));
    std::set<Candidate> ranked;
    for (std::uint64_t rank = 0; rank < space.rank_count(); ++rank) {
      ranked.insert(*space.at_rank(rank));
    }
    ASSERT_EQ(ranked, valid);
  }
}

TEST(Space, IsValidAgreesWithTheConstraints) {
  const Space space(small());
  const std::set<Candidate> valid = brute_force(space);
  Candidate candidate;
  candidate.choice.assign(space.parameter_count(), 0);
  Random random(3);
  for (int i = 0; i < 5000; ++i) {
    for (std::size_t p = 0; p < candidate.choice.size(); ++p) {
      candidate.choice[p] = static_cast<std::uint16_t>(random.below(space.value_count(p)));
    }
    EXPECT_EQ(space.is_valid(candidate), valid.contains(candidate));
  }
  candidate.choice[0] = 99;
  EXPECT_FALSE(space.is_valid(candidate));
  EXPECT_FALSE(space.is_valid(Candidate{{0, 0}}));
}

TEST(Space, SamplesUniformly) {
  const Space space(small());
  const std::set<Candidate> valid = brute_force(space);
  std::map<Candidate, int> drawn;
  Random random(11);
  constexpr int kPerCandidate = 200;
  for (std::size_t i = 0; i < kPerCandidate * valid.size(); ++i) ++drawn[space.sample(random)];
  double chi_square = 0;
  for (const Candidate& candidate : valid) {
    const double off = drawn[candidate] - kPerCandidate;
    chi_square += off * off / kPerCandidate;
  }
  EXPECT_EQ(drawn.size(), valid.size());
  // For n valid candidates, chi-squared has mean n − 1 and variance 2 (n − 1); the test allows five
  // standard deviations above the mean.
  const auto degrees = static_cast<double>(valid.size() - 1);
  EXPECT_LT(chi_square, degrees + 5 * std::sqrt(2 * degrees));
}

TEST(Space, NeighboursAreValidAndDifferInOneParameter) {
  const Space space(small());
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    const Candidate center = space.sample(random);
    std::size_t expected = 0;
    for (const Candidate& other : brute_force(space)) {
      expected += hamming_distance(other, center) == 1 ? 1 : 0;
    }
    const auto all = neighbours(space, center, Neighbourhood::kAnyValue);
    EXPECT_EQ(all.size(), expected);
    const auto next = neighbours(space, center, Neighbourhood::kNextValue);
    EXPECT_LE(next.size(), all.size());
    for (const Candidate& other : next) {
      EXPECT_TRUE(space.is_valid(other));
      EXPECT_EQ(hamming_distance(other, center), 1U);
    }
  }
}

TEST(Space, RepairsToTheNearestWhereOneChangeIsEnough) {
  const Space space(small());
  const std::set<Candidate> valid = brute_force(space);
  Random random(6);
  for (int i = 0; i < 500; ++i) {
    Candidate wish = space.defaults();
    for (std::size_t p = 0; p < wish.choice.size(); ++p) {
      wish.choice[p] = static_cast<std::uint16_t>(random.below(space.value_count(p)));
    }
    std::size_t nearest = wish.choice.size();
    for (const Candidate& other : valid) {
      nearest = std::min(nearest, hamming_distance(other, wish));
    }
    const Candidate repaired = repair(space, wish, random);
    EXPECT_TRUE(space.is_valid(repaired));
    const std::size_t distance = hamming_distance(repaired, wish);
    if (nearest <= 1) {
      EXPECT_EQ(distance, nearest);
    } else {
      EXPECT_LE(distance, nearest + 1);
    }
  }
}

TEST(Space, RendersMacrosWithValueNames) {
  const Space space(small());
  const Candidate candidate{{2, 1, 0, 2, 1}};
  const auto macros = space.macros(candidate);
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"TILE", "64"},       {"STAGES", "2"},      {"WARPS", "1"},   {"SWIZZLE_NONE", "0"},
      {"SWIZZLE_PAD", "1"}, {"SWIZZLE_XOR", "2"}, {"SWIZZLE", "2"}, {"BK", "16"}};
  EXPECT_EQ(macros, expected);
  EXPECT_EQ(space.values(candidate).at("SWIZZLE"), 2);
  EXPECT_EQ(space.values(candidate).at("SWIZZLE_PAD"), 1);
  EXPECT_EQ(space.config_json(candidate),
            R"({"TILE":64,"STAGES":2,"WARPS":1,"SWIZZLE":"xor","BK":16})");
}

TEST(Space, ConfigJsonRoundTrips) {
  const Space space(small());
  for (const Candidate& candidate : brute_force(space)) {
    EXPECT_EQ(space.candidate_from_json(space.config_json(candidate)), candidate);
  }
  EXPECT_THROW((void)space.candidate_from_json(R"({"TILE":64})"), SpaceError);
  EXPECT_THROW((void)space.candidate_from_json("[1"), SpaceError);
}

TEST(Space, SettingsNameWhatIsAllowed) {
  const Space space(small());
  const std::vector<std::pair<std::string, std::string>> good = {{"TILE", "64"},
                                                                 {"SWIZZLE", "pad"}};
  EXPECT_EQ(space.candidate_from_settings(good, space.defaults()), (Candidate{{2, 0, 0, 1, 0}}));
  const auto message = [&](const std::string& macro, const std::string& value) -> std::string {
    const std::vector<std::pair<std::string, std::string>> bad = {{macro, value}};
    try {
      (void)space.candidate_from_settings(bad, space.defaults());
    } catch (const SpaceError& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_THAT(message("TILE", "65"), HasSubstr("allowed: 16, 32, 64, 128"));
  EXPECT_THAT(message("TYLE", "64"), HasSubstr("Allowed: TILE, STAGES, WARPS, SWIZZLE, BK"));
}

TEST(Space, NamesTheConstraintsThatExcludeEachOther) {
  SpaceDefinition definition = small();
  definition.constraints.push_back({"STAGES >= 3", "deep"});
  definition.constraints.push_back({"TILE >= 64", "wide"});
  try {
    const Space space(definition);
    FAIL() << "accepted an empty space";
  } catch (const SpaceError& error) {
    const std::string message = error.what();
    EXPECT_THAT(message, HasSubstr("'STAGES >= 3' (deep)"));
    EXPECT_THAT(message, HasSubstr("'TILE >= 64' (wide)"));
    EXPECT_THAT(message, HasSubstr("(fits)"));
    EXPECT_THAT(message, testing::Not(HasSubstr("(banks)")));
  }
}

TEST(Space, RejectsDefaultsAndMilestonesThatViolateAConstraint) {
  SpaceDefinition definition = small();
  definition.parameters[0].default_index = 3;
  definition.parameters[1].default_index = 2;
  EXPECT_THROW(Space{definition}, SpaceError);
  definition = small();
  definition.milestones = {{"bad", Candidate{{3, 2, 0, 0, 0}}}};
  try {
    const Space space(definition);
    FAIL() << "accepted an invalid milestone";
  } catch (const SpaceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("milestones[0]: 'bad'"));
    EXPECT_THAT(error.what(), HasSubstr("fits"));
  }
}

TEST(Space, ContentKeyIgnoresWordsButNotValues) {
  const std::string key = Space(small()).content_key();
  SpaceDefinition words = small();
  words.parameters[0].meaning = "another text";
  words.constraints[0].why = "another reason";
  EXPECT_EQ(Space(words).content_key(), key);
  SpaceDefinition values = small();
  values.compiler_options = {"--use_fast_math"};
  EXPECT_NE(Space(values).content_key(), key);
}

TEST(SplitConjunction, SplitsOnlyTheOutermostAnds) {
  using List = std::vector<std::string>;
  EXPECT_EQ(split_conjunction("a && b"), (List{"a", "b"}));
  EXPECT_EQ(split_conjunction("a and (b && not c)"), (List{"a", "b", "not c"}));
  EXPECT_EQ(split_conjunction("a and b or c"), (List{"a and b or c"}));
  EXPECT_EQ(split_conjunction("1 <= a * b < c"), (List{"1 <= a * b", "a * b < c"}));
  EXPECT_EQ(split_conjunction("((a) && (b || c) && d > 1)"), (List{"a", "b || c", "d > 1"}));
  EXPECT_EQ(split_conjunction("a && b || c"), (List{"a && b || c"}));
  EXPECT_EQ(split_conjunction("x ? a && b : c"), (List{"x ? a && b : c"}));
  EXPECT_EQ(split_conjunction("(a && b) + (c)"), (List{"(a && b) + (c)"}));
}

/// A space with a table of allowed configurations: every third valid candidate of small(), in
/// reverse order.
SpaceDefinition with_table() {
  SpaceDefinition definition = small();
  const std::set<Candidate> valid = brute_force(Space(definition));
  std::size_t number = 0;
  for (const Candidate& candidate : valid) {
    if (number++ % 3 == 0) definition.allowed.insert(definition.allowed.begin(), candidate);
  }
  return definition;
}

TEST(SpaceTable, OnlyItsRowsAreValidAndEachHasARank) {
  const SpaceDefinition definition = with_table();
  const Space space(definition);
  const std::set<Candidate> rows(definition.allowed.begin(), definition.allowed.end());
  EXPECT_EQ(brute_force(space), rows);
  ASSERT_TRUE(space.count().exact);
  ASSERT_EQ(space.rank_count(), rows.size());
  std::set<Candidate> ranked;
  for (std::uint64_t rank = 0; rank < space.rank_count(); ++rank) {
    ranked.insert(space.at_rank(rank).value());
  }
  EXPECT_EQ(ranked, rows);
  EXPECT_NE(space.content_key(), Space(small()).content_key());
}

TEST(SpaceTable, ConstraintsHoldBesideIt) {
  SpaceDefinition definition = with_table();
  definition.constraints.push_back({"BK == 8"});
  const Space space(definition);
  EXPECT_LT(space.rank_count(), definition.allowed.size());
  for (std::uint64_t rank = 0; rank < space.rank_count(); ++rank) {
    EXPECT_EQ(space.values(space.at_rank(rank).value()).at("BK"), 8);
  }
  definition.constraints.push_back({"BK == 16"});
  definition.constraints.push_back({"BK == 32"});
  try {
    const Space refused(definition);
    FAIL();
  } catch (const SpaceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("none of"));
  }
}

TEST(SpaceTable, DefaultsMustBeInIt) {
  SpaceDefinition definition = with_table();
  std::erase(definition.allowed, Space(small()).defaults());
  try {
    const Space refused(definition);
    FAIL();
  } catch (const SpaceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("not in the space's table"));
  }
}

}  // namespace
}  // namespace evo
