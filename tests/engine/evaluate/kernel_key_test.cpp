#include "engine/evaluate/kernel_key.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "engine/core/error.hpp"
#include "engine/core/json_reader.hpp"
#include "engine/device/arch_limits.hpp"

namespace evo {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(EVO_SOURCE_DIR) / "tests/planted/kernel_templates/planted";

std::string key_of(const Json& file, const std::vector<CompiledEntry>& entries) {
  const Problem problem = Problem::parse(file.dump(), kFolder);
  const Values macros = {{"THREADS", 128}, {"ITEMS", 2}, {"BUG", 0}, {"BUG_NONE", 0}};
  return kernel_key("hash", entries, problem, problem.templates.front(),
                    {&problem.shape("mission")}, macros, arch_limits("sm_89"));
}

TEST(KernelKey, OfOneEntryIsWhatDatabasesHold) {
  EXPECT_EQ(key_of(read_json_file(kFolder / "problem.json"), {{"_Z7plantedPf", {}}}),
            "fcfd35dd4a63d7f9e7772e779beb57e1");
}

TEST(KernelKey, CoversAllOfASequence) {
  Json file = read_json_file(kFolder / "problem.json");
  Json& kernel = file["templates"]["planted"];
  for (const char* key : {"entry", "grid", "block", "dynamic_shared_bytes"}) kernel.erase(key);
  const Json step = {{"entry", "a"}, {"grid", {4}}, {"block", {"THREADS"}}};
  kernel["steps"] = {step, step};
  Json& last = kernel["steps"][1];
  last["entry"] = "b";
  const std::vector<CompiledEntry> entries = {{"a", {}}, {"b", {}}};
  const std::vector<std::function<void()>> changes = {
      [] {},
      [&] { last["grid"] = {5}; },
      [&] { last["block"] = {64}; },
      [&] { last["dynamic_shared_bytes"] = 16; },
      [&] {
        last["arguments"] = {"x", "y"};
      },
      [&] {
        last["arguments"] = {"y", "x"};
      },
      [&] { last["when"] = "THREADS > 128"; },
      [&] { std::swap(kernel["steps"][0], last); },
  };
  std::set<std::string> keys;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    changes[i]();
    EXPECT_TRUE(keys.insert(key_of(file, entries)).second) << i;
  }
  EXPECT_TRUE(keys.insert(key_of(file, {{"a", {}}, {"c", {}}})).second);
}

/// Two kernels with the same code but different tensor maps have different keys.
TEST(KernelKey, CoversTensorMaps) {
  Json file = read_json_file(kFolder / "problem.json");
  file["arguments"].push_back({{"name", "x_map"},
                               {"direction", "tensor_map"},
                               {"of", "x"},
                               {"dims", {"N"}},
                               {"box", {"THREADS"}}});
  file["templates"]["planted"]["arguments"] = {"x_map", "y", "n"};
  Json& map = file["arguments"][3];
  const std::vector<std::function<void()>> changes = {
      [] {},
      [&] { map["box"] = {"THREADS / 2"}; },
      [&] { map["dims"] = {"max(N - 1, 1)"}; },
      [&] { map["l2_promotion"] = 128; },
      [&] {
        map["swizzle"] = 64;
        map["box"] = {16};
      },
  };
  std::set<std::string> keys;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    changes[i]();
    EXPECT_TRUE(keys.insert(key_of(file, {{"a", {}}})).second) << i;
  }
  map["box"] = {"THREADS * ITEMS * 2"};
  EXPECT_THROW((void)key_of(file, {{"a", {}}}), InputError);
}

TEST(KernelKey, AConditionThatHoldsChangesNothing) {
  Json file = read_json_file(kFolder / "problem.json");
  Json& kernel = file["templates"]["planted"];
  for (const char* key : {"entry", "grid", "block", "dynamic_shared_bytes"}) kernel.erase(key);
  const Json step = {{"entry", "a"}, {"grid", {4}}, {"block", {"THREADS"}}};
  kernel["steps"] = {step, step};
  const std::string always = key_of(file, {{"a", {}}});
  kernel["steps"][1]["when"] = "THREADS == 128";
  EXPECT_EQ(key_of(file, {{"a", {}}}), always);
}

}  // namespace
}  // namespace evo
