#include "engine/problem/known_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "engine/core/error.hpp"
#include "tests/engine/problem/planted_problem.hpp"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(KnownNames, AMacroOfTheSpaceIsNotTheProblemsToo) {
  Json json = planted();
  json["macros"]["HALF"] = "N / 2";
  const Problem problem = Problem::parse(json.dump(), planted_folder());
  EXPECT_NO_THROW(require_own_macros(problem, {"THREADS", "ITEMS"}, "space.json"));
  for (const char* macro : {"HALF", "N"}) {
    try {
      require_own_macros(problem, {"THREADS", macro}, "space.json");
      ADD_FAILURE() << macro;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr("space.json"), HasSubstr(macro), HasSubstr("problem.json: ")));
    }
  }
}

TEST(KnownNames, TheUnknownOneIsNamedWithItsKey) {
  const Values known = {{"N", 1}, {"THREADS", 64}, {"ITEMS", 1}};
  const auto complain = [&](const std::function<void(Json&)>& change) -> std::string {
    Json json = planted();
    change(json);
    const Problem problem = Problem::parse(json.dump(), planted_folder());
    try {
      require_known_names(problem, problem.templates.front(), known);
    } catch (const ProblemError& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(complain([](Json&) {}), "");
  EXPECT_THAT(complain([](Json& j) { j["templates"]["planted"]["block"][0] = "THREAD"; }),
              AllOf(HasSubstr("problem.json: templates.planted.block[0]: \"THREAD\""),
                    HasSubstr("allowed: ITEMS, N, THREADS")));
  EXPECT_THAT(complain([](Json& j) { j["templates"]["planted"]["dynamic_shared_bytes"] = "ITEM"; }),
              HasSubstr("dynamic_shared_bytes"));
  EXPECT_THAT(complain([](Json& j) { j["tolerance"]["bad_share"] = "ITEM"; }),
              HasSubstr("tolerance.bad_share"));
  EXPECT_THAT(
      complain([](Json& j) {
        j["arguments"].push_back(
            {{"name", "w"}, {"direction", "workspace"}, {"dtype", "i32"}, {"extent", "ITEM"}});
      }),
      HasSubstr("w.extent"));
}

}  // namespace
}  // namespace evo
