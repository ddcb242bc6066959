#include "engine/problem/tensor_map_argument.hpp"

#include "tests/engine/problem/planted_problem.hpp"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A tensor map over x as a matrix with rows of 16 elements; for N = 4096, it has 256 rows.
Json row_map() {
  return {{"name", "x_map"},     {"direction", "tensor_map"},
          {"of", "x"},           {"dims", {16, "max(N // 16, 1)"}},
          {"box", {16, "TILE"}}, {"swizzle", "TILE > 8 ? 64 : 0"}};
}

Problem with_map(const Json& map) {
  Json json = planted();
  json["shapes"].erase("single");
  json["arguments"].push_back(map);
  json["templates"]["planted"]["arguments"] = {"x_map", "y", "n"};
  return Problem::parse(json.dump(), planted_folder());
}

std::string complaint_about(const std::function<void(Json&)>& change) {
  return complaint([&](Json& json) {
    json["shapes"].erase("single");
    Json map = row_map();
    change(map);
    json["arguments"].push_back(map);
    json["templates"]["planted"]["arguments"] = {"x_map", "y", "n"};
  });
}

TensorMapSpec map_for(const Problem& problem, double tile) {
  return tensor_map_of(problem, problem.templates.front(), 3, {{"N", 4096}, {"TILE", tile}});
}

TEST(TensorMapArgument, IsEvaluatedForAConfiguration) {
  const Problem problem = with_map(row_map());
  const TensorMapSpec spec = map_for(problem, 32);
  EXPECT_EQ(spec.type, TensorMapType::kF32);
  EXPECT_THAT(spec.dims, ElementsAre(16, 256));
  EXPECT_THAT(spec.strides, ElementsAre(64));
  EXPECT_THAT(spec.box, ElementsAre(16, 32));
  EXPECT_THAT(spec.element_strides, ElementsAre(1, 1));
  EXPECT_EQ(spec.swizzle_bytes, 64U);
  EXPECT_EQ(map_for(problem, 8).swizzle_bytes, 0U);
  EXPECT_EQ(problem.arguments[3].parameter_bytes(), kTensorMapBytes);
}

TEST(TensorMapArgument, HasStridesOfItsOwn) {
  Json map = row_map();
  map["strides"] = {"4*(8 + 8)"};
  map["element_strides"] = {1, 2};
  map["l2_promotion"] = 128;
  const TensorMapSpec spec = map_for(with_map(map), 8);
  EXPECT_THAT(spec.strides, ElementsAre(64));
  EXPECT_THAT(spec.element_strides, ElementsAre(1, 2));
  EXPECT_EQ(spec.l2_promotion_bytes, 128U);
}

TEST(TensorMapArgument, IsTakenOnlyByKernelsThatListIt) {
  const Problem problem = with_map(row_map());
  EXPECT_TRUE(problem.templates.front().takes(3));
  EXPECT_FALSE(problem.templates.front().takes(0));
  EXPECT_FALSE(problem.reference.kernel->takes(3));
  EXPECT_THAT(problem.reference.kernel->launch({{"N", 4096}}).steps.front().arguments,
              testing::Optional(ElementsAre(0, 1, 2)));
}

/// A kernel whose arguments contain a tensor map of y need not have y itself as an argument.
TEST(TensorMapArgument, OfAnOutputStandsForIt) {
  EXPECT_EQ(complaint([](Json& json) {
              json["shapes"].erase("single");
              json["arguments"].push_back(row_map());
              json["arguments"][3]["of"] = "y";
              json["templates"]["planted"]["arguments"] = {"x", "x_map", "n"};
            }),
            "");
}

TEST(TensorMapArgument, IsRefusedWhereTheShapeAloneShowsTheFault) {
  const auto with_box = [](const Json& box) {
    return complaint_about([&](Json& map) {
      map["box"] = box;
      map["swizzle"] = 64;
    });
  };
  EXPECT_EQ(with_box({16, 8}), "");
  EXPECT_THAT(with_box({16, 257}),
              HasSubstr("tensor map 'x_map': box[1] is 257: allowed: 1 to 256"));
  EXPECT_THAT(with_box({3, 8}), HasSubstr("has 12 bytes: allowed: multiples of 16"));
  EXPECT_THAT(with_box({32, 8}), HasSubstr("has 128 bytes: allowed with this swizzle: at most 64"));
  EXPECT_THAT(with_box({16}), HasSubstr("1 numbers in box: 2 dims need 2"));
  EXPECT_THAT(with_box({16, 2.5}), HasSubstr("box of tensor map 'x_map' is 2.5; allowed"));
}

TEST(TensorMapArgument, MustLieInItsBuffer) {
  EXPECT_THAT(complaint_about([](Json& map) {
                map["dims"] = {16, "N // 16 + 1"};
                map["box"] = {16, 8};
                map["swizzle"] = 0;
              }),
              HasSubstr("dims and strides reach byte 16448 of a buffer of 16384 bytes"));
  EXPECT_THAT(complaint_about([](Json& map) {
                map["strides"] = {72};
                map["box"] = {16, 8};
                map["swizzle"] = 0;
              }),
              HasSubstr("strides[0] is 72 bytes: allowed: multiples of 16 below 2^40"));
}

TEST(TensorMapArgument, ConcernsACandidateWhereItDependsOnMacros) {
  const Problem problem = with_map(row_map());
  EXPECT_THROW((void)map_for(problem, 300), ProblemError);
  EXPECT_THROW((void)map_for(problem, 0), ProblemError);
}

TEST(TensorMapArgument, NamesABuffer) {
  EXPECT_THAT(complaint_about([](Json& map) { map["of"] = "n"; }),
              HasSubstr("x_map.of: \"n\": allowed: the name of an in, out, inout or workspace"));
  EXPECT_THAT(complaint_about([](Json& map) { map["fill"] = "nan"; }), HasSubstr("fill"));
}

}  // namespace
}  // namespace evo
