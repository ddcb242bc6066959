#include "engine/space/space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/space/neighbours.hpp"

namespace evo {
namespace {

using testing::HasSubstr;

Parameter integers(std::string macro, const std::vector<int>& values) {
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
  definition.parameters = {integers("TILE", {16, 32, 64, 128}), integers("STAGES", {1, 2, 3}),
                           integers("WARPS", {1, 2, 4, 8}),
                           names("SWIZZLE", {"none", "pad", "xor"}), integers("BK", {8, 16, 32})};
  definition.constraints = {{"TILE * STAGES <= 128 && WARPS * 16 <= TILE", "fits"},
                            {"SWIZZLE != SWIZZLE_XOR || STAGES > 1", "xor needs a ring"},
                            {"(BK + (SWIZZLE == SWIZZLE_PAD ? 8 : 0)) * WARPS <= 128", "banks"}};
  return definition;
}

/// Every candidate of the product that violates nothing, by evaluating each.
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

/// A definition of random parameters and random constraints over 2 to 4 of them.
SpaceDefinition random_definition(Random& random) {
  SpaceDefinition definition = small();
  definition.parameters.clear();
  definition.constraints.clear();
  const std::size_t count = 3 + random.below(4);
  for (std::size_t p = 0; p < count; ++p) {
    std::vector<int> values;
    for (std::size_t v = 0; v <= random.below(4); ++v) values.push_back(1 << v);
    definition.parameters.push_back(integers("P" + std::to_string(p), values));
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
  // Mean n − 1, variance 2 (n − 1): five standard deviations.
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
  EXPECT_THAT(message("TYLE", "64"), HasSubstr("allowed: TILE, STAGES, WARPS, SWIZZLE, BK"));
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

/// 2^30 combinations: 15 parameters of 4 values under overlapping constraints.
SpaceDefinition huge() {
  SpaceDefinition definition = small();
  definition.parameters.clear();
  definition.constraints.clear();
  for (int p = 0; p < 15; ++p) {
    definition.parameters.push_back(integers("P" + std::to_string(p), {1, 2, 4, 8}));
  }
  for (int p = 0; p + 2 < 15; ++p) {
    const auto name = [&](int offset) { return "P" + std::to_string(p + offset); };
    definition.constraints.push_back(
        {name(0) + " * " + name(1) + " * " + name(2) + " <= 64", "ring"});
  }
  definition.constraints.push_back({"P0*P1 + P2*P3 + P4*P5 + P6*P7 <= 128", "shared memory"});
  return definition;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Space, LoadsAndSamplesABillionCombinationsQuickly) {
  auto start = std::chrono::steady_clock::now();
  const Space space(huge());
  const double load_s = seconds_since(start);
  start = std::chrono::steady_clock::now();
  Random random(1);
  constexpr int kSamples = 10000;
  for (int i = 0; i < kSamples; ++i) {
    if (i % 100 == 0) {
      ASSERT_EQ(space.violated(space.sample(random)), nullptr);
    } else {
      (void)space.sample(random);
    }
  }
  RecordProperty("load_ms", std::to_string(load_s * 1e3));
  RecordProperty("samples_per_s", std::to_string(kSamples / seconds_since(start)));
  // The bounds are ten times looser than measured: sanitizers and busy machines must pass too.
  EXPECT_LT(load_s, 10);
  EXPECT_LT(seconds_since(start), 10);
}

TEST(Space, ConstraintsTooWideForTheIndexAreStillKept) {
  SpaceDefinition definition = huge();
  std::string sum = "P0";
  for (int p = 1; p < 15; ++p) sum += " * 1.37 + P" + std::to_string(p);
  definition.constraints.push_back({sum + " <= 60", "over every macro"});
  const Space space(definition);
  EXPECT_EQ(space.wide_constraints(), 1U);
  EXPECT_FALSE(space.count().exact);
  EXPECT_LT(space.count().value, static_cast<double>(space.rank_count()));
  Random random(1);
  for (int i = 0; i < 500; ++i) EXPECT_EQ(space.violated(space.sample(random)), nullptr);
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

SpaceDefinition of_parameters(std::vector<Parameter> parameters) {
  SpaceDefinition definition = small();
  definition.parameters = std::move(parameters);
  definition.constraints.clear();
  return definition;
}

double seconds_to(const std::function<void()>& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Generous for a busy machine; what grows with the square of the size takes minutes.
constexpr double kAMoment = 5;

TEST(LargeSpace, AThousandParametersWithConstraintsLoadInAMoment) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < 1000; ++i) {
    parameters.push_back(integers("P" + std::to_string(i), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  }
  SpaceDefinition definition = of_parameters(std::move(parameters));
  for (int i = 0; i + 1 < 1000; ++i) {
    definition.constraints.push_back(
        {"P" + std::to_string(i) + " <= P" + std::to_string(i + 1), "ascending"});
  }
  std::optional<Space> space;
  EXPECT_LT(seconds_to([&] { space.emplace(std::move(definition)); }), kAMoment);
  // Ascending sequences of 1000 numbers from 1 to 10: 1009 over 9.
  double expected = 1;
  for (int i = 1; i <= 9; ++i) expected *= (1000.0 + i) / i;
  EXPECT_NEAR(space->count().value / expected, 1, 1e-9);
  EXPECT_FALSE(space->count().exact) << "more than 2^62";
  Random random(3);
  std::set<Candidate> drawn;
  for (int i = 0; i < 50; ++i) {
    const Candidate candidate = space->sample(random);
    EXPECT_TRUE(space->is_valid(candidate));
    EXPECT_EQ(space->violated(candidate), nullptr);
    drawn.insert(candidate);
  }
  EXPECT_EQ(drawn.size(), 50U);
}

TEST(LargeSpace, MoreCandidatesThanADoubleHasAreDrawnEvenly) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < 1000; ++i) {
    parameters.push_back(integers("P" + std::to_string(i), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  }
  SpaceDefinition definition = of_parameters(std::move(parameters));
  definition.constraints = {{"P0 <= P1", "w"}};
  const Space space(std::move(definition));
  EXPECT_EQ(space.count().value, std::numeric_limits<double>::max());
  Random random(4);
  std::map<int, int> first;
  std::map<int, int> last;
  for (int i = 0; i < 2200; ++i) {
    const Candidate candidate = space.sample(random);
    ++first[candidate.choice[0]];
    ++last[candidate.choice[999]];
  }
  for (int value = 0; value < 10; ++value) {
    EXPECT_NEAR(first[value], 40 * (10 - value), 90) << value;  // 10 − value choices of P1
    EXPECT_NEAR(last[value], 220, 75) << value;
  }
  EXPECT_EQ(space.at_rank(7), space.at_rank(7)) << "a rank is one candidate";
}

TEST(LargeSpace, TwentyThousandNamesAndAFullListLoadInAMoment) {
  const auto text = [](const Json& values, const Json& constraints) {
    return Json{{"format", "evo-tune space 1"},
                {"name", "n"},
                {"problem", "p"},
                {"template", "t"},
                {"arch", "sm_89"},
                {"shape", "s"},
                {"constraints", constraints},
                {"parameters",
                 {{{"macro", "V"}, {"values", values}, {"meaning", "m"}},
                  {{"macro", "W"}, {"values", {0, 1}}, {"meaning", "m"}}}}}
        .dump();
  };
  Json names = Json::array();
  for (int i = 0; i < 20000; ++i) names.push_back("v" + std::to_string(i));
  Json constraints = Json::array();
  for (int i = 0; i < 50; ++i) {
    constraints.push_back({{"expression", "V != V_V" + std::to_string(i + 1)}, {"why", "w"}});
  }
  Json numbers = Json::array();
  for (int i = 0; i < 65535; ++i) numbers.push_back(i);
  EXPECT_LT(seconds_to([&] {
              const Space space(parse_space(text(names, constraints), "f.json"));
              EXPECT_EQ(space.count().value, 2 * (20000 - 50));
            }),
            kAMoment);
  EXPECT_LT(seconds_to([&] {
              const Space space(parse_space(text(numbers, Json::array()), "f.json"));
              EXPECT_EQ(space.count().value, 2 * 65535);
            }),
            kAMoment);
}

}  // namespace
}  // namespace evo
