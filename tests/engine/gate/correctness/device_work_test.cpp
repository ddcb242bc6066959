// Tests the check kernels for GPUs: the virtual GPU executes them with all of its checks, and their
// results equal those of the host.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/compile/nvrtc.hpp"
#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "engine/device/guard.hpp"
#include "engine/device/virtual/virtual_device.hpp"
#include "engine/gate/correctness/buffer_work.hpp"
#include "engine/gate/correctness/check_kernels.hpp"
#include "engine/gate/correctness/check_slots.hpp"
#include "engine/gate/correctness/masked_contents.hpp"
#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/gate/correctness/made_outputs.hpp"
#include "tests/fakes/queued_device.hpp"

namespace evo {
namespace {

const KernelImage& image() {
  static const KernelImage kernels{
      test::compile_to_ptx(check_kernels_source(), "compute_75"), "", {kCheckKernelsEntry}};
  return kernels;
}

class DeviceWorkTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
    device_ =
        std::make_unique<fake::QueuedDevice>(open_virtual_device("virtual:l4", {.threads = 2}));
    work_ = make_device_work(*device_, image());
  }

  BufferId buffer_of(const std::vector<std::byte>& bytes) {
    const BufferId buffer = device_->memory().allocate({"y", bytes.size(), true});
    device_->memory().upload(buffer, bytes);
    return buffer;
  }
  KeptId kept_of(const std::vector<std::byte>& bytes) {
    const KeptId kept = work_->kept().reserve("y", bytes.size());
    work_->kept().keep(kept, bytes);
    return kept;
  }
  void finish() {
    const auto fault = work_->finish();
    ASSERT_FALSE(fault) << fault->reason << "\n" << fault->detail;
  }

  Comparison compared(const MadeOutput& made) {
    const BufferId output = buffer_of(made.output);
    const KeptId expected = kept_of(made.expected);
    work_->begin();
    const Look look =
        work_->compare(output, expected, made.dtype, made.bad_abs_error, made.row_length);
    finish();
    device_->memory().release(output);
    return work_->comparison(look);
  }

  std::optional<std::size_t> difference(const std::vector<std::byte>& now,
                                        const std::vector<std::byte>& before) {
    work_->begin();
    const Look look = work_->first_difference(buffer_of(now), kept_of(before));
    finish();
    return work_->difference(look);
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<BufferWork> work_;
};

TEST_F(DeviceWorkTest, FindsWhatTheHostFindsInOutputsOfEveryKind) {
  for (const MadeOutput& made : made_outputs(2024)) {
    SCOPED_TRACE(made.name);
    expect_same(compared(made), compare(made.output, Expectation(made.dtype, made.expected),
                                        made.bad_abs_error, made.row_length));
  }
}

TEST_F(DeviceWorkTest, KernelsForSomeElementSizesCompareNoOther) {
  work_ = make_device_work(*device_,
                           {test::compile_to_ptx(check_kernels_source(), "compute_75",
                                                 {"-DEVO_ELEMENT_SIZES=" + std::to_string(2 | 8)}),
                            "",
                            {kCheckKernelsEntry}});
  std::optional<MadeOutput> other;
  for (const MadeOutput& made : made_outputs(2024)) {
    SCOPED_TRACE(made.name);
    if (size_of(made.dtype) != 2 && size_of(made.dtype) != 8) {
      other = made;
      continue;
    }
    expect_same(compared(made), compare(made.output, Expectation(made.dtype, made.expected),
                                        made.bad_abs_error, made.row_length));
  }
  ASSERT_TRUE(other);
  const BufferId output = buffer_of(other->output);
  const KeptId expected = kept_of(other->expected);
  work_->begin();
  (void)work_->compare(output, expected, other->dtype, 0, 0);
  const auto fault = work_->finish();
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->reason.find("trap"), std::string::npos) << fault->reason;
}

