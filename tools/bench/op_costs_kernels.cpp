#include "tools/bench/op_costs_kernels.hpp"

#include <fmt/format.h>

namespace evo {
namespace {

std::string float_chain(const std::string& name) {
  return fmt::format(R"(asm volatile("{} %0, %0;" : "+f"(x));)", name);
}

}  // namespace

std::vector<Operation> chained_operations() {
  const std::string word = "unsigned a = n < 0;";
  const std::string real = "float x = __uint_as_float(in[0]);";
  const auto load = [](const std::string& how) {
    return fmt::format(R"(asm volatile("ld.global.{}.u32 %0, [%1];" : "=r"(a) : "l"(in + a));)",
                       how);
  };
  const std::string sum = "float c[4] = {x, x, x, x};";
  return {
      {"round of one add", word, "asm volatile(\"add.u32 %0, %0, %0;\" : \"+r\"(a));", "a", 1, 1},
      {"f32 multiply-add", real, "x = __fmaf_rn(x, x, x);", "__float_as_uint(x)"},
      {"integer add", word, "asm volatile(\"add.u32 %0, %0, %0;\" : \"+r\"(a));", "a"},
      {"f64 multiply-add", "double d = in[0];", "d = __fma_rn(d, d, d);", "(unsigned)d"},
      {"MUFU (ex2)", real, float_chain("ex2.approx.ftz.f32"), "__float_as_uint(x)"},
      {"f32 to f16x2", real,
       "asm volatile(\"{.reg .b32 p; cvt.rn.f16x2.f32 p, %0, %0; mov.b32 %0, p;}\" : \"+f\"(x));",
       "__float_as_uint(x)"},
      {"e4m3x2 to f16x2", word,
       "asm volatile(\"{.reg .b16 lo, hi; mov.b32 {lo, hi}, %0; cvt.rn.f16x2.e4m3x2 %0, lo;}\" : "
       "\"+r\"(a));",
       "a"},
      {"shuffle", "unsigned a = in[t];", "a = __shfl_xor_sync(0xffffffffu, a, 1);", "a"},
      {"shared load", word + "shared[t] = 0; __syncthreads();", "a = shared[a];", "a"},
      {"ldmatrix.x4",
       word + "shared[t] = 0; __syncthreads();"
              "unsigned s = (unsigned)__cvta_generic_to_shared(shared);",
       "asm volatile(\"{.reg .b32 p, q, r; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, p, q, r}, "
       "[%1];}\" : \"=r\"(a) : \"r\"(s + a)); ",
       "a"},
      {"load from L1", word, load("ca"), "a", 1, 16, 1024},
      {"load from L2", word, load("cg"), "a", 1, 16, 1 << 20},
      {"atomic add with result", word, "a = atomicAdd(out + 64 + a, a);", "a"},
      {"fence", word, "__threadfence();", "a"},
      {"fence of the CTA", word, "__threadfence_block();", "a"},
      {"store and fence", word,
       "asm volatile(\"st.global.u32 [%0], %1;\" :: \"l\"(out + 64), \"r\"(i)); __threadfence();",
       "a"},
      {"cp.async and wait", word,
       "asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16; cp.async.commit_group; "
       "cp.async.wait_group 0;\" :: "
       "\"r\"((unsigned)__cvta_generic_to_shared(shared)), \"l\"(in) : \"memory\");",
       "a"},
      {"barrier of 4 warps", word, "__syncthreads();", "a", 4},
      {"barrier of 16 warps", word, "__syncthreads();", "a", 16},
      {"mbarrier, arrive and wait",
       word + "unsigned s = (unsigned)__cvta_generic_to_shared(shared), phase = 0;"
              "if (t == 0) asm volatile(\"mbarrier.init.shared.b64 [%0], 32;\" :: \"r\"(s));"
              "__syncthreads();",
       "asm volatile(\"{.reg .b64 state; .reg .pred done; mbarrier.arrive.shared.b64 state, [%0]; "
       "again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1; @!done bra again;}\" :: "
       "\"r\"(s), \"r\"(phase) : \"memory\"); phase ^= 1;",
       "a", 1, 1},
      {"mma m16n8k16 f16", real + sum,
       "asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, "
       "%4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};\" : \"+f\"(c[0]), \"+f\"(c[1]), \"+f\"(c[2]), "
       "\"+f\"(c[3]) : \"r\"(t));",
       "__float_as_uint(c[0] + c[1] + c[2] + c[3])"},
  };
}

std::vector<Operation> streamed_operations() {
  const std::string words = "unsigned a[8]; for (int j = 0; j < 8; ++j) a[j] = in[0] + t + j;";
  const std::string reals =
      "float x[8]; for (int j = 0; j < 8; ++j) x[j] = __uint_as_float(in[0] + t + j);";
  const std::string any_word = "a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7]";
  const std::string any_real =
      "__float_as_uint(x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7])";
  const auto each = [](const std::string& text) {
    std::string all;
    for (int j = 0; j < 8; ++j) {
      for (const char c : text) all.push_back(c == '#' ? static_cast<char>('0' + j) : c);
    }
    return all;
  };
  const std::string add = "asm volatile(\"add.u32 %0, %0, %0;\" : \"+r\"(a[#]));";
  const std::string multiply = "x[#] = __fmaf_rn(x[#], x[#], x[#]);";
  const std::string half = "asm volatile(\"fma.rn.f16x2 %0, %0, %0, %0;\" : \"+r\"(a[#]));";
  const std::string exponential = "asm volatile(\"ex2.approx.ftz.f32 %0, %0;\" : \"+f\"(x[#]));";
  const std::string pack_halves =
      "asm volatile(\"{.reg .b32 p; cvt.rn.f16x2.f32 p, %0, %0; mov.b32 %0, p;}\" : "
      "\"+f\"(x[#]));";
  const std::string pack_bytes =
      "asm volatile(\"{.reg .b16 p; cvt.rn.satfinite.e4m3x2.f32 p, %0, %0; mov.b32 %0, {p, "
      "p};}\" : \"+f\"(x[#]));";
  const std::string unpack =
      "asm volatile(\"{.reg .b16 lo, hi; mov.b32 {lo, hi}, %0; cvt.rn.f16x2.e4m3x2 %0, lo;}\" : "
      "\"+r\"(a[#]));";
  const std::string shuffle = "a[#] = __shfl_xor_sync(0xffffffffu, a[#], 1);";
  const std::string load =
      "asm volatile(\"ld.volatile.shared.u32 %0, [%1];\" : \"=r\"(a[#]) : \"r\"((unsigned)"
      "__cvta_generic_to_shared(shared + t % 32)));";
  const std::string matrix =
      "asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, "
      "%6, %7}, {%8, %9}, {%0, %1, %2, %3};\" : \"+f\"(c[#][0]), \"+f\"(c[#][1]), "
      "\"+f\"(c[#][2]), \"+f\"(c[#][3]) : \"r\"(b[0]), \"r\"(b[1]), \"r\"(b[2]), "
      "\"r\"(b[3]), \"r\"(b[4]), \"r\"(b[5]));";
  const std::string sums =
      "float c[8][4] = {}; unsigned b[6]; for (int j = 0; j < 6; ++j) b[j] = "
      "in[0] + t * j;";
  const std::string ready = "shared[t] = t; __syncthreads();";
  const std::string any_sum =
      "__float_as_uint(c[0][0] + c[1][1] + c[2][2] + c[3][3] + c[4][0] + c[5][1] + c[6][2] + "
      "c[7][3])";
  std::vector<Operation> all = {
      {"f32 multiply-add", reals, each(multiply), any_real},
      {"integer add", words, each(add), any_word},
      {"integer multiply-add", words, each("a[#] = a[#] * a[#] + a[#];"), any_word},
      {"f16x2 multiply-add", words, each(half), any_word},
      {"prmt", words, each("a[#] = __byte_perm(a[#], t, a[#]);"), any_word},
      {"MUFU (ex2)", reals, each(exponential), any_real},
      {"f32 to f16x2", reals, each(pack_halves), any_real},
      {"f32 to e4m3x2", reals, each(pack_bytes), any_real},
      {"e4m3x2 to f16x2", words, each(unpack), any_word},
      {"shuffle", words, each(shuffle), any_word},
      {"shared load of 4 bytes", words + ready, each(load), any_word},
      {"mma m16n8k16 f16", sums, each(matrix), any_sum},
      // Pairs of operations: if their units differ, a pair costs less than the sum of both costs.
      {"ex2, f32 to f16x2", reals, each(exponential + pack_halves), any_real},
      {"ex2, e4m3x2 to f16x2", reals + words, each(exponential + unpack),
       any_real + "+" + any_word},
      {"ex2, integer add", reals + words, each(exponential + add), any_real + "+" + any_word},
      {"ex2, shuffle", reals + words, each(exponential + shuffle), any_real + "+" + any_word},
      {"e4m3x2 to f16x2, integer add", words, each(unpack + add), any_word},
      {"e4m3x2 to f16x2, f32 multiply-add", reals + words, each(unpack + multiply),
       any_real + "+" + any_word},
      {"f32 multiply-add, integer add", reals + words, each(multiply + add),
       any_real + "+" + any_word},
      {"mma, ex2", reals + sums, each(matrix + exponential), any_real + "+" + any_sum},
      {"mma, e4m3x2 to f16x2", words + sums, each(matrix + unpack), any_word + "+" + any_sum},
      {"mma, f32 multiply-add", reals + sums, each(matrix + multiply), any_real + "+" + any_sum},
      {"mma, integer add", words + sums, each(matrix + add), any_word + "+" + any_sum},
      {"mma, shared load", words + ready + sums, each(matrix + load), any_word + "+" + any_sum},
  };
  for (Operation& operation : all) {
    operation.warps = 16;
    operation.repeats = 4;
    operation.ops = 4;
  }
  return all;
}

std::string source_of(const Operation& operation) {
  std::string rounds;
  for (int i = 0; i < operation.ops; ++i) rounds.append(operation.body).append("\n");
  return fmt::format(R"(extern "C" __global__ void k(unsigned* out, const unsigned* in, int n) {{
  extern __shared__ __align__(128) unsigned shared[];
  const int t = threadIdx.x;
  {}
#pragma unroll 1
  for (int i = 0; i < n; ++i) {{
{}  }}
  if (n != 0) out[t] = {};
}}
)",
                     operation.setup, rounds, operation.result);
}

std::string stream_source(std::size_t bytes, bool writes) {
  return fmt::format(R"(extern "C" __global__ void k(unsigned* out, unsigned* in, int n) {{
  unsigned seen = 0;
  for (int round = 0; round < n; ++round) {{
#pragma unroll 8
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < {}u; i += gridDim.x * blockDim.x) {{
      uint4* at = reinterpret_cast<uint4*>(in) + i;
      {}
    }}
  }}
  if (seen == 12345) out[threadIdx.x] = seen;
}}
)",
                     bytes / 16,
                     writes ? "*at = make_uint4(i, i, i, i);"
                            : "uint4 v; asm volatile(\"ld.global.cg.v4.u32 {%0, %1, %2, %3}, "
                              "[%4];\" : \"=r\"(v.x), \"=r\"(v.y), \"=r\"(v.z), "
                              "\"=r\"(v.w) : \"l\"(at)); seen ^= v.x ^ v.y ^ v.z ^ v.w;");
}

}  // namespace evo
