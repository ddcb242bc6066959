// Test cases of tensor-core products: the virtual GPU must give the same sums as an sm_90 GPU, bit
// for bit.
#include <bit>

#include "tests/agreement/cases.hpp"

namespace evo::agreement {
namespace {

using U32 = std::uint32_t;

constexpr const char* kMatrices = "tests/agreement/kernels/matrices.cu";
constexpr std::size_t kWarps = 16;
constexpr std::size_t kLanes = 32 * kWarps;
constexpr LaunchConfig kLaunch = {{4, 1, 1}, {128, 1, 1}};

std::vector<U32> any_bits(Inputs& inputs, std::size_t words) {
  const std::vector<std::uint8_t> bytes = inputs.bytes(4 * words);
  std::vector<U32> values(words);
  for (std::size_t i = 0; i < words; ++i)
    for (std::size_t k = 0; k < 4; ++k) values[i] |= U32{bytes[4 * i + k]} << (8 * k);
  return values;
}

/// Words of four random 8-bit floats each, which are finite both as e4m3 and as e5m2.
std::vector<U32> finite_bytes(Inputs& inputs, std::size_t words) {
  std::vector<U32> values = any_bits(inputs, words);
  for (U32& v : values) v &= 0xbbbbbbbbU;
  return values;
}

/// Random f32 numbers whose lowest 13 bits are zero, so that tf32 represents them exactly.
std::vector<U32> tf32_words(Inputs& inputs, std::size_t words) {
  const std::vector<float> floats = inputs.floats(words, -8, 8);
  std::vector<U32> values(words);
  for (std::size_t i = 0; i < words; ++i) values[i] = std::bit_cast<U32>(floats[i]) & 0xffffe000U;
  return values;
}

using Fill = std::vector<U32> (*)(Inputs&, std::size_t);

AgreementCase product(const char* entry, std::size_t a, std::size_t b, Fill fill) {
  Inputs inputs(entry);
  AgreementCase data{entry, kMatrices, kLaunch};
  return data.in(fill(inputs, a * kLanes)).in(fill(inputs, b * kLanes));
}

/// The case of a product with f32 accumulators, 4 per lane.
AgreementCase float_product(const char* entry, std::size_t a, std::size_t b, Fill fill) {
  Inputs inputs(std::string(entry) + " c");
  return product(entry, a, b, fill)
      .in(inputs.floats(4 * kLanes, -20, 20))
      .out(4 * kLanes, Dtype::kF32);
}

AgreementCase integer_product(const char* entry, std::size_t a, std::size_t b) {
  Inputs inputs(std::string(entry) + " c");
  return product(entry, a, b, any_bits).in(inputs.words(4 * kLanes)).out(4 * kLanes, Dtype::kI32);
}

std::vector<U32> halves_near_one(Inputs& inputs, std::size_t words) {
  return inputs.half_pairs(words, 10, 10, 18);
}
std::vector<U32> bfloats_near_one(Inputs& inputs, std::size_t words) {
  return inputs.half_pairs(words, 7, 120, 132);
}

}  // namespace

std::vector<AgreementCase> matrix_cases() {
  std::vector<AgreementCase> cases = {float_product("product_f16_k16", 4, 2, halves_near_one),
                                      float_product("product_f16_k8", 2, 1, halves_near_one),
                                      float_product("product_bf16_k16", 4, 2, bfloats_near_one),
                                      float_product("product_bf16_k8", 2, 1, bfloats_near_one),
                                      float_product("product_tf32_k8", 4, 2, tf32_words),
                                      float_product("product_e4m3_k32", 4, 2, finite_bytes),
                                      float_product("product_e5m2_k32", 4, 2, finite_bytes),
                                      float_product("product_e4m3_e5m2_k32", 4, 2, finite_bytes),
                                      integer_product("product_s8_k32", 4, 2),
                                      integer_product("product_u8_s8_k32", 4, 2),
                                      integer_product("product_s8_saturated", 4, 2),
                                      integer_product("product_s8_k16", 2, 1)};
  Inputs inputs("matrices");
  cases.push_back(product("product_f16_sums", 4, 2, halves_near_one)
                      .in(inputs.half_pairs(2 * kLanes, 10, 10, 18))
                      .out(4 * kLanes, Dtype::kF16));
  cases.push_back(AgreementCase{"product_chain", kMatrices, kLaunch}
                      .in(inputs.half_pairs(4 * 1024, 10, 8, 17))
                      .in(inputs.half_pairs(2 * 1024, 10, 8, 17))
                      .out(4 * kLanes, Dtype::kF32));
  for (const char* entry : {"wmma_row_col", "wmma_col_row"})
    cases.push_back(AgreementCase{entry, kMatrices, {{4, 1, 1}, {32, 1, 1}}}
                        .in(inputs.half_pairs(4 * 128, 10, 10, 18))
                        .in(inputs.half_pairs(4 * 128, 10, 10, 18))
                        .in(inputs.floats(4 * 256, -20, 20))
                        .out(4 * 256, Dtype::kF32));
  return cases;
}

}  // namespace evo::agreement