TEST(CheckKernelsBuild, ForEveryArchitecture) {
  if (!test::has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  const auto compiler = open_nvrtc();
  for (const char* arch : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a"}) {
    const CompileOutcome outcome = outcome_of(compiler->compile(
        {{"check_kernels.cu", check_kernels_source(), {}}, {kCheckKernelsEntry}, arch, {}}));
    const auto* compiled = std::get_if<Compiled>(&outcome);
    ASSERT_NE(compiled, nullptr) << arch << ": " << std::get<Rejection>(outcome).reason;
    EXPECT_EQ(compiled->resources.spill_store_bytes, 0) << arch;
    constexpr int kRegistersOfTwoCtas = 65536 / (2 * static_cast<int>(CheckKernel::kThreads));
    EXPECT_LE(compiled->resources.registers, kRegistersOfTwoCtas) << arch;
  }
}

TEST_F(DeviceWorkTest, TheSameBitsEachTime) {
  const MadeOutput made = made_outputs(7).front();
  const Comparison first = compared(made);
  const Comparison second = compared(made);
  EXPECT_EQ(first.relative_l2, second.relative_l2);
  EXPECT_EQ(first.max_row_error, second.max_row_error);
}

TEST_F(DeviceWorkTest, NothingComparedNeverPasses) {
  const Comparison nothing = compared({"empty", Dtype::kF32, {}, {}, 0.1, 0});
  EXPECT_EQ(nothing.compared, 0U);
}

TEST_F(DeviceWorkTest, FindsTheFirstByteThatDiffers) {
  Random random(5);
  for (const std::size_t size : {1, 7, 8, 9, 64, 4099, 70001}) {
    std::vector<std::byte> right(size);
    for (std::byte& byte : right) byte = std::byte(random.below(256));
    EXPECT_EQ(difference(right, right), std::nullopt);
    for (int i = 0; i < 4; ++i) {
      std::vector<std::byte> wrong = right;
      const std::size_t first = random.below(size);
      wrong[first] ^= std::byte{0x80};
      wrong[first + random.below(size - first)] ^= std::byte{1};
      EXPECT_EQ(difference(wrong, right), first) << size;
    }
  }
}

TEST_F(DeviceWorkTest, ASealIsBrokenByAnyByte) {
  Random random(6);
  std::vector<std::byte> content(5004);
  for (std::byte& byte : content) byte = std::byte(random.below(256));
  const KeptId kept = kept_of(content);
  work_->kept().seal(kept);
  // The buffer and the stored content are equal, so only the seal (a hash of the original content)
  // reveals that the stored content was changed.
  const auto look_at = [&](const std::vector<std::byte>& now) {
    work_->kept().keep(kept, now);
    const BufferId buffer = buffer_of(now);
    work_->begin();
    const Look same = work_->first_difference(buffer, kept);
    const Look right = work_->compare(buffer, kept, Dtype::kI32, 0, 0);
    finish();
    return std::pair(same, right);
  };
  const auto expect_broken = [&](const std::vector<std::byte>& now) {
    const auto [same, right] = look_at(now);
    EXPECT_THROW((void)work_->difference(same), CudaError);
    EXPECT_THROW((void)work_->comparison(right), CudaError);
  };
  for (const std::size_t at : {std::size_t{0}, std::size_t{8}, content.size() - 1}) {
    std::vector<std::byte> other = content;
    other[at] ^= std::byte{4};
    expect_broken(other);
  }
  std::vector<std::byte> swapped = content;
  std::swap_ranges(swapped.begin(), swapped.begin() + 8, swapped.begin() + 8);
  expect_broken(swapped);
  const auto [same, right] = look_at(content);
  EXPECT_EQ(work_->difference(same), std::nullopt);
  EXPECT_EQ(work_->comparison(right).max_abs_error, 0);
}

TEST_F(DeviceWorkTest, KeepsAndPutsBack) {
  const std::vector<std::byte> content = encoded(Dtype::kI32, {1, 2, 3, 4, 5});
  const BufferId buffer = buffer_of(content);
  const KeptId kept = work_->kept().reserve("y", content.size());
  work_->kept().keep(kept, buffer);
  device_->memory().fill(buffer, std::byte{0});
  EXPECT_EQ(work_->kept().content(kept), content);
  EXPECT_EQ(work_->kept().first_bytes(kept, 6),
            std::vector<std::byte>(content.begin(), content.begin() + 6));
  work_->kept().put_back(buffer, kept);
  std::vector<std::byte> now(content.size());
  device_->memory().download(buffer, now);
  EXPECT_EQ(now, content);
}

TEST_F(DeviceWorkTest, KeepsAContentOfSeveralParts) {
  const std::vector<std::byte> content = encoded(Dtype::kI32, {1, 2, 3, 4, 5});
  const KeptId kept = work_->kept().reserve("y", content.size());
  work_->kept().keep(kept, [&](const TakePart& take) {
    take(std::span(content).first(3));
    take({});
    take(std::span(content).subspan(3));
  });
  EXPECT_EQ(work_->kept().content(kept), content);
}

TEST_F(DeviceWorkTest, NothingThatIsKeptLiesInTheMemoryAsItIs) {
  const std::vector<std::byte> content(1003, std::byte{7});
  const BufferId first = device_->memory().allocate({"first", 1, true}) + 1;
  const std::vector<KeptId> kept = {kept_of(content), kept_of(content)};
  work_->kept().keep(work_->kept().reserve("y", content.size()), buffer_of(content));
  std::vector<std::vector<std::byte>> held;
  for (BufferId id = first; held.size() < 3; ++id) {
    if (device_->memory().spec(id).name != "kept: y") continue;
    held.emplace_back(content.size());
    device_->memory().download(id, held.back());
  }
  for (const std::vector<std::byte>& bytes : held) {
    EXPECT_LT(std::ranges::count(bytes, std::byte{7}), 20)
        << "about 4 of 1003 random bytes equal 7 by chance";
  }
  EXPECT_NE(held[0], held[1]) << "each stored content is masked with its own key";
  EXPECT_EQ(work_->kept().content(kept[0]), content);
  EXPECT_EQ(work_->kept().content(kept[1]), content);
}

/// The expected numbers are a test vector of the authors of the random generator, Philox4x32-10 (in
/// the file kat_vectors of Random123).
TEST_F(DeviceWorkTest, MasksAreThePublishedRandomNumbers) {
  const auto loaded = device_->load({image().ptx, "", {"evo_mask"}});
  const auto mask = [&](std::uint64_t key) {
    const BufferId buffer = buffer_of(std::vector<std::byte>(16));
    const auto fault =
        device_->launch(std::get<KernelId>(loaded), {{1, 1, 1}, {256, 1, 1}, 0},
                        std::vector<KernelArgument>{buffer, buffer, ScalarArgument::of(key),
                                                    ScalarArgument::of(std::uint64_t{16})});
    EXPECT_FALSE(fault) << fault->reason;
    std::array<std::uint32_t, 4> words{};
    device_->memory().download(buffer, std::as_writable_bytes(std::span(words)));
    return words;
  };
  EXPECT_EQ(mask(0),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_NE(mask(1), mask(0));
  EXPECT_NE(mask(std::uint64_t{1} << 32), mask(0));
}

TEST_F(DeviceWorkTest, ManyLooksAtOnce) {
  const BufferId output = buffer_of(encoded(Dtype::kF32, {1, 2, 3}));
  std::vector<Look> looks;
  work_->begin();
  for (int i = 0; i < 50; ++i) {
    const KeptId kept = kept_of(encoded(Dtype::kF32, {1, 2, 3.0 + i}));
    looks.push_back(work_->compare(output, kept, Dtype::kF32, 0.5, 0));
    EXPECT_FALSE(work_->is_known(looks.back()));
  }
  finish();
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(work_->comparison(looks[static_cast<std::size_t>(i)]).max_abs_error, i);
  }
}

/// These tests put two guard zones and the data between them into one buffer, because no access on
/// a virtual GPU can leave a buffer.
class GuardZones : public DeviceWorkTest {
 protected:
  static constexpr std::size_t kBytes = 1000;

  std::vector<std::byte> intact() {
    std::vector<std::byte> all = guard_pattern();
    all.resize(kGuardBytes + kBytes);
    const std::vector<std::byte> pattern = guard_pattern();
    all.insert(all.end(), pattern.begin(), pattern.end());
    return all;
  }

  std::optional<std::string> violation(const std::vector<std::byte>& all) {
    const auto loaded = device_->load({image().ptx, "", {"evo_guard_zones"}});
    const BufferId buffer = buffer_of(all);
    const BufferId slot = device_->memory().allocate({"slot", kSlotWords * 8, true});
    device_->memory().fill(slot, std::byte{0xff});
    const auto tail = static_cast<std::int64_t>(kGuardBytes + kBytes);
    const std::vector<KernelArgument> arguments = {
        buffer,
        ScalarArgument::of(std::int64_t{0}),
        ScalarArgument::of(tail),
        ScalarArgument::of(static_cast<std::uint32_t>(kGuardBytes)),
        ScalarArgument::of(std::uint32_t{0x7fff}),
        slot,
        ScalarArgument::of(std::uint32_t{0})};
    const auto fault =
        device_->launch(std::get<KernelId>(loaded), {{1, 1, 1}, {256, 1, 1}, 0}, arguments);
    EXPECT_FALSE(fault) << fault->reason;
    std::array<std::uint64_t, kSlotWords> words{};
    device_->memory().download(slot, std::as_writable_bytes(std::span(words)));
    EXPECT_TRUE(is_done(words));
    return guard_violation_in(words, "y", kBytes);
  }
};

TEST_F(GuardZones, AreReportedAsTheHostReportsThem) {
  EXPECT_EQ(violation(intact()), std::nullopt);
  Random random(8);
  for (int i = 0; i < 40; ++i) {
    std::vector<std::byte> all = intact();
    for (std::uint64_t changes = random.below(3) + 1; changes > 0; --changes) {
      std::size_t at = random.below(2 * kGuardBytes);
      if (at >= kGuardBytes) at += kBytes;
      all[at] ^= std::byte{1};
    }
    const std::span<const std::byte> zones = all;
    EXPECT_EQ(violation(all),
              find_guard_violation("y", kBytes, zones.first(kGuardBytes), zones.last(kGuardBytes)));
  }
}

}  // namespace
}  // namespace evo
