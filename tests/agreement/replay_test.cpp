// Compares the virtual GPU with a card's outputs for the same PTX and inputs (recorded/h200.gz,
// made by record-agreement).

#include "tests/agreement/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "tests/engine/device/virtual/nvrtc.hpp"

namespace evo::agreement {
namespace {

const std::filesystem::path kRoot = EVO_SOURCE_DIR;
const std::filesystem::path kRecorded = kRoot / "tests/agreement/recorded/h200.gz";
constexpr std::size_t kShares = 4;  ///< number of tests over which candidates are distributed
constexpr std::size_t kFewestKernels = 100;
constexpr std::size_t kFewestHalfCandidates = 200;

/// The record, or null if there is none; read once.
const Record* hardware_record() {
  static const std::optional<Record> record =
      std::filesystem::exists(kRecorded) ? std::optional(read_record(kRecorded)) : std::nullopt;
  return record ? &*record : nullptr;
}

class Agreement : public testing::Test {
 protected:
  void SetUp() override {
    if (hardware_record() == nullptr) {
      GTEST_SKIP() << kRecorded
                   << " is missing; record-agreement --device cuda:0 --out makes it on an H200";
    }
    ASSERT_TRUE(hardware_record()->from_hardware())
        << kRecorded << " was recorded on " << hardware_record()->device_id
        << "; only outputs of a card count";
  }
};

TEST_F(Agreement, RecordIsLargeEnoughAndOfThisArchitecture) {
  const Record& record = *hardware_record();
  std::cout << record.device_name << ", " << record.driver << ", " << record.compiler << ", "
            << record.date << '\n';
  EXPECT_EQ(record.arch, "sm_90");
  for (const std::string& fault : record.faults)
    EXPECT_NE(fault.find("the launch was refused"), std::string::npos) << fault;
  EXPECT_GE(record.cases.size(), kFewestKernels);
  const auto half = std::ranges::count_if(record.candidates, [](const RecordedCandidate& one) {
    return one.space.starts_with("sdpa") &&
           one.config.find(R"("PV_MODE":"fp8")") == std::string::npos;
  });
  EXPECT_GE(static_cast<std::size_t>(half), kFewestHalfCandidates);
}

TEST_F(Agreement, KernelsGiveWhatTheCardGave) {
  Replay replay(kRoot, *hardware_record(), 2);
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
  std::cout << compared << " kernels, " << identical << " of them identical to the bit\n";
}

class Candidates : public Agreement, public testing::WithParamInterface<std::size_t> {};

TEST_P(Candidates, GiveWhatTheCardGave) {
  if (!test::has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  const Record& record = *hardware_record();
  Replay replay(kRoot, record, 2);
  std::map<std::string, KindSummary> summaries;
  for (std::size_t i = GetParam(); i < record.candidates.size(); i += kShares) {
    const CandidateReplay result = replay.replay(record.candidates[i]);
    EXPECT_EQ(result.failure, "");
    summaries[result.bound.kind].add(result);
  }
  for (const auto& [kind, summary] : summaries) std::cout << kind << ": " << summary.text() << '\n';
}

INSTANTIATE_TEST_SUITE_P(Share, Candidates, testing::Range(std::size_t{0}, kShares));

}  // namespace
}  // namespace evo::agreement
