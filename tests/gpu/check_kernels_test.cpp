// Tests the kernels with which evo-tune compares outputs on a GPU: their results equal those of the
// code for the host, and a launch's result stays available if a later launch has a fault.

#include "engine/gate/correctness/check_kernels.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/compile/nvrtc.hpp"
#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "engine/device/guard.hpp"
#include "engine/device/open_device.hpp"
#include "engine/gate/correctness/buffer_work.hpp"
#include "tests/engine/gate/correctness/made_outputs.hpp"

namespace evo {
namespace {

KernelImage compiled(const std::string& text, const std::string& entry, const std::string& arch) {
  CompileOutcome outcome =
      outcome_of(open_nvrtc()->compile({{"kernels.cu", text, {}}, {entry}, arch, {}}));
  if (const auto* rejection = std::get_if<Rejection>(&outcome)) {
    throw NvrtcError(rejection->reason + "\n" + rejection->detail);
  }
  const auto& kernels = std::get<Compiled>(outcome);
  return {kernels.ptx, kernels.cubin, {entry}};
}

class CheckKernels : public testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = open_device("cuda:0");
    } catch (const MissingError& error) {
      GTEST_SKIP() << error.what();
    }
    work_ = make_device_work(
        *device_, compiled(check_kernels_source(), kCheckKernelsEntry, device_->info().arch));
    host_ = make_host_work(*device_);
  }

  BufferId buffer_of(const std::vector<std::byte>& bytes) {
    const BufferId buffer = device_->memory().allocate({"y", bytes.size(), true});
    if (!bytes.empty()) device_->memory().upload(buffer, bytes);
    return buffer;
  }
  KeptId kept_of(const std::vector<std::byte>& bytes) {
    const KeptId kept = work_->kept().reserve("y", bytes.size());
    work_->kept().keep(kept, bytes);
    return kept;
  }
  void finish() {
    const auto fault = work_->finish();
    ASSERT_FALSE(fault) << fault->reason;
  }
  KernelId kernel(const std::string& text, const std::string& entry) {
    const auto loaded = device_->load(compiled(text, entry, device_->info().arch));
    if (const auto* fault = std::get_if<Fault>(&loaded)) throw CudaError(fault->reason);
    return std::get<KernelId>(loaded);
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<BufferWork> work_;
  std::unique_ptr<BufferWork> host_;
};

TEST_F(CheckKernels, FindWhatTheHostFindsInOutputsOfEveryKind) {
  for (const MadeOutput& made : made_outputs(2025)) {
    SCOPED_TRACE(made.name);
    const BufferId output = buffer_of(made.output);
    work_->begin();
    const Look look = work_->compare(output, kept_of(made.expected), made.dtype, made.bad_abs_error,
                                     made.row_length);
    finish();
    expect_same(work_->comparison(look),
                compare(made.output, Expectation(made.dtype, made.expected), made.bad_abs_error,
                        made.row_length));
    device_->memory().release(output);
  }
}

TEST_F(CheckKernels, FindWhatTheHostFindsInLargeOutputs) {
  Random random(3);
  constexpr std::size_t kElements = 3'000'017;
  std::vector<std::byte> expected(kElements * sizeof(float));
  std::vector<float> values(kElements);
  for (float& value : values) value = static_cast<float>(random.normal());
  std::memcpy(expected.data(), values.data(), expected.size());
  values[2'345'678] += 1;
  for (std::size_t i = 0; i < kElements; i += 1000) values[i] += 0.01F;
  std::vector<std::byte> output(expected.size());
  std::memcpy(output.data(), values.data(), output.size());
  work_->begin();
  const Look look = work_->compare(buffer_of(output), kept_of(expected), Dtype::kF32, 0.001, 0);
  const Look row =
      work_->compare(buffer_of(output), kept_of(expected), Dtype::kF32, 0.001, kElements);
  finish();
  const Expectation right(Dtype::kF32, expected);
  expect_same(work_->comparison(look), compare(output, right, 0.001));
  expect_same(work_->comparison(row), compare(output, right, 0.001, kElements));
}

TEST_F(CheckKernels, FindDifferencesAndBrokenSeals) {
  Random random(4);
  for (const std::size_t size : {1, 9, 4097, 1'000'003}) {
    std::vector<std::byte> right(size);
    for (std::byte& byte : right) byte = std::byte(random.below(256));
    const KeptId kept = kept_of(right);
    work_->kept().seal(kept);
    std::vector<std::byte> wrong = right;
    const std::size_t at = random.below(size);
    wrong[at] ^= std::byte{2};
    work_->begin();
    const Look same = work_->first_difference(buffer_of(right), kept);
    const Look other = work_->first_difference(buffer_of(wrong), kept);
    finish();
    EXPECT_EQ(work_->difference(same), std::nullopt);
    EXPECT_EQ(work_->difference(other), at);
    work_->kept().keep(kept, wrong);  // no new seal, like a write out of bounds
    work_->begin();
    const Look broken = work_->first_difference(buffer_of(wrong), kept);
    finish();
    EXPECT_THROW((void)work_->difference(broken), CudaError);
  }
}

