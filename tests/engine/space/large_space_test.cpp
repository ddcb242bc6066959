// Tests that spaces with many combinations, parameters and values give exact results quickly.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "engine/core/json_reader.hpp"
#include "engine/space/space.hpp"

namespace evo {
namespace {

Parameter integers(std::string macro, const std::vector<int>& values) {
  Parameter parameter{std::move(macro), {}, 0, "m"};
  for (const int value : values) {
    parameter.values.push_back(
        {ParameterValue::Kind::kInteger, std::to_string(value), static_cast<double>(value)});
  }
  return parameter;
}

SpaceDefinition of_parameters(std::vector<Parameter> parameters) {
  SpaceDefinition definition{.file = "large.json",
                             .name = "large",
                             .problem = "p",
                             .template_name = "t",
                             .arch = "sm_89",
                             .shape = "s",
                             .parameters = {}};
  definition.parameters = std::move(parameters);
  return definition;
}

/// A space of 2^30 combinations: 15 parameters of 4 values with overlapping constraints.
SpaceDefinition huge() {
  SpaceDefinition definition = of_parameters({});
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

double seconds_to(const std::function<void()>& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A time limit in seconds that even a busy machine keeps, whereas a quadratic algorithm would take
/// minutes.
constexpr double kAMoment = 5;

TEST(LargeSpace, LoadsAndSamplesABillionCombinationsQuickly) {
  std::optional<Space> space;
  const double load_s = seconds_to([&] { space.emplace(huge()); });
  Random random(1);
  constexpr int kSamples = 10000;
  const double sample_s = seconds_to([&] {
    for (int i = 0; i < kSamples; ++i) {
      const Candidate candidate = space->sample(random);
      if (i % 100 != 0) continue;
      EXPECT_EQ(space->violated(candidate), nullptr);
    }
  });
  RecordProperty("load_ms", std::to_string(load_s * 1e3));
  RecordProperty("samples_per_s", std::to_string(kSamples / sample_s));
  // The limits are generous, so that the test also passes with sanitizers and on busy machines.
  EXPECT_LT(load_s, 10);
  EXPECT_LT(sample_s, 10);
}

TEST(LargeSpace, ConstraintsTooWideForTheIndexAreStillKept) {
  SpaceDefinition definition = huge();
  std::string sum = "P0";
  for (int p = 1; p < 15; ++p) sum += " * 1.37 + P" + std::to_string(p);
  definition.constraints.push_back({sum + " <= 60", "over every macro"});
  const Space space(definition);
  EXPECT_FALSE(space.count().exact);
  EXPECT_LT(space.count().value, static_cast<double>(space.rank_count()));
  Random random(1);
  for (int i = 0; i < 500; ++i) EXPECT_EQ(space.violated(space.sample(random)), nullptr);
}

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
  // Valid candidates are non-decreasing sequences of 1000 numbers from 1 to 10; their number is the
  // binomial coefficient (1009 over 9).
  double expected = 1;
  for (int i = 1; i <= 9; ++i) expected *= (1000.0 + i) / i;
  EXPECT_NEAR(space->count().value / expected, 1, 1e-9);
  EXPECT_FALSE(space->count().exact) << "the number is larger than 2^62";
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
    EXPECT_NEAR(first[value], 40 * (10 - value), 90) << value;  // P1 has 10 − value choices
    EXPECT_NEAR(last[value], 220, 75) << value;
  }
  EXPECT_EQ(space.at_rank(7), space.at_rank(7)) << "a rank always gives the same candidate";
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
