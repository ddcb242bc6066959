#include "engine/compile/ptxas_log.hpp"

#include <gtest/gtest.h>

#include "engine/core/random.hpp"

namespace evo {
namespace {

// As the program ptxas prints it.
constexpr const char* kProgramLog =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'first' for 'sm_90'\n"
    "ptxas info    : Function properties for first\n"
    "    160 bytes stack frame, 24 bytes spill stores, 28 bytes spill loads\n"
    "ptxas info    : Used 40 registers, used 1 barriers, 160 bytes cumulative stack size, "
    "1024 bytes smem\n"
    "ptxas info    : Compile time = 3.2 ms\n"
    "ptxas info    : Compiling entry function 'second' for 'sm_90'\n"
    "ptxas info    : Function properties for second\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 8 registers, used 0 barriers\n";

// As NVRTC prints the middle line.
constexpr const char* kNvrtcLog =
    "ptxas info    : Compiling entry function 'k' for 'sm_89'\n"
    "ptxas info    : Function properties for k\n"
    "ptxas         .     0 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
    "ptxas info    : Used 255 registers, used 1 barriers, 4096 bytes smem, 400 bytes cmem[0]\n";

TEST(PtxasLog, ReportsEachEntryApart) {
  const auto first = parse_ptxas_log(kProgramLog, "first");
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->registers, 40);
  EXPECT_EQ(first->static_shared_bytes, 1024);
  EXPECT_EQ(first->stack_bytes, 160);
  EXPECT_EQ(first->spill_store_bytes, 24);
  EXPECT_EQ(first->spill_load_bytes, 28);
  const auto second = parse_ptxas_log(kProgramLog, "second");
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->registers, 8);
  EXPECT_EQ(second->static_shared_bytes, 0);
  EXPECT_EQ(second->spill_store_bytes, 0);
}

TEST(PtxasLog, ReportsSpillBytesInNvrtcsSpelling) {
  const auto found = parse_ptxas_log(kNvrtcLog, "k");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->registers, 255);
  EXPECT_EQ(found->static_shared_bytes, 4096);
  EXPECT_EQ(found->spill_store_bytes, 4);
  EXPECT_EQ(found->spill_load_bytes, 8);
}

TEST(PtxasLog, AnIncompleteReportIsNothing) {
  EXPECT_FALSE(parse_ptxas_log("", "k"));
  EXPECT_FALSE(parse_ptxas_log(kNvrtcLog, "other"));
  EXPECT_FALSE(parse_ptxas_log(kNvrtcLog, ""));
  EXPECT_FALSE(parse_ptxas_log(kProgramLog, "firs"));
  const std::string text = kNvrtcLog;
  // Any line missing: no report.
  for (const char* part : {"Compiling entry", "spill stores", "Used 255"}) {
    std::string cut = text;
    const std::size_t at = cut.find(part);
    const std::size_t begin = cut.rfind('\n', at) + 1;
    cut.erase(begin, cut.find('\n', at) + 1 - begin);
    EXPECT_FALSE(parse_ptxas_log(cut, "k")) << part;
  }
}

TEST(PtxasLog, AReportNeverComesFromTheNextEntry) {
  std::string text = kProgramLog;
  const std::size_t at = text.find("ptxas info    : Used 40");
  text.erase(at, text.find('\n', at) + 1 - at);
  EXPECT_FALSE(parse_ptxas_log(text, "first"));
}

TEST(CubinRegisters, NoCubinIsNothingAndNeverACrash) {
  EXPECT_FALSE(cubin_registers("", "k"));
  EXPECT_FALSE(
      cubin_registers("\x7f"
                      "ELF",
                      "k"));
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    std::string noise(64 + random.below(600), '\0');
    for (char& byte : noise) byte = static_cast<char>(random.below(256));
    noise.replace(0, 4,
                  "\x7f"
                  "ELF");
    EXPECT_FALSE(cubin_registers(noise, "k"));
  }
}

}  // namespace
}  // namespace evo
