#include "engine/intake/t1_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/core/error.hpp"
#include "tests/db/sample.hpp"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

T1File read_text(const std::string& text) {
  const sample::TemporaryFolder folder;
  write_file(folder.path() / "t1.json", text);
  return read_t1_file(folder.path() / "t1.json");
}

TEST(T1File, ValuesAsListsAndAsTextsOfPython) {
  const T1File file = read_text(R"json({
    "ConfigurationSpace": {
      "TuningParameters": [
        {"Name": "A", "Type": "int", "Values": "[2**i for i in range(3)]", "Default": 2},
        {"Name": "B", "Type": "uint", "Values": [1, 2], "Default": [2]},
        {"Name": "C", "Type": "float", "Values": "[1, 0.5]"},
        {"Name": "D", "Type": "bool", "Values": "[True, False]"},
        {"Name": "E", "Type": "string", "Values": "['float', 'float2']"},
        {"Name": "F", "Type": "int", "Values": "numpy.arange(3)"}],
      "Conditions": [{"Expression": "A <= B", "Parameters": ["A", "B"]}]},
    "KernelSpecification": {"Language": "CUDA", "KernelName": "f", "KernelTypeNames": ["float", "4"]}})json");
  ASSERT_EQ(file.parameters.size(), 4U);
  EXPECT_THAT(file.parameters[0].values, ElementsAre(1, 2, 4));
  EXPECT_EQ(file.parameters[0].default_value, Json(2));
  EXPECT_EQ(file.parameters[1].default_value, Json(2));
  EXPECT_EQ(Json(file.parameters[2].values).dump(), "[1.0,0.5]");
  EXPECT_EQ(Json(file.parameters[3].values).dump(), "[true,false]");
  EXPECT_THAT(file.left_out, ElementsAre(HasSubstr("E: its values are strings"),
                                         HasSubstr("F: Values: 'numpy.arange(3)': allowed")));
  EXPECT_EQ(file.kernel, "f<float, 4>");
  EXPECT_THAT(file.conditions, ElementsAre("A <= B"));
}

TEST(T1File, LaunchAndArgumentsInEitherSpelling) {
  const T1File file = read_text(R"json({
    "configurationSpace": {"tuningParameters": []},
    "kernelSpecification": {
      "kernelName": "f", "problemSize": [4096, "B * 2"], "gridDivX": ["B"], "GridDivY": [],
      "GridDivZ": null, "blockSize": ["B", 2], "gridSize": {"X": "64 // B"},
      "GlobalSizeType": "OpenCL", "SharedMemory": 16,
      "arguments": [
        {"Name": "a", "Type": "float", "MemoryType": "Vector", "FillType": "Random", "Size": 16},
        {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 16},
        {"Name": "c", "Type": "float", "MemoryType": "Symbol"},
        {"Name": "d", "Type": "float", "MemoryType": "Vector", "MemType": "Constant"},
        {"Name": "l", "Type": "float", "MemoryType": "Local"}]}})json");
  EXPECT_THAT(file.problem_size, ElementsAre("4096", "B * 2"));
  EXPECT_THAT(file.grid_divisors[0].value(), ElementsAre("B"));
  EXPECT_TRUE(file.grid_divisors[1].value().empty());
  EXPECT_FALSE(file.grid_divisors[2].has_value());
  EXPECT_THAT(file.local_size, ElementsAre("B", "2", ""));
  EXPECT_EQ(file.global_size[0], "64 // B");
  EXPECT_TRUE(file.global_counts_threads);
  EXPECT_EQ(file.shared_bytes, "16");
  ASSERT_EQ(file.arguments.size(), 4U);
  EXPECT_EQ(file.arguments[0].size, "16");
  EXPECT_TRUE(file.arguments[1].is_scalar);
  EXPECT_EQ(file.arguments[1].fill_value, 16);
  EXPECT_TRUE(file.arguments[2].is_constant);
  EXPECT_TRUE(file.arguments[3].is_constant);
  EXPECT_THAT(file.left_out, ElementsAre(HasSubstr("l: MemoryType Local")));
}

TEST(T1File, SizesThatAreNoneAreRefusedByName) {
  const auto refusal = [](const std::string& key, const std::string& value) {
    try {
      (void)read_text(R"({"ConfigurationSpace": {}, "KernelSpecification": {")" + key +
                      "\": " + value + "}}");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refusal("ProblemSize", "[4096, -4096]"),
              HasSubstr("ProblemSize[1]: -4096: allowed: whole numbers from 1"));
  EXPECT_THAT(refusal("ProblemSize", "0"), HasSubstr("ProblemSize: 0: allowed"));
  EXPECT_THAT(refusal("ProblemSize", "[[1, 2]]"), HasSubstr("ProblemSize[0]: [1,2]: allowed"));
  EXPECT_THAT(refusal("LocalSize", R"({"Y": "-2"})"), HasSubstr("LocalSize.Y: -2: allowed"));
  EXPECT_THAT(refusal("GlobalSize", "[1.5]"), HasSubstr("GlobalSize.X: 1.5: allowed"));
  EXPECT_THAT(refusal("GridDivX", "[0]"), HasSubstr("GridDivX: 0: allowed"));
  EXPECT_THAT(refusal("SharedMemory", "-1"), HasSubstr("SharedMemory: -1: allowed"));
  EXPECT_THAT(refusal("Arguments", R"([{"Name": "a", "Size": -5}])"),
              HasSubstr("Arguments: a: Size: -5: allowed"));
  EXPECT_EQ(refusal("SharedMemory", "0"), "");
  EXPECT_EQ(refusal("ProblemSize", "\"N // 2\""), "");
}

TEST(T1File, OtherFilesAndOtherLanguagesAreRefused) {
  EXPECT_THROW((void)read_text("[]"), InputError);
  EXPECT_THROW((void)read_text(R"({"results": []})"), InputError);
  EXPECT_THROW((void)read_text(R"({"ConfigurationSpace": {}, "KernelSpecification":
                              {"Language": "Python"}})"),
               InputError);
}

TEST(T1File, WhereTheKernelIsCudaAllTheSameAnotherLanguageIsSaid) {
  for (const std::string language : {"OpenCL", "HIP"}) {
    const T1File found = read_text(R"({"ConfigurationSpace": {"TuningParameters":
        [{"Name": "TILE", "Values": "[1, 2]"}]}, "KernelSpecification": {"Language": ")" +
                                   language + R"(", "KernelName": "f"}})");
    ASSERT_EQ(found.parameters.size(), 1U);
    EXPECT_EQ(found.kernel, "f");
    ASSERT_EQ(found.left_out.size(), 1U);
    EXPECT_THAT(found.left_out.front(), testing::HasSubstr("Language: \"" + language + "\""));
  }
}

}  // namespace
}  // namespace evo
