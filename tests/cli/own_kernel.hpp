#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/core/json_reader.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/db/sample.hpp"

namespace evo {

/// A user's project with one problem: y = 3 x over N elements.
class OwnKernel : public testing::Test {
 protected:
  OwnKernel() {
    write("kernel_templates/triple/reference.cu",
          "__global__ void expected(const float* x, float* y, int n) {\n"
          "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
          "  if (i < n) y[i] = 3 * x[i];\n}\n");
    kernel(
        "template <class T, int ITEMS> __global__ void triple(const T* x, T* y, int n) {\n"
        "  int begin = (blockIdx.x * blockDim.x + threadIdx.x) * ITEMS;\n"
        "  for (int i = begin; i < begin + ITEMS && i < n; ++i) y[i] = x[i] + x[i] + x[i];\n}\n");
  }

  /// The --device of these tests: the value of the environment variable EVO_TEST_DEVICE, or the
  /// virtual L4 if the variable is not set.
  static std::string device() {
    const char* chosen = std::getenv("EVO_TEST_DEVICE");
    return chosen != nullptr ? chosen : "virtual:l4";
  }

  static bool is_virtual() { return device().starts_with("virtual"); }

  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = folder_.path() / name;
    std::filesystem::create_directories(file.parent_path());
    write_file(file, text);
  }
  void kernel(const std::string& text) const { write("kernel_templates/triple/triple.cu", text); }

  ProgramResult run(const std::string& command) const {
    write("kernel_templates/triple/problem.json", problem_.dump());
    write("search_spaces/triple.json", space_.dump());
    return run_program(command, folder_.path());
  }
  ProgramResult judge(const std::string& more = {}) const {
    return run("evo-judge --json --jobs 1 --device " + device() +
               " --space search_spaces/triple.json " + more);
  }

  sample::TemporaryFolder folder_;
  Json problem_ = Json::parse(R"json({
    "format": "evo-tune problem 1", "name": "triple",
    "arguments": [
      {"name": "x", "direction": "in", "dtype": "f32", "extent": "N",
       "generator": {"distribution": "normal", "mean": 0, "std": 1}},
      {"name": "y", "direction": "out", "dtype": "f32", "extent": "N"},
      {"name": "n", "direction": "scalar", "dtype": "i32", "value": "N"}],
    "shapes": {"small": {"variables": {"N": 1000}}},
    "tolerance": {"max_abs_error": 1e-5, "bad_abs_error": 1e-5, "bad_share": 0, "relative_l2": 1e-5},
    "flops": "N", "bytes": "8*N",
    "reference": {"source": "reference.cu", "entry": "expected",
                  "grid": ["ceil_div(N, 64)"], "block": [64]},
    "templates": {"triple": {"source": "triple.cu", "entry": "triple<float, PER_THREAD>",
                             "grid": ["ceil_div(N, BLOCK * PER_THREAD)"], "block": ["BLOCK"]}}})json");
  Json space_ = Json::parse(R"json({
    "format": "evo-tune space 1", "name": "triple", "problem": "triple", "template": "triple",
    "arch": "sm_89", "shape": "small",
    "parameters": [{"macro": "BLOCK", "values": [32, 64], "meaning": "threads"},
                   {"macro": "PER_THREAD", "values": [1, 2], "meaning": "elements"}]})json");
};

}  // namespace evo