TEST_F(CheckKernels, ReportDamagedGuardZonesAsTheHostDoes) {
  const KernelId writes =
      kernel("extern \"C\" __global__ void writes(char* y, long long at) { y[at] = 1; }", "writes");
  for (const std::size_t bytes : {1000, 999, 4}) {  // an odd size, too
    const BufferId buffer = device_->memory().allocate({"y", bytes, true});
    EXPECT_EQ(device_->memory().guard_violation(buffer), std::nullopt);
    for (const std::int64_t at :
         {std::int64_t{-1}, std::int64_t{-4096}, static_cast<std::int64_t>(bytes),
          static_cast<std::int64_t>(bytes) + 4095}) {
      const std::vector<KernelArgument> arguments = {buffer, ScalarArgument::of(at)};
      work_->begin();
      const Look before = work_->guard_zones(buffer);
      ASSERT_FALSE(work_->launch(writes, {}, arguments));
      const Look after = work_->guard_zones(buffer);
      finish();
      EXPECT_EQ(work_->guard_violation(before), std::nullopt);
      const auto by_host =
          device_->memory().guard_violation(buffer);  // also restores the guard zones
      ASSERT_TRUE(by_host);
      EXPECT_EQ(work_->guard_violation(after), by_host);
    }
  }
}

TEST_F(CheckKernels, OnlyAKernelThatWaitsSeesWhatIsWrittenLate) {
  if (device_->info().arch < "sm_90") GTEST_SKIP() << "no programmatic dependent launch";
  const std::string text =
      "extern \"C\" __global__ void copies(const int* x, int* y) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  const int early = x[i];\n"
      "  asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n"
      "  y[i] = WAITS ? *(volatile const int*)(x + i) : early;\n}";
  constexpr std::size_t kElements = 100'000;
  const std::vector<std::byte> right(kElements * sizeof(int), std::byte{5});
  const KeptId kept = kept_of(right);
  const BufferId x = buffer_of(right);
  const BufferId y = buffer_of(right);
  const LaunchConfig config{{kElements / 1000, 1, 1}, {1000, 1, 1}, 0};
  for (const bool waits : {true, false}) {
    const KernelId copies =
        kernel((waits ? "#define WAITS 1\n" : "#define WAITS 0\n") + text, "copies");
    ASSERT_TRUE(device_->measuring()->starts_early(copies, config));
    for (const bool is_late : {true, false}) {
      work_->begin();
      device_->memory().fill(x, std::byte{7});
      is_late ? work_->kept().put_back_late(x, kept) : work_->kept().put_back(x, kept);
      const std::vector<KernelArgument> arguments = {x, y};
      ASSERT_FALSE(work_->launch(copies, config, arguments));
      const Look look = work_->first_difference(y, kept);
      finish();
      EXPECT_EQ(work_->difference(look).has_value(), is_late && !waits);
    }
  }
}

TEST_F(CheckKernels, PoisonOfEveryLengthIsThere) {
  for (const std::size_t size : {1, 2, 4, 8}) {
    std::vector<std::byte> pattern(size);
    for (std::size_t i = 0; i < size; ++i) pattern[i] = std::byte(0x31 + 0x13 * i);
    std::vector<std::byte> expected(size * 1001);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = pattern[i % size];
    const BufferId buffer = device_->memory().allocate({"y", expected.size(), true});
    device_->memory().poison(buffer, pattern);
    std::vector<std::byte> found(expected.size());
    device_->memory().download(buffer, found);
    EXPECT_EQ(found, expected) << size;
  }
}

TEST_F(CheckKernels, WhatWasLookedAtBeforeAFaultIsKnown) {
  const KernelId counts = kernel(
      "extern \"C\" __global__ void counts(int* y, int trap) { if (trap) asm volatile(\"trap;\"); "
      "y[0] = 7; }",
      "counts");
  const std::vector<std::byte> right = encoded(Dtype::kI32, {7});
  const KeptId kept = kept_of(right);
  const BufferId buffer = buffer_of(encoded(Dtype::kI32, {0}));
  std::vector<Look> looks;
  work_->begin();
  for (const int trap : {0, 0, 1, 0}) {
    device_->memory().poison(buffer, encoded(Dtype::kI32, {-1}));
    const std::vector<KernelArgument> arguments = {buffer, ScalarArgument::of(trap)};
    EXPECT_FALSE(work_->launch(counts, {}, arguments));
    looks.push_back(work_->compare(buffer, kept, Dtype::kI32, 0, 0));
    work_->mark();
  }
  const auto fault = work_->finish();
  ASSERT_TRUE(fault);
  EXPECT_TRUE(fault->device_lost);
  EXPECT_TRUE(fault->reason.starts_with("the kernel failed: ")) << fault->reason;
  EXPECT_TRUE(work_->is_known(looks[0]));
  EXPECT_TRUE(work_->is_known(looks[1]));
  EXPECT_EQ(work_->comparison(looks[1]).max_abs_error, 0);
  EXPECT_FALSE(work_->is_known(looks[2]));
  EXPECT_FALSE(work_->is_known(looks[3]));
}

}  // namespace
}  // namespace evo
