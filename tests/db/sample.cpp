#include "tests/db/sample.hpp"

#include <stdlib.h>

#include <stdexcept>

namespace evo::sample {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "evo-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

RunInfo run_info(TimeKind kind) {
  const bool real = kind == TimeKind::kMeasured;
  return {.device = {.id = real ? "cuda:0" : "virtual:l4",
                     .name = real ? "NVIDIA H200" : "virtual L4",
                     .arch = real ? "sm_90" : "sm_89",
                     .time_kind = kind,
                     .sm_count = 132,
                     .clock_mhz = 1980,
                     .max_shared_bytes_per_cta = 232448,
                     .l2_bytes = 62914560,
                     .peak_tflops = 990,
                     .peak_bandwidth_gbs = 4800,
                     .driver = "580.1"},
          .problem = {.key = "problem-key", .name = "copy", .text = R"({"name": "copy"})"},
          .space = {.key = "space-key",
                    .name = "copy_h200",
                    .text = R"({"name": "copy_h200", "template": "plain",
                                "resources": {"registers_per_thread": 120}})"},
          .shape = "mission",
          .seed = 18446744073709551615ULL,
          .strategy = "full",
          .elite_size = 3,
          .offspring = 8,
          .flops_per_launch = 2e9,
          .bytes_per_launch = 1e6,
          .evo_version = "0.1.0"};
}

CompilationRecord compilation(const std::string& name) {
  CompilationRecord record;
  record.key = "key-" + name;
  record.ok = true;
  record.arch = "sm_90";
  record.compiler = "NVRTC 13.0";
  record.options = "-arch=sm_90 --no-cache --use_fast_math -DTILE=64 -DSWIZZLE_XOR=2 -DFLAG";
  record.compile_ms = 50;
  record.ptx_hash = "ptx-" + name;
  record.resources = {.registers = 96, .static_shared_bytes = 1024, .max_threads = 128};
  record.log = "ptxas info";
  record.source = "extern \"C\" __global__ void copy() {}\n";
  record.ptx = "// ptx of " + name;
  record.cubin = std::string(
      "\x7f"
      "ELF\0binary",
      11);
  return record;
}

CompilationRecord failed_compilation(const std::string& name) {
  CompilationRecord record;
  record.key = "key-" + name;
  record.arch = "sm_90";
  record.compiler = "NVRTC 13.0";
  record.error = "kernel.cu(3): error: expected a ';'";
  record.log = record.error + "\n1 error detected";
  return record;
}

Timing timing(double p50_us, TimeKind kind) {
  return {.kind = kind,
          .p50_us = p50_us,
          .p90_us = p50_us * 1.1,
          .p99_us = p50_us * 1.2,
          .mean_us = p50_us,
          .std_us = p50_us * 0.01,
          .cv = 0.01,
          .samples = kind == TimeKind::kMeasured ? 100 : 1};
}

namespace {

EvaluationRecord evaluation(int generation, int position) {
  const std::string tile = std::to_string(generation * 100 + position);
  EvaluationRecord record;
  record.generation = generation;
  record.position = position;
  record.key = "candidate-" + tile;
  record.config_json = R"({"SWIZZLE":"xor","TILE":)" + tile + "}";
  record.origin = "random";
  return record;
}

}  // namespace

EvaluationRecord green(int generation, int position, CompilationId compilation, double p50_us,
                       TimeKind kind) {
  EvaluationRecord record = evaluation(generation, position);
  record.compilation = compilation;
  record.kernel_key = "kernel-" + std::to_string(compilation);
  record.dynamic_shared_bytes = 4096;
  record.checks = {{.shape = "small",
                    .seed = 18446744073709551614ULL,
                    .max_abs_error = 0.001,
                    .relative_l2 = 1e-4},
                   {.shape = "mission", .seed = 7, .max_abs_error = 0.002, .relative_l2 = 2e-4}};
  record.timing = timing(p50_us, kind);
  record.manifest_json =
      R"({"entry":"copy","shape":{"name":"mission"},"arguments":[],"launch":{}})";
  return record;
}

EvaluationRecord rejected(int generation, int position, Rejection rejection) {
  EvaluationRecord record = evaluation(generation, position);
  record.rejection = std::move(rejection);
  return record;
}

EvaluationRecord duplicate(int generation, int position, CandidateId first) {
  EvaluationRecord record = evaluation(generation, position);
  record.duplicate_of = first;
  return record;
}

}  // namespace evo::sample
