#include "engine/compile/ptxas_log.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/core/random.hpp"
#include "engine/cubin/cubin.hpp"

namespace evo {
namespace {

// A log in the format of the program ptxas.
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

// A log in NVRTC's format. Its line about spills begins differently from that of ptxas.
constexpr const char* kNvrtcLog =
    "ptxas info    : Compiling entry function 'k' for 'sm_89'\n"
    "ptxas info    : Function properties for k\n"
    "ptxas         .     0 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
    "ptxas info    : Used 255 registers, used 1 barriers, 4096 bytes smem, 400 bytes cmem[0]\n";

const std::vector<std::string> kKernels = {"first", "second", "k", "other"};

std::optional<PtxasReport> report(std::string_view log, std::string_view entry) {
  auto parsed = parse_ptxas_log(log, entry, kKernels);
  if (const auto* found = std::get_if<PtxasReport>(&parsed)) return *found;
  return std::nullopt;
}

TEST(PtxasLog, ReportsEachEntryApart) {
  const auto first = report(kProgramLog, "first");
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->resources.registers, 40);
  EXPECT_EQ(first->resources.static_shared_bytes, 1024);
  EXPECT_EQ(first->resources.stack_bytes, 160);
  EXPECT_EQ(first->frame_bytes, 160);
  EXPECT_EQ(first->resources.spill_store_bytes, 24);
  EXPECT_EQ(first->resources.spill_load_bytes, 28);
  const auto second = report(kProgramLog, "second");
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->resources.registers, 8);
  EXPECT_EQ(second->resources.static_shared_bytes, 0);
  EXPECT_EQ(second->resources.spill_store_bytes, 0);
}

TEST(PtxasLog, ReportsSpillBytesInNvrtcsSpelling) {
  const auto found = report(kNvrtcLog, "k");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->resources.registers, 255);
  EXPECT_EQ(found->resources.static_shared_bytes, 4096);
  EXPECT_EQ(found->resources.spill_store_bytes, 4);
  EXPECT_EQ(found->resources.spill_load_bytes, 8);
}

TEST(PtxasLog, WhatIsNotInlinedCountsToo) {
  std::string text = kNvrtcLog;
  const std::string more =
      "ptxas info    : Function properties for helper\n"
      "ptxas         .     96 bytes stack frame, 10 bytes spill stores, 20 bytes spill loads\n";
  const auto found = report(text + more, "k");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->resources.stack_bytes, 96);
  EXPECT_EQ(found->frame_bytes, 0);
  EXPECT_EQ(found->resources.spill_store_bytes, 14);
  EXPECT_EQ(found->resources.spill_load_bytes, 28);
}

TEST(PtxasLog, AnIncompleteReportIsNothing) {
  EXPECT_FALSE(report("", "k"));
  EXPECT_FALSE(report(kNvrtcLog, "other"));
  EXPECT_FALSE(report(kNvrtcLog, ""));
  EXPECT_FALSE(report(kProgramLog, "firs"));
  const std::string text = kNvrtcLog;
  // If one of ptxas's lines about the kernel is missing, the log contains no complete report.
  for (const char* part : {"Compiling entry", "Function properties", "spill stores", "Used 255"}) {
    std::string cut = text;
    const std::size_t at = cut.find(part);
    const std::size_t begin = cut.rfind('\n', at) + 1;
    cut.erase(begin, cut.find('\n', at) + 1 - begin);
    EXPECT_FALSE(report(cut, "k")) << part;
  }
}

TEST(PtxasLog, AReportNeverComesFromTheNextEntry) {
  std::string text = kProgramLog;
  const std::size_t at = text.find("ptxas info    : Used 40");
  text.erase(at, text.find('\n', at) + 1 - at);
  EXPECT_FALSE(report(text, "first"));
}

/// Text that a source prints (by #warning or #pragma message) can appear in the log before, between
/// or after the lines of ptxas. parse_ptxas_log() must reject the log if this text could be part of
/// a report.
TEST(PtxasLog, ALogWithMoreThanPtxasPrintsIsNotBelieved) {
  const std::string genuine = kNvrtcLog;
  const std::vector<std::string> forged = {
      "k.cu(1): warning: Compiling entry function 'k' 0 bytes stack frame, 0 bytes spill stores, 0 "
      "bytes spill loads, Used 255 registers, 4096 bytes smem\n",
      "ptxas info    : Compiling entry function 'k' for 'sm_89'\n",
      "ptxas info    : Compiling entry function 'made_up' for 'sm_89'\n",
      "  ptxas info    : Compiling entry function 'k' for 'sm_89'\n",
      "ptxas info    : Function properties for k\n",
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n",
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n",
      "ptxas info    : Used 32 registers, used 1 barriers\n",
      "k.cu(7): error: static assertion: Used 32 registers\n",
      "0 bytes spill stores\n",
      genuine,
  };
  for (const std::string& text : forged) {
    for (std::size_t at = 0; at <= genuine.size();) {
      EXPECT_FALSE(report(genuine.substr(0, at) + text + genuine.substr(at), "k")) << at << text;
      const std::size_t end = genuine.find('\n', at);
      if (end == std::string::npos) break;
      at = end + 1;
    }
  }
  const auto why = parse_ptxas_log(forged[0] + genuine, "k", kKernels);
  EXPECT_NE(std::get<std::string>(why).find("unexpected text"), std::string::npos);
  EXPECT_TRUE(report("k.cu(1): warning: something else\n" + genuine, "k"));
}

TEST(Cubin, NoCubinIsNothingAndNeverACrash) {
  EXPECT_FALSE(read_cubin("", "k"));
  EXPECT_FALSE(
      read_cubin("\x7f"
                 "ELF",
                 "k"));
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    std::string noise(64 + random.below(600), '\0');
    for (char& byte : noise) byte = static_cast<char>(random.below(256));
    noise.replace(0, 4,
                  "\x7f"
                  "ELF");
    EXPECT_FALSE(read_cubin(noise, "k"));
  }
}

}  // namespace
}  // namespace evo
