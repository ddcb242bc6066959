#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "engine/core/json_reader.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/db/sample.hpp"

namespace evo {

/// A project with one problem, the sums of rows. If a row is split over several CTAs, two kernels
/// compute its sum, one after the other.
class RowSums {
 public:
  explicit RowSums(std::string device) : device_(std::move(device)) {
    write("kernel_templates/row_sums/reference.cu",
          "__global__ void expected(const float* x, float* y, int n) {\n"
          "  float sum = 0;\n"
          "  for (int i = 0; i < n; ++i) sum += x[threadIdx.x * n + i];\n"
          "  y[threadIdx.x] = sum;\n}\n");
    kernel(final_sum("sum"));
  }

  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = folder_.path() / name;
    std::filesystem::create_directories(file.parent_path());
    write_file(file, text);
  }
  /// Writes the source file: the kernel of the first step, which sums parts of rows, and then the
  /// source text `last`.
  void kernel(const std::string& last) const {
    write("kernel_templates/row_sums/row_sums.cu",
          "__global__ void partial_sums(const float* x, float* parts, float* y, int n) {\n"
          "  __shared__ float sums[BLOCK];\n"
          "  float sum = 0;\n"
          "  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += SPLITS * BLOCK)\n"
          "    sum += x[blockIdx.y * n + i];\n"
          "  sums[threadIdx.x] = sum;\n"
          "  __syncthreads();\n"
          "  if (threadIdx.x != 0) return;\n"
          "  for (int i = 1; i < BLOCK; ++i) sum += sums[i];\n"
          "  if (SPLITS > 1) parts[blockIdx.y * SPLITS + blockIdx.x] = sum;\n"
          "  else y[blockIdx.y] = sum;\n}\n" +
              last);
  }
  /// The source of the second step, which adds the parts of a row to the variable `sum`. `value`:
  /// the expression that the kernel then writes to y. `before`: statements at the start of the
  /// kernel.
  static std::string final_sum(const std::string& value, const std::string& before = {}) {
    return "template <int COUNT> __global__ void final_sum(const float* parts, float* y) {\n" +
           before +
           "  float sum = 0;\n"
           "  for (int i = 0; i < COUNT; ++i) sum += parts[threadIdx.x * COUNT + i];\n"
           "  y[threadIdx.x] = " +
           value + ";\n}\n";
  }

  ProgramResult run(const std::string& command) const {
    write("kernel_templates/row_sums/problem.json", problem.dump());
    write("search_spaces/row_sums.json", space.dump());
    return run_program(command, folder_.path());
  }
  ProgramResult judge(const std::string& more = {}) const {
    return run("evo-judge --json --jobs 1 --device " + device_ +
               " --space search_spaces/row_sums.json " + more);
  }
  ProgramResult tune() const {
    return run("evo-tune --jobs 1 --generations 2 --offspring 4 --seed 3 --device " + device_ +
               " --space search_spaces/row_sums.json");
  }
  [[nodiscard]] Json& step(std::size_t number) {
    return problem["templates"]["row_sums"]["steps"][number];
  }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

  Json problem = Json::parse(R"json({
    "format": "evo-tune problem 1", "name": "row_sums",
    "arguments": [
      {"name": "x", "direction": "in", "dtype": "f32", "extent": "ROWS*N",
       "generator": {"distribution": "uniform", "low": 0, "high": 1}},
      {"name": "y", "direction": "out", "dtype": "f32", "extent": "ROWS"},
      {"name": "n", "direction": "scalar", "dtype": "i32", "value": "N"},
      {"name": "parts", "direction": "workspace", "dtype": "f32", "extent": "ROWS*SPLITS"}],
    "shapes": {"small": {"variables": {"ROWS": 8, "N": 1000}}},
    "tolerance": {"max_abs_error": 1e-2, "bad_abs_error": 1e-2, "bad_share": 0, "relative_l2": 1e-5},
    "flops": "ROWS*N", "bytes": "4*ROWS*N",
    "reference": {"source": "reference.cu",
                  "steps": [{"entry": "expected", "grid": [1], "block": ["ROWS"],
                             "arguments": ["x", "y", "n"]}]},
    "templates": {"row_sums": {"source": "row_sums.cu", "steps": [
      {"entry": "partial_sums", "grid": ["SPLITS", "ROWS"], "block": ["BLOCK"],
       "arguments": ["x", "parts", "y", "n"]},
      {"entry": "final_sum<SPLITS>", "grid": [1], "block": ["ROWS"],
       "arguments": ["parts", "y"], "when": "SPLITS > 1"}]}}})json");
  Json space = Json::parse(R"json({
    "format": "evo-tune space 1", "name": "row_sums", "problem": "row_sums",
    "template": "row_sums", "arch": "sm_89", "shape": "small",
    "parameters": [{"macro": "BLOCK", "values": [32, 64], "meaning": "threads"},
                   {"macro": "SPLITS", "values": [4, 1], "meaning": "CTAs of a row"}]})json");

 private:
  std::string device_;
  sample::TemporaryFolder folder_;
};

}  // namespace evo
