#include "engine/intake/nearest_valid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evo {
namespace {

Parameter numbers(const std::string& macro, const std::vector<int>& values, std::size_t fallback) {
  Parameter parameter{macro, {}, fallback};
  for (const int value : values) {
    parameter.values.push_back(
        {ParameterValue::Kind::kInteger, std::to_string(value), static_cast<double>(value)});
  }
  return parameter;
}

std::optional<std::vector<std::uint16_t>> nearest(const std::vector<Parameter>& parameters,
                                                  const std::vector<std::string>& texts) {
  std::vector<Constraint> constraints;
  for (const std::string& text : texts) constraints.emplace_back(text, parameters);
  return nearest_valid(parameters, constraints);
}

using testing::ElementsAre;
using testing::Optional;

TEST(NearestValid, ValidDefaultsStay) {
  EXPECT_THAT(nearest({numbers("A", {1, 2}, 1)}, {"A == 2"}), Optional(ElementsAre(1)));
}

TEST(NearestValid, FewestChangesThenTheSmallestOnes) {
  const std::vector<Parameter> parameters = {numbers("A", {1, 2, 4, 8}, 0),
                                             numbers("B", {1, 2, 4, 8}, 1)};
  EXPECT_THAT(nearest(parameters, {"A == B"}), Optional(ElementsAre(1, 1)));
  EXPECT_THAT(nearest(parameters, {"A * B == 32"}), Optional(ElementsAre(2, 3)));
  EXPECT_THAT(nearest(parameters, {"A * B == 16"}), Optional(ElementsAre(3, 1)))
      << "one large change of A is nearer than two small changes";
}

TEST(NearestValid, NothingWhereNothingIsValid) {
  EXPECT_EQ(nearest({numbers("A", {1, 2}, 0)}, {"A > 2"}), std::nullopt);
}

}  // namespace
}  // namespace evo
