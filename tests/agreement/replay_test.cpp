// Compares outputs of the virtual GPU with the outputs of a real GPU for the same PTX and inputs,
// which the program record-agreement has stored in recorded/*.gz.

#include "tests/agreement/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <stdexcept>
#include <tuple>

#include "tests/engine/device/virtual/nvrtc.hpp"

namespace evo::agreement {
namespace {

const std::filesystem::path kRoot = EVO_SOURCE_DIR;
const std::filesystem::path kRecorded = kRoot / "tests/agreement/recorded";
constexpr std::size_t kShares = 4;  ///< number of tests over which candidates are distributed
constexpr std::size_t kFewestKernels = 100;
constexpr std::size_t kFewestHalfCandidates = 200;
constexpr std::size_t kFewestWgmmaCandidates = 100;
constexpr std::size_t kFewestWgmmaByteCandidates = 70;

/// A record of the outputs of a real GPU. Each file is read once.
const Record& record_of(const std::string& file) {
  static std::map<std::string, Record> records;
  const auto found = records.find(file);
  if (found != records.end()) return found->second;
  Record record = read_record(kRecorded / file);
  if (!record.from_hardware()) {
    throw std::runtime_error(file + " was recorded on " + record.device_id +
                             "; only outputs of a real GPU may be used");
  }
  return records.emplace(file, std::move(record)).first->second;
}

bool has_p_in_bytes(const RecordedCandidate& candidate) {
  return candidate.config.find(R"("PV_MODE":"fp8")") != std::string::npos;
}

TEST(Agreement, RecordsAreOfThisArchitecture) {
  for (const char* file : {"h200.gz", "h200_wgmma.gz"}) {
    const Record& record = record_of(file);
    std::cout << record.device_name << ", " << record.driver << ", " << record.compiler << ", "
              << record.date << '\n';
    EXPECT_EQ(record.arch, "sm_90") << file;
    for (const std::string& fault : record.faults)
      EXPECT_NE(fault.find("the launch was refused"), std::string::npos) << fault;
  }
}

TEST(Agreement, RecordsAreLargeEnough) {
  const Record& record = record_of("h200.gz");
  EXPECT_GE(record.cases.size(), kFewestKernels);
  const auto half = std::ranges::count_if(record.candidates, [](const RecordedCandidate& one) {
    return one.space.starts_with("sdpa") && !has_p_in_bytes(one);
  });
  EXPECT_GE(static_cast<std::size_t>(half), kFewestHalfCandidates);
  const Record& wgmma = record_of("h200_wgmma.gz");
  EXPECT_GE(wgmma.candidates.size(), kFewestWgmmaCandidates);
  const auto bytes = std::ranges::count_if(wgmma.candidates, has_p_in_bytes);
  EXPECT_GE(static_cast<std::size_t>(bytes), kFewestWgmmaByteCandidates);
}

TEST(Agreement, KernelsGiveWhatTheGpuGave) {
  Replay replay(kRoot, record_of("h200.gz"), 2);
  std::size_t compared = 0;
  std::size_t identical = 0;
  for (const AgreementCase& data : all_cases()) {
    SCOPED_TRACE(data.entry);
    const std::optional<CaseComparison> result = replay.replay(data);
    if (!result) {
      std::cout << data.entry << " was not recorded\n";
      continue;
    }
    EXPECT_EQ(result->outside, 0U) << result->first;
    ++compared;
    identical += result->identical == result->elements ? 1 : 0;
  }
  EXPECT_GE(compared, kFewestKernels);
  std::cout << compared << " kernels, " << identical << " of them with identical bits\n";
}

class Candidates : public testing::TestWithParam<std::tuple<const char*, std::size_t>> {};

TEST_P(Candidates, GiveWhatTheGpuGave) {
  if (!test::has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  const auto& [file, share] = GetParam();
  const Record& record = record_of(file);
  Replay replay(kRoot, record, 2);
  std::map<std::string, KindSummary> summaries;
  for (std::size_t i = share; i < record.candidates.size(); i += kShares) {
    const CandidateReplay result = replay.replay(record.candidates[i]);
    EXPECT_EQ(result.failure, "");
    summaries[result.bound.kind].add(result);
  }
  for (const auto& [kind, summary] : summaries) std::cout << kind << ": " << summary.text() << '\n';
}

INSTANTIATE_TEST_SUITE_P(Share, Candidates,
                         testing::Combine(testing::Values("h200.gz", "h200_wgmma.gz"),
                                          testing::Range(std::size_t{0}, kShares)));

}  // namespace
}  // namespace evo::agreement
