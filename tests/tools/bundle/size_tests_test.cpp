// Tests size tests, the conditions in a compiled kernel that depend only on sizes: a bundle serves
// a size only if all size tests have the same results as for a checked size.

#include "tools/bundle/size_tests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <functional>

#include "engine/compile/nvrtc.hpp"
#include "engine/core/error.hpp"
#include "engine/core/expression.hpp"
#include "tools/bundle/checked.hpp"
#include "tools/bundle/plan.hpp"

namespace evo {
namespace {

using Json = nlohmann::ordered_json;

/// The source of a kernel that computes y = f(x) for n elements. `body` precedes the store to y.
std::string source(const std::string& body) {
  return R"(
__device__ __noinline__ int called(int n) { return n % 3 == 1 ? n : 2 * n; }
extern "C" __global__ void k(const float* x, float* y, int n, unsigned m, long long l) {
  __shared__ int kept[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  kept[threadIdx.x] = i;
  __syncthreads();
  float s = kept[63 - threadIdx.x];
  )" + body +
         R"(
  if (i < n) y[i] = s * x[i];
})";
}

Json formula(const std::string& text) { return {{"expression", text}}; }

Json scalar(const std::string& name, const std::string& dtype) {
  return {{"name", name}, {"direction", "scalar"}, {"dtype", dtype}, {"value", formula("N")}};
}

Json manifest() {
  const auto buffer = [](const std::string& name, const std::string& direction) {
    return Json{
        {"name", name}, {"direction", direction}, {"dtype", "f32"}, {"extent", formula("N")}};
  };
  return {{"name", "k"},
          {"arch", "sm_89"},
          {"entry", "k"},
          {"macros", {{"TILE", 64}}},
          {"valid", Json::array()},
          {"resources", {{"static_shared_bytes", 256}}},
          {"launch", {{"grid", {formula("ceil_div(N, TILE)")}}, {"block", {formula("TILE")}}}},
          {"arguments",
           {buffer("x", "in"), buffer("y", "out"), scalar("n", "i32"), scalar("m", "u32"),
            scalar("l", "i64")}}};
}

class SizeTests : public testing::Test {
 protected:
  void SetUp() override {
    try {
      compiler_ = open_nvrtc();
    } catch (const MissingError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  std::string ptx(const std::string& body) {
    CompileAnswer answer = compiler_->compile({{"k.cu", source(body), {}}, {"k"}, "sm_89", {}});
    if (const auto* refused = std::get_if<Rejection>(&answer)) {
      throw std::runtime_error(refused->reason + refused->detail);
    }
    return std::get<Compiled>(answer).ptx;
  }

  /// The sizes up to `most` that a bundle serves if the kernel was checked on the sizes `checked`.
  std::set<int> served(const std::string& body, const std::set<int>& checked, int most) {
    CheckedKernel kernel{{}, manifest(), {}, ptx(body)};
    kernel.plan = kernel_plan(kernel.manifest, {"N"});
    for (const int size : checked) {
      kernel.shapes["s" + std::to_string(size)] = {{"N", static_cast<double>(size)}};
    }
    std::vector<Expression> conditions;
    for (const Json& its : checked_conditions(kernel)) {
      conditions.emplace_back(its["expression"].get<std::string>());
    }
    std::set<int> sizes;
    for (int size = 1; size <= most; ++size) {
      const auto holds = [&](const Expression& its) {
        return its.evaluate(std::map<std::string, double>{{"N", size}}) != 0;
      };
      if (std::ranges::all_of(conditions, holds)) sizes.insert(size);
    }
    return sizes;
  }

  std::unique_ptr<Compiler> compiler_;
};

/// A kernel whose `body` treats two sizes alike if kind() has the same result for both. Without
/// `body`, a bundle serves some sizes of the same kind as a checked size; `at_least` times as many
/// sizes must be served with `body`.
struct Treatment {
  const char* body;
  std::function<long(long)> kind;
  double at_least = 0.2;
};

long bits(long n) { return std::popcount(static_cast<unsigned long>(n)); }

TEST_F(SizeTests, ASizeOfAnotherKindThanThoseCheckedIsNotServed) {
  const std::vector<Treatment> all = {
      {"if (n & 64) s = 2;", [](long n) { return n & 64; }},
      {"if ((n >> 6) & 1) s = 2;", [](long n) { return n >> 6 & 1; }},
      {"s += (n >> 6) & 1;", [](long n) { return n >> 6 & 1; }},
      {"if (n % 8 == 6) s = 2;", [](long n) { return n % 8 == 6 ? 1 : 0; }},
      {"s += n % 16;", [](long n) { return n % 16; }},
      {"s += m % 8;", [](long n) { return n % 8; }},
      {"if (n == 777) s = 2;", [](long n) { return n == 777 ? 1 : 0; }},
      {"if (n != 700 && n != 701) s = 2;", [](long n) { return n == 700 || n == 701 ? 1 : 0; }},
      {"if (m / 100 == 3) s = 2;", [](long n) { return n / 100 == 3 ? 1 : 0; }},
      {"if (n > 500 && n < 600) s = 2;", [](long n) { return n > 500 && n < 600 ? 1 : 0; }},
      {"if (n % blockDim.x == 3) s = 2;", [](long n) { return n % 64 == 3 ? 1 : 0; }, 0.05},
      {"if ((n ^ 5) > 700) s = 2;", [](long n) { return (n ^ 5) > 700 ? 1 : 0; }, 0},
      {"if (gridDim.x == 8) s = 2;", [](long n) { return (n + 63) / 64 == 8 ? 1 : 0; }},
      {"if (gridDim.x & 1) s = 2;", [](long n) { return (n + 63) / 64 & 1; }},
      {"if (n % 7 == 3) s = 2;", [](long n) { return n % 7 == 3 ? 1 : 0; }, 0.01},
      {"if (m % 7 == 3) s = 2;", [](long n) { return n % 7 == 3 ? 1 : 0; }, 0.01},
      {"if (l % 6 == 1) s = 2;", [](long n) { return n % 6 == 1 ? 1 : 0; }, 0.05},
      {"if (n / 7 == 50) s = 2;", [](long n) { return n / 7 == 50 ? 1 : 0; }, 0.01},
      {"if (m / 97 % 2) s = 2;", [](long n) { return n / 97 % 2; }, 0.001},
      {"s = (n & 64) ? s : n == 900 ? 3 : 4;",
       [](long n) { return (n & 64) != 0 ? 1
                           : n == 900    ? 2
                                         : 0; }},
      {"if ((unsigned char)n == 5) s = 2;", [](long n) { return n % 256 == 5 ? 1 : 0; }, 0.001},
      {"if (max(n, 300) == 300 + (n & 4)) s = 2;",
       [](long n) { return std::max(n, 300L) == 300 + (n & 4) ? 1 : 0; }},
      {"if (__shfl_sync(~0u, n, 0) & 64) s = 2;", [](long n) { return n & 64; }},
      {"if ((n + (int)blockIdx.y) & 64) s = 2;", [](long n) { return n & 64; }},
      {"switch (n % 8) { case 1: s = 2; break; case 3: s *= 5; break; case 4: s -= 6; break; "
       "case 6: s = i; break; }",
       [](long n) { return n % 8; }, 0.1},
      {"switch (n / 64) { case 5: s = 2; break; case 6: s = 9 - i; break; case 7: s *= 5; break; "
       "case 8: s -= 6; break; "
       "case 9: s = i; break; case 10: s = 3 * i; break; case 11: s = n; break; }",
       [](long n) { return n / 64 >= 5 && n / 64 <= 11 ? n / 64 : 0; }, 0.01},
      {"if ((m ^ 64) == 700) s = 2;", [](long n) { return (n ^ 64) == 700 ? 1 : 0; }, 0},
      {"const bool odd = n & 64; const bool more = m > 600; if (odd != more) s = 2;",
       [](long n) { return ((n & 64) != 0) != (n > 600) ? 1 : 0; }, 0.01},
      {"asm(\"bfe.u32 %0, %1, 6, 1;\" : \"=r\"(kept[0]) : \"r\"(n)); s += kept[0];",
       [](long n) { return n >> 6 & 1; }, 0},
      {"if (min(n, 900) % 8 == 6) s = 2;",
       [](long n) { return std::min(n, 900L) % 8 == 6 ? 1 : 0; }},
      {"if (abs(n - 500) == 77) s = 2;", [](long n) { return std::abs(n - 500) == 77 ? 1 : 0; }, 0},
      {"if ((n - 600) >> 6 == -3) s = 2;", [](long n) { return (n - 600) >> 6 == -3 ? 1 : 0; },
       0.1},
      {"if ((m - 600u) / 64 == 3) s = 2;",
       [](long n) { return static_cast<unsigned>(n - 600) / 64 == 3 ? 1 : 0; }, 0.1},
      {"if ((short)(n * 100) > 20000) s = 2;",
       [](long n) { return static_cast<short>(n * 100) > 20000 ? 1 : 0; }, 0},
      {"if ((unsigned short)(n - 600) == 65535) s = 2;", [](long n) { return n == 599 ? 1 : 0; },
       0},
      {"if ((n << 25) < 0) s = 2;", [](long n) { return n & 64; }, 0},
      {"if (n * 3 / 2 == 1000) s = 2;", [](long n) { return n * 3 / 2 == 1000 ? 1 : 0; }},
      // evo-export cannot follow the PTX of the bodies below, so it serves only checked sizes.
      {"if (__popc(n) == 3) s = 2;", bits, 0},
      {"if ((m * 2654435761u) >> 31) s = 2;",
       [](long n) { return static_cast<long>(static_cast<unsigned>(n) * 2654435761U >> 31); }, 0},
      {"if (__brev(n) & 1024) s = 2;", [](long n) { return n >> 21 & 1; }, 0},
      {"if (i & n) s = 2;", [](long n) { return n; }, 0},
      {"if ((float)n * 0.37f - floorf((float)n * 0.37f) < 0.1f) s = 2;", [](long n) { return n; },
       0},
      {"kept[0] = n; __syncthreads(); if (kept[0] & 64) s = 2;", [](long n) { return n & 64; }, 0},
      {"s += called(n);", [](long n) { return n % 3 == 1 ? 1 : 0; }, 0},
  };
  for (const std::set<int>& checked :
       {std::set<int>{130, 385, 1025, 1411, 1935}, std::set<int>{201, 458, 1000, 1993}}) {
    const std::set<int> plain = served("", checked, 2100);
    for (const Treatment& its : all) {
      std::set<long> seen;
      for (const int size : checked) seen.insert(its.kind(size));
      const std::set<int> sizes = served(its.body, checked, 2100);
      EXPECT_THAT(sizes, testing::IsSupersetOf(checked)) << its.body;
      for (const int size : sizes) {
        ASSERT_TRUE(seen.contains(its.kind(size))) << its.body << " serves " << size;
      }
      const auto of_a_kind =
          std::ranges::count_if(plain, [&](int size) { return seen.contains(its.kind(size)); });
      EXPECT_GE(static_cast<double>(sizes.size()), its.at_least * static_cast<double>(of_a_kind))
          << its.body;
    }
  }
}

TEST_F(SizeTests, IndicesLoopsAndTilesCostNoSize) {
  const std::set<int> checked = {130, 385, 1025, 1411, 1998, 1999};
  const std::set<int> plain = served("", checked, 2100);
  EXPECT_GT(plain.size(), 900U);
  for (const char* body : {
           "for (int j = i; j < n; j += gridDim.x * blockDim.x) s += x[j];",
           "#pragma unroll 1\nfor (int j = 0; j < n; ++j) s += x[j];",
           "const int tiles = (n + 63) / 64; for (int t = blockIdx.x; t < tiles; t += gridDim.x) "
           "if (t * 64 + threadIdx.x < n) s += x[t * 64 + threadIdx.x];",
           "if (n < 1) return; s *= rsqrtf((float)n);",
           "const int last = min(n, (int)((blockIdx.x + 1) * 64)); s += last - i;",
           "if (i == n - 1) s = 1;",
           "s += x[(i * 7) % n] / n;",
           "s += x[(i ^ 32) < n ? (i ^ 32) : i];",
           "long long end = l * 4; if (i * 4ll < end) s = 2;",
       }) {
    EXPECT_EQ(served(body, checked, 2100).size(), plain.size()) << body;
  }
}

/// The size tests that are found in the PTX `code`, as expressions. In the code, %r1 and %rd1 are
/// N, and %f1 is N / 2.
std::vector<std::string> of_code(const std::string& code, const std::string& grid = "N") {
  Json its = manifest();
  its["arguments"] = {scalar("n", "i32"), scalar("l", "i64"), scalar("half", "f32")};
  its["arguments"][2]["value"] = formula("N / 2");
  its["launch"]["grid"] = {formula(grid)};
  const std::string ptx =
      ".version 9.0\n.target sm_89\n.address_size 64\n"
      ".visible .entry k(.param .u32 n, .param .u64 l, .param .f32 half) {\n"
      ".reg .pred %p<9>;\n.reg .b16 %rs<9>;\n.reg .b32 %r<9>;\n"
      ".reg .b64 %rd<9>;\n.reg .f32 %f<9>;\n"
      "ld.param.u32 %r1, [n];\nld.param.u64 %rd1, [l];\n"
      "ld.param.f32 %f1, [half];\n" +
      code + "\nret;\n}\n";
  std::vector<std::string> texts;
  for (const SizeTest& test : size_tests(ptx, its, {"N"})) texts.push_back(test.expression);
  return texts;
}

TEST(SizeTestsOfCode, AreWhatInstructionsTellApart) {
  using testing::ElementsAre;
  using testing::IsEmpty;
  EXPECT_THAT(of_code(""), IsEmpty());
  EXPECT_THAT(of_code("bfe.u32 %r2, %r1, 6, 1;"), ElementsAre("((N // 64) % 2)"));
  EXPECT_THAT(of_code("bfe.u32 %r2, %r1, %r1, 1;"), ElementsAre(""));
  EXPECT_THAT(of_code("bfe.u64 %rd2, %rd1, 50, 9;"), ElementsAre(""));
  EXPECT_THAT(of_code("shr.s32 %r2, %r1, 3;\nand.b32 %r3, %r2, %r1;"), ElementsAre(""));
  EXPECT_THAT(of_code("brx_targets: .branchtargets L1, L2;\nshr.u32 %r2, %r1, 6;\n"
                      "brx.idx %r2, brx_targets;\nL1: ret;\nL2:"),
              ElementsAre("(N // 64)"));
  EXPECT_THAT(of_code("setp.gt.f32 %p1, %f1, 0f3F800000;"), ElementsAre(""));
  EXPECT_THAT(of_code("setp.eq.s64 %p1, %rd1, 7;"), ElementsAre("(N == 7)"));
  EXPECT_THAT(of_code("setp.lt.s64 %p1, %rd1, 7;"), IsEmpty());
  EXPECT_THAT(of_code("cvt.u16.u32 %rs1, %r1;\nadd.s16 %rs2, %rs1, 9;\nsetp.eq.s16 %p1, %rs2, 3;"),
              ElementsAre("(((((((N % 65536) + 9) % 65536) + 32768) % 65536) - 32768) == 3)"));
  EXPECT_THAT(of_code("cvt.u8.u32 %rs1, %r1;"), ElementsAre("(N % 256)"));
  EXPECT_THAT(of_code("cvt.rn.f32.s32 %f2, %r1;\nsetp.eq.f32 %p1, %f2, 0f3F800000;"),
              ElementsAre(""));
  // Bits above 2^53 have no expression, because the values of expressions are doubles.
  EXPECT_THAT(of_code("shr.u64 %rd2, %rd1, 55;\nsetp.eq.s64 %p1, %rd2, 1;"), ElementsAre(""));
  EXPECT_THAT(of_code("and.b64 %rd2, %rd1, 0x7f00000000000000;"), ElementsAre(""));
  EXPECT_THAT(of_code("and.b32 %r2, %r1, 0x55;"), ElementsAre(""));
  EXPECT_THAT(of_code("and.b32 %r2, %r1, -1;\nand.b32 %r3, %r1, 0;"), IsEmpty());
  EXPECT_THAT(of_code("rem.s32 %r2, %r1, 12;"), ElementsAre("(N % 12)"));
  EXPECT_THAT(of_code("sub.s32 %r2, %r1, 9;\nrem.s32 %r3, %r2, 4;"), ElementsAre(""));
  EXPECT_THAT(of_code("mov.u32 %r2, %nctaid.x;\nsetp.eq.s32 %p1, %r2, 4;"),
              ElementsAre("(N == 4)"));
  // A grid that depends on the number of SMs is not a function of the shape.
  EXPECT_THAT(of_code("mov.u32 %r2, %nctaid.x;\nsetp.eq.s32 %p1, %r2, 4;", "min(N, SM_COUNT)"),
              IsEmpty());
  // %r2 is written twice, or under a predicate, so its value may differ between threads.
  EXPECT_THAT(of_code("mov.u32 %r2, %r1;\nmov.u32 %r2, %tid.x;\nand.b32 %r3, %r2, 4;"), IsEmpty());
  EXPECT_THAT(of_code("mov.u32 %r3, %tid.x;\nsetp.eq.s32 %p1, %r3, 0;\n@%p1 mov.u32 %r2, %r1;\n"
                      "and.b32 %r4, %r2, 4;"),
              IsEmpty());
  EXPECT_THAT(of_code("mov.b64 %rd2, {%r1, %r1};\nsetp.eq.s64 %p1, %rd2, 5;"), ElementsAre(""));
  EXPECT_THAT(of_code("popc.b32 %r2, %r1;"), ElementsAre(""));
  EXPECT_THAT(of_code("st.global.u32 [%rd1], %r1;"), IsEmpty());
  EXPECT_THAT(of_code("shl.b32 %r2, %r1, 3;\nsetp.eq.s32 %p1, %r2, 24;"),
              ElementsAre("((N * 8) == 24)"));
  EXPECT_THAT(of_code("shl.b32 %r2, %r1, %r1;\nsetp.eq.s32 %p1, %r2, 24;"), ElementsAre(""));
  EXPECT_THAT(of_code("abs.s32 %r2, %r1;\nsetp.eq.s32 %p1, %r2, 24;"), ElementsAre("(N == 24)"));
  EXPECT_THAT(of_code("div.rn.f32 %f2, %f1, %f1;"), IsEmpty());
  EXPECT_THAT(of_code("mul.hi.s32 %r2, %r1, 77;\nsetp.eq.s32 %p1, %r2, 5;"), ElementsAre(""));
}

TEST(SizeTestsOfCode, WithoutTheEntryNothingIsKnown) {
  Json its = manifest();
  its["entry"] = "other";
  const std::string ptx =
      ".version 9.0\n.target sm_89\n.address_size 64\n.visible .entry k() { ret; }\n";
  EXPECT_EQ(size_tests(ptx, its, {"N"}), (std::set<SizeTest>{{"", {"N"}, 0, {}}}));
}

TEST_F(SizeTests, CodeThatCannotBeReadServesWhatWasChecked) {
  EXPECT_EQ(size_tests("no PTX", manifest(), {"N"}), (std::set<SizeTest>{{"", {"N"}, 0, {}}}));
}

}  // namespace
}  // namespace evo
