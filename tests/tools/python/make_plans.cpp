// A program for tests of bundles. Reads {"shape_variables": […], "manifests": […], "expressions":
// […]} and writes {"plans": […], "trees": […]}: for each manifest the plan, and for each expression
// the tree that evo-export writes to a bundle. For a text that is not an expression, the element of
// "trees" is null.

#include <iostream>
#include <nlohmann/json.hpp>

#include "engine/core/error.hpp"
#include "engine/core/expression_grammar.hpp"
#include "tools/bundle/plan.hpp"

int main() {
  using Json = nlohmann::ordered_json;
  const Json input = Json::parse(std::cin);
  Json plans = Json::array();
  Json trees = Json::array();
  for (const Json& manifest : input.at("manifests")) {
    plans.push_back(evo::kernel_plan(manifest, input.at("shape_variables")));
  }
  for (const Json& text : input.at("expressions")) {
    try {
      trees.push_back(
          {{"expression", text},
           {"tree", Json::parse(evo::translate_expression(text.get<std::string>(), {}))}});
    } catch (const evo::InputError&) {
      trees.push_back(nullptr);
    }
  }
  std::cout << Json{{"plans", plans}, {"trees", trees}};
}
