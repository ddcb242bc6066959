// Test cases of integer instructions, exchange between lanes and memory: results must be equal bit
// for bit.
#include "tests/agreement/cases.hpp"

namespace evo::agreement {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr const char* kIntegers = "tests/agreement/kernels/integers.cu";
constexpr const char* kWarps = "tests/agreement/kernels/warps.cu";
constexpr const char* kMemory = "tests/agreement/kernels/memory.cu";
constexpr std::size_t kCount = 320;
constexpr LaunchConfig kLaunch = {{2, 1, 1}, {160, 1, 1}};  // kCount threads
constexpr LaunchConfig kOneWarp = {{1, 1, 1}, {32, 1, 1}};

AgreementCase on_words(const char* entry, std::size_t operands, std::size_t columns) {
  Inputs inputs(entry);
  AgreementCase data{entry, kIntegers, kLaunch};
  for (std::size_t i = 0; i < operands; ++i) data.in(inputs.words(kCount));
  return data.out(columns * kCount, Dtype::kU32, std::vector<Bound>(columns)).count(kCount);
}

AgreementCase with_words(const char* entry, const char* source, LaunchConfig launch,
                         std::size_t count) {
  Inputs inputs(entry);
  AgreementCase data{entry, source, launch};
  data.in(inputs.words(count));
  return data;
}

}  // namespace

std::vector<AgreementCase> integer_cases() {
  std::vector<AgreementCase> cases = {
      on_words("integer_products", 3, 16),      on_words("integer_sums", 2, 14),
      on_words("integer_division_edges", 2, 4), on_words("integer_bit_fields", 3, 16),
      on_words("integer_permutes", 3, 16),      on_words("integer_short", 2, 6)};
  Inputs inputs("integer_wide");
  cases.push_back(AgreementCase{"integer_wide", kIntegers, kLaunch}
                      .in(inputs.wide_words(kCount))
                      .in(inputs.wide_words(kCount))
                      .in(inputs.wide_words(kCount))
                      .out(18 * kCount, Dtype::kU64, std::vector<Bound>(18))
                      .count(kCount));
  return cases;
}

std::vector<AgreementCase> warp_cases() {
  constexpr LaunchConfig kTwo = {{1, 1, 1}, {128, 1, 1}};
  std::vector<AgreementCase> cases;
  cases.push_back(with_words("warp_shuffles", kWarps, kTwo, 128).out(9 * 128, Dtype::kU32));
  cases.back().count(128);
  cases.push_back(with_words("warp_partial_masks", kWarps, kTwo, 128).out(6 * 128, Dtype::kU32));
  cases.push_back(with_words("warp_matches", kWarps, kTwo, 128).out(6 * 128, Dtype::kU32));
  cases.push_back(AgreementCase{"warp_election", kWarps, kTwo}.out(2 * 128, Dtype::kU32));
  return cases;
}

std::vector<AgreementCase> memory_cases() {
  std::vector<AgreementCase> cases;
  cases.push_back(with_words("memory_shared_atomics", kMemory, kLaunch, kCount)
                      .out(20, Dtype::kU32)
                      .out(4, Dtype::kU64));
  cases.push_back(with_words("memory_global_reductions", kMemory, kLaunch, kCount)
                      .inout(std::vector<U32>{0, 0x80000000U, ~0U, 0, 0})
                      .inout(std::vector<U64>{1, ~U64{0}})
                      .inout(std::vector<double>{0})
                      .inout(std::vector<U32>{0}));
  Inputs inputs("memory");
  cases.push_back(AgreementCase{"memory_vectors", kMemory, kLaunch}
                      .in(inputs.bytes(32 * kCount))
                      .out(32 * kCount, Dtype::kU8)
                      .count(kCount));
  cases.push_back(with_words("memory_async_ring", kMemory, {{1, 1, 1}, {64, 1, 1}}, 1000)
                      .out(64, Dtype::kU32)
                      .count(4)
                      .count(997));
  cases.push_back(AgreementCase{"memory_async_sizes", kMemory, kOneWarp}
                      .in(inputs.bytes(512))
                      .out(384, Dtype::kU32));
  cases.push_back(with_words("memory_mbarrier_pipeline", kMemory, {{1, 1, 1}, {64, 1, 1}}, 32 * 9)
                      .out(32, Dtype::kU32)
                      .count(9));
  cases.push_back(AgreementCase{"memory_matrices", kMemory, kOneWarp}
                      .in(inputs.bytes(512))
                      .out(512, Dtype::kU32));
  return cases;
}

}  // namespace evo::agreement
