// Test cases of the kernels in ordinary.cu with control flow, exchange between threads, or waiting.
#include <bit>

#include "tests/agreement/cases.hpp"

namespace evo::agreement {
namespace {

AgreementCase ordinary(const char* entry, LaunchConfig launch) {
  return {entry, kOrdinarySource, launch};
}

std::vector<AgreementCase> branch_cases() {
  Inputs inputs("branches");
  std::vector<AgreementCase> cases;
  cases.push_back(ordinary("collatz", {{3, 1, 1}, {128, 1, 1}})
                      .in(inputs.integers(300, 1, 4000))
                      .out(300, Dtype::kU32)
                      .count(300));
  cases.push_back(ordinary("switch_cases", {{2, 1, 1}, {128, 1, 1}})
                      .in(inputs.integers(256, -1000, 1000))
                      .inout(inputs.integers(256, 0, 9))
                      .count(256));
  cases.push_back(ordinary("sort_local", {{1, 1, 1}, {32, 1, 1}})
                      .in(inputs.integers(256, -1000, 1000))
                      .out(256, Dtype::kI32)
                      .count(256));
  cases.push_back(ordinary("bitonic_sort", {{1, 1, 1}, {256, 1, 1}})
                      .inout(inputs.integers(256, -1000, 1000))
                      .count(256));
  cases.push_back(ordinary("calls_function", {{1, 1, 1}, {128, 1, 1}})
                      .in(inputs.integers(100, 0, 99999))
                      .out(100, Dtype::kI32)
                      .count(100));
  struct Pair {
    float scale;
    int shift;
  };
  cases.push_back(ordinary("struct_parameter", {{1, 1, 1}, {64, 1, 1}})
                      .in(inputs.floats(64, -1, 1))
                      .out(64, Dtype::kF32)
                      .scalar(std::bit_cast<std::uint64_t>(Pair{2.5F, 3})));
  cases.push_back(ordinary("generic_pointers", {{1, 1, 1}, {64, 1, 1}})
                      .in(inputs.integers(64, 0, 99))
                      .out(64, Dtype::kI32)
                      .count(5));
  return cases;
}

std::vector<AgreementCase> exchange_cases() {
  Inputs inputs("exchange");
  std::vector<AgreementCase> cases;
  cases.push_back(ordinary("warp_votes", {{1, 1, 1}, {64, 1, 1}})
                      .in(inputs.integers(64, -99, 99))
                      .out(384, Dtype::kU32)
                      .count(64));
  cases.push_back(ordinary("atomics", {{4, 1, 1}, {64, 1, 1}})
                      .inout(std::vector<int>{0, 0})
                      .inout(std::vector<std::uint32_t>{0xffffffffU, 0, 0, 0, 1})
                      .inout(std::vector<std::uint64_t>{1})
                      .inout(std::vector<float>{0}));  // halves of small numbers: exact
  cases.push_back(ordinary("spin_lock", {{2, 1, 1}, {64, 1, 1}})
                      .inout(std::vector<int>{0})
                      .inout(std::vector<int>{0}));
  cases.push_back(ordinary("work_queue", {{5, 1, 1}, {64, 1, 1}})
                      .inout(std::vector<std::uint32_t>{0})
                      .out(2048, Dtype::kI32)
                      .count(2048));
  cases.push_back(ordinary("grid_barrier", {{24, 1, 1}, {32, 1, 1}})
                      .inout(std::vector<std::uint32_t>{0})
                      .out(2 * 24 * 32, Dtype::kI32)
                      .count(24 * 32));
  cases.push_back(ordinary("ticket_barrier_sync", {{1, 1, 1}, {96, 1, 1}})
                      .in(inputs.integers(96, -50, 50))
                      .out(288, Dtype::kI32)
                      .count(96));
  return cases;
}

}  // namespace

std::vector<AgreementCase> ordinary_control_cases() {
  std::vector<AgreementCase> all = branch_cases();
  for (AgreementCase& data : exchange_cases()) all.push_back(std::move(data));
  return all;
}

}  // namespace evo::agreement
