// Tests the spellings of cache hints that ptxas accepts: hints change no result.
#include <gtest/gtest.h>

#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test {
namespace {

using Words = std::vector<std::uint32_t>;

/// Runs `body` in one thread. %rd1 is the address of the words 10, 11, …, 17, %rd2 the address of
/// eight zeros, %rd3 a cache policy, and %r1 the address of shared memory.
Words run_hinted(const std::string& body) {
  TestGpu gpu("virtual:h200");
  const BufferId in = gpu.input("in", Words{10, 11, 12, 13, 14, 15, 16, 17});
  const BufferId out = gpu.inout("out", Words(8));
  const std::string ptx =
      ".version 8.7\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out)\n"
      "{\n.reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<16>;\n"
      ".shared .align 16 .b8 block[32];\n"
      "ld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r1, block;\n"
      "createpolicy.fractional.L2::evict_last.b64 %rd3, 1.0;\n" +
      body + "\nret;\n}\n";
  EXPECT_EQ(text_of(gpu.run(ptx, "k", {{1, 1, 1}, {1, 1, 1}}, {in, out})), "") << body;
  return gpu.read<std::uint32_t>(out, 8);
}

std::string policy_of(const std::string& hints) {
  return hints.find("cache_hint") != std::string::npos ? ", %rd3" : "";
}

TEST(CacheHints, OfLoadsChangeNothing) {
  for (const std::string hints :
       {".global.L2::64B", ".global.L2::128B", ".global.L2::256B", ".L2::256B",
        ".global.ca.L2::256B", ".global.cg.L2::128B", ".volatile.global.L2::128B",
        ".relaxed.gpu.global.L1::no_allocate", ".global.nc.L1::no_allocate.L2::128B",
        ".global.nc.L1::no_allocate.L2::256B", ".global.L1::evict_first", ".L2::cache_hint",
        ".global.L1::evict_unchanged", ".global.L1::evict_normal", ".global.nc.L2::cache_hint",
        ".global.nc.L2::256B.L2::cache_hint", ".relaxed.gpu.global.L2::cache_hint",
        ".global.nc.L1::evict_last.L2::cache_hint.L2::256B",
        ".acquire.gpu.global.L1::evict_first.L2::cache_hint.L2::128B"}) {
    const std::string ld = "ld" + hints;
    const std::string end = policy_of(hints) + ";\n";
    EXPECT_EQ(run_hinted(ld + ".u32 %r2, [%rd1+4]" + end + ld + ".v2.u32 {%r3, %r4}, [%rd1+8]" +
                         end + ld + ".v4.b32 {%r5, %r6, %r7, %r8}, [%rd1+16]" + end +
                         "st.global.v4.u32 [%rd2], {%r2, %r3, %r4, %r5};\n"
                         "st.global.v4.u32 [%rd2+16], {%r6, %r7, %r8, %r8};"),
              (Words{11, 12, 13, 14, 15, 16, 17, 17}))
        << hints;
  }
  for (const std::string hints : {"", ".nc", ".L2::evict_normal", ".nc.L2::evict_last",
                                  ".nc.L1::evict_last.L2::evict_first"}) {
    EXPECT_EQ(run_hinted("ld.global" + hints +
                         ".v4.b64 {%rd4, %rd5, %rd6, %rd7}, [%rd1];\n"
                         "st.global.v4.b64 [%rd2], {%rd4, %rd5, %rd6, %rd7};\n"),
              (Words{10, 11, 12, 13, 14, 15, 16, 17}))
        << hints;
  }
}

TEST(CacheHints, OfStoresChangeNothing) {
  for (const std::string hints :
       {".global.L1::no_allocate", ".global.L1::evict_first", ".global.L2::cache_hint",
        ".global.L1::evict_last.L2::cache_hint", ".global.cs.L2::cache_hint",
        ".global.wb.L2::cache_hint", ".L2::cache_hint",
        ".relaxed.gpu.global.L1::evict_unchanged.L2::cache_hint"}) {
    const std::string st = "st" + hints;
    const std::string end = policy_of(hints) + ";\n";
    EXPECT_EQ(run_hinted("mov.u32 %r2, 5;\n" + st + ".u32 [%rd2], %r2" + end + st +
                         ".v2.u32 [%rd2+8], {%r2, 6}" + end + st +
                         ".v4.u32 [%rd2+16], {%r2, %r2, 7, 8}" + end),
              (Words{5, 0, 5, 6, 5, 5, 7, 8}))
        << hints;
  }
  const std::string registers = ", {%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9};\n";
  EXPECT_EQ(run_hinted("ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1];\n"
                       "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd1+16];\n"
                       "st.global.L1::evict_last.L2::evict_first.v8.b32 [%rd2]" +
                       registers),
            (Words{10, 11, 12, 13, 14, 15, 16, 17}));
}

TEST(CacheHints, OfAsynchronousCopiesChangeNothing) {
  const std::string finish =
      "cp.async.wait_all;\nld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1];\n"
      "st.global.v4.u32 [%rd2], {%r2, %r3, %r4, %r5};";
  const std::string start = "st.shared.v4.u32 [%r1], {0, 0, 0, 0};\nsetp.ne.u64 %p1, %rd1, 0;\n";
  const auto copied = [&](const std::string& copy) {
    const Words out = run_hinted(start + copy + ";\n" + finish);
    return Words(out.begin(), out.begin() + 4);
  };
  for (const std::string hints : {"", ".L2::64B", ".L2::128B", ".L2::256B", ".L2::cache_hint",
                                  ".L2::cache_hint.L2::128B", ".L2::128B.L2::cache_hint"}) {
    const std::string end = policy_of(hints);
    const std::string cg = "cp.async.cg.shared.global" + hints + " [%r1], [%rd1], 16";
    EXPECT_EQ(copied(cg + end), (Words{10, 11, 12, 13})) << hints;
    EXPECT_EQ(copied(cg + ", 8" + end), (Words{10, 11, 0, 0})) << hints;
    EXPECT_EQ(copied(cg + ", %p1" + end), (Words{0, 0, 0, 0})) << hints;
    EXPECT_EQ(copied("cp.async.ca.shared::cta.global" + hints + " [%r1+4], [%rd1+8], 4" + end),
              (Words{0, 12, 0, 0}))
        << hints;
  }
}

TEST(CacheHints, OfAtomicsChangeNothing) {
  EXPECT_EQ(run_hinted("atom.global.add.L2::cache_hint.u32 %r2, [%rd2], 3, %rd3;\n"
                       "atom.global.L2::cache_hint.add.u32 %r2, [%rd2], 4, %rd3;\n"
                       "atom.add.L2::cache_hint.u32 %r3, [%rd2], 5, %rd3;\n"
                       "atom.global.relaxed.gpu.exch.L2::cache_hint.b32 %r4, [%rd2], 6, %rd3;\n"
                       "red.global.add.L2::cache_hint.u32 [%rd2], 7, %rd3;\n"
                       "red.relaxed.gpu.global.max.L2::cache_hint.u32 [%rd2+4], 9, %rd3;\n"
                       "st.global.v2.u32 [%rd2+8], {%r2, %r3};\nst.global.u32 [%rd2+16], %r4;"),
            (Words{13, 9, 3, 7, 12, 0, 0, 0}));
}

TEST(CacheHints, PoliciesAreMadeAndMemoryIsPrefetched) {
  const std::string policies = R"(
mov.f32 %f1, 0f3F000000;
mov.u32 %r2, 16;
createpolicy.fractional.L2::evict_last.b64 %rd4;
createpolicy.fractional.L2::evict_normal.b64 %rd4, 0.5;
createpolicy.fractional.L2::evict_first.b64 %rd4, %f1;
createpolicy.fractional.L2::evict_unchanged.b64 %rd4, 0f3F800000;
createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %rd4, 0.25;
createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd5, [%rd1], %r2, %r2;
createpolicy.range.L2::evict_last.b64 %rd6, [%rd1+16], 0x100000, 0x200000;
createpolicy.cvt.L2.b64 %rd7, %rd4;
)";
  const std::string prefetches = R"(
prefetch.global.L1 [%rd1];
prefetch.global.L2 [%rd1];
prefetch.L2 [%rd1];
prefetch.global.L2::evict_last [%rd1];
prefetch.global.L2::evict_normal [%rd1];
prefetchu.L1 [%rd1];
applypriority.global.L2::evict_normal [%rd1], 128;
cp.async.bulk.prefetch.L2.global.L2::cache_hint [%rd1], 16, %rd4;
)";
  EXPECT_EQ(run_hinted(policies + prefetches + R"(
st.global.L2::cache_hint.u32 [%rd2], 1, %rd4;
st.global.L2::cache_hint.u32 [%rd2+4], 2, %rd5;
st.global.L2::cache_hint.u32 [%rd2+8], 3, %rd6;
st.global.L2::cache_hint.u32 [%rd2+12], 4, %rd7;)"),
            (Words{1, 2, 3, 4, 0, 0, 0, 0}));
}

TEST(CacheHints, NeedAPolicyOnlyIfTheySaySo) {
  for (const std::string line :
       {"ld.global.L2::cache_hint.u32 %r2, [%rd1]", "ld.global.u32 %r2, [%rd1], %rd1",
        "st.global.L2::cache_hint.u32 [%rd1], 1", "red.global.add.u32 [%rd1], 1, %rd1",
        "discard.global.L2 [%rd1], 128"}) {
    TestGpu gpu("virtual:h200");
    const BufferId out = gpu.inout("out", Words(8));
    const std::string ptx =
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n"
        "{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [out];\n" +
        line + ";\nret;\n}\n";
    const std::string fault = text_of(gpu.run(ptx, "k", {{1, 1, 1}, {1, 1, 1}}, {out}));
    EXPECT_EQ(fault.find("not supported: " + line.substr(0, line.find(' '))), 0U) << fault;
  }
}

}  // namespace
}  // namespace evo::test
