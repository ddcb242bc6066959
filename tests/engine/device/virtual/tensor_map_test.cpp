#include <gtest/gtest.h>

#include "tests/engine/device/virtual/nvrtc.hpp"
#include "tests/engine/device/virtual/test_gpu.hpp"

namespace evo::test {
namespace {

constexpr std::size_t kDumpedBytes = 8192;
constexpr unsigned char kUntouched = 0xab;

struct Place {
  std::array<int, 4> first = {};
  int last = 0;
};

struct BoxCopy {
  const char* name;
  TensorMapSpec spec;
  Place at;

  [[nodiscard]] int coordinate(std::size_t i) const { return i < 4 ? at.first[i] : at.last; }
  [[nodiscard]] std::string entry() const {
    return "load_" + std::to_string(spec.dims.size()) + "d";
  }
  /// The number of elements along dimension i that the box has in shared memory.
  [[nodiscard]] std::size_t length(std::size_t i) const {
    const std::uint32_t step = i == 0 ? 1 : spec.element_strides[i];
    return (spec.box[i] + step - 1) / step;
  }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t product = element_bytes(spec.type);
    for (std::size_t i = 0; i < spec.box.size(); ++i) product *= length(i);
    return product;
  }
};

TensorMapSpec tensor(TensorMapType type, std::vector<std::uint64_t> dims,
                     std::vector<std::uint64_t> strides, std::vector<std::uint32_t> box,
                     std::uint32_t swizzle = 0, std::vector<std::uint32_t> steps = {}) {
  steps.resize(dims.size(), 1);
  return {"map",  type, std::move(dims), std::move(strides), std::move(box), std::move(steps),
          swizzle};
}

const BoxCopy kCopies[] = {
    {"f16_swizzle_128", tensor(TensorMapType::kF16, {96, 40}, {208}, {64, 9}, 128), {{8, 3}}},
    {"bf16_swizzle_64", tensor(TensorMapType::kBf16, {96, 40}, {192}, {32, 16}, 64), {{-8, 30}}},
    {"f32_swizzle_32", tensor(TensorMapType::kF32, {30, 40}, {128}, {8, 33}, 32), {{28, -4}}},
    {"u8_swizzle_128", tensor(TensorMapType::kU8, {300, 20}, {304}, {128, 17}, 128), {{208, 9}}},
    {"u8_no_swizzle", tensor(TensorMapType::kU8, {300, 20}, {304}, {208, 20}), {{-16, -1}}},
    {"narrower_than_its_swizzle",
     tensor(TensorMapType::kF16, {96, 40}, {208}, {32, 9}, 128),
     {{8, 3}}},
    {"all_outside", tensor(TensorMapType::kF32, {30, 40}, {128}, {16, 8}), {{-16, 0}}},
    {"one_dimension", tensor(TensorMapType::kF64, {500}, {}, {200}), {{332}}},
    {"every_second_row",
     tensor(TensorMapType::kF32, {20, 9, 5}, {80, 736}, {16, 5, 3}, 64, {1, 2, 3}),
     {{8, 3, 1}}},
    {"four_dimensions",
     tensor(TensorMapType::kS32, {12, 5, 4, 3}, {48, 256, 1024}, {8, 2, 3, 2}, 32),
     {{4, -1, 2, 1}}},
    {"five_dimensions",
     tensor(TensorMapType::kU16, {24, 3, 3, 3, 3}, {48, 144, 432, 1296}, {16, 2, 2, 3, 2}),
     {{8, 1, 2, -1}, 2}},
};

std::vector<unsigned char> noise(std::size_t count) {
  std::vector<unsigned char> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<unsigned char>(1 + i * 37 % 251 + i / 251 % 4);
  return values;
}

/// The offset in shared memory of the byte that has the offset `byte` without a swizzle. As in the
/// CUDA documentation, chunks of 16 bytes are permuted within rows of 128 bytes.
std::size_t swizzled_place(std::size_t byte, std::uint32_t swizzle) {
  const std::size_t row = byte / 128;
  const std::size_t chunk = byte % 128 / 16;
  const std::size_t pattern = swizzle == 128  ? row % 8
                              : swizzle == 64 ? row % 4
                              : swizzle == 32 ? row % 2
                                              : 0;
  return row * 128 + (chunk ^ pattern) * 16 + byte % 16;
}

/// The expected bytes of shared memory after the copy, computed element by element.
std::vector<unsigned char> expected_tile(const BoxCopy& copy,
                                         const std::vector<unsigned char>& memory) {
  std::vector<unsigned char> tile(kDumpedBytes, kUntouched);
  const std::size_t element = element_bytes(copy.spec.type);
  for (std::size_t number = 0; number * element < copy.bytes(); ++number) {
    std::size_t rest = number;
    std::int64_t from = 0;
    bool is_inside = true;
    for (std::size_t i = 0; i < copy.spec.dims.size(); ++i) {
      const std::int64_t step = i == 0 ? 1 : copy.spec.element_strides[i];
      const auto at = copy.coordinate(i) + static_cast<std::int64_t>(rest % copy.length(i)) * step;
      rest /= copy.length(i);
      is_inside = is_inside && at >= 0 && at < static_cast<std::int64_t>(copy.spec.dims[i]);
      from += at * static_cast<std::int64_t>(i == 0 ? element : copy.spec.strides[i - 1]);
    }
    // In shared memory, a row of a swizzled box takes as many bytes as the swizzle span.
    const std::size_t pitch =
        std::max<std::size_t>(copy.length(0) * element, copy.spec.swizzle_bytes);
    const std::size_t place = number / copy.length(0) * pitch + number % copy.length(0) * element;
    for (std::size_t b = 0; b < element; ++b) {
      tile[swizzled_place(place + b, copy.spec.swizzle_bytes)] =
          is_inside ? memory[static_cast<std::size_t>(from) + b] : 0;
    }
  }
  return tile;
}

const std::string& tensor_ptx() {
  static const std::string ptx =
      compile_to_ptx(kernel_source("bulk.cuh") + kernel_source("tensor_maps.cu"), "compute_90a");
  return ptx;
}

ScalarArgument place_of(const std::array<int, 4>& first) {
  ScalarArgument scalar;
  scalar.bytes.resize(sizeof first);
  std::memcpy(scalar.bytes.data(), first.data(), sizeof first);
  return scalar;
}

std::optional<Fault> run_box(TestGpu& gpu, const std::string& entry, const BoxCopy& copy,
                             BufferId in, BufferId out) {
  // Argument 5 is the tensor's buffer, which the kernel accesses only through the tensor map.
  LaunchPlan plan(LaunchConfig{.grid = {1, 1, 1}, .block = {64, 1, 1}});
  plan.steps.front().arguments = {0, 1, 2, 3, 4};
  auto loaded = gpu.device().load({.ptx = tensor_ptx(), .cubin = {}, .entries = {entry}});
  if (auto* fault = std::get_if<Fault>(&loaded)) return *fault;
  const std::vector<KernelArgument> arguments = {out,
                                                 TensorMapArgument{copy.spec, 5},
                                                 place_of(copy.at.first),
                                                 ScalarArgument::of(copy.at.last),
                                                 ScalarArgument::of(static_cast<int>(copy.bytes())),
                                                 in};
  return gpu.device().launch(std::get<KernelId>(loaded), plan, arguments);
}

/// Copies a box of a tensor of 2-byte elements from one buffer to the same coordinates of another
/// buffer.
std::optional<Fault> moved(TestGpu& gpu, const TensorMapSpec& spec, const std::array<int, 4>& first,
                           BufferId from, BufferId to) {
  LaunchPlan plan(LaunchConfig{.grid = {1, 1, 1}, .block = {64, 1, 1}});
  plan.steps.front().arguments = {0, 1, 2, 3, 4};
  auto loaded = gpu.device().load({.ptx = tensor_ptx(), .cubin = {}, .entries = {"move_2d"}});
  if (auto* fault = std::get_if<Fault>(&loaded)) return *fault;
  const int bytes = static_cast<int>(spec.box[0] * spec.box[1] * 2);
  const std::vector<KernelArgument> arguments = {TensorMapArgument{spec, 5},
                                                 TensorMapArgument{spec, 6},
                                                 place_of(first),
                                                 ScalarArgument::of(0),
                                                 ScalarArgument::of(bytes),
                                                 from,
                                                 to};
  return gpu.device().launch(std::get<KernelId>(loaded), plan, arguments);
}

class TensorMaps : public testing::TestWithParam<BoxCopy> {
 protected:
  void SetUp() override {
    if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  }
};

TEST_P(TensorMaps, PutEveryElementWhereTheDocumentationSays) {
  const BoxCopy& copy = GetParam();
  TestGpu gpu("virtual:h200", {.threads = 1});
  const std::vector<unsigned char> memory = noise(extent_bytes(copy.spec));
  ASSERT_NO_THROW(check_tensor_map(copy.spec, memory.size()));
  const BufferId in = gpu.input("in", memory);
  const BufferId out = gpu.output<unsigned char>("out", kDumpedBytes);
  ASSERT_EQ(text_of(run_box(gpu, copy.entry(), copy, in, out)), "");
  EXPECT_EQ(gpu.read<unsigned char>(out, kDumpedBytes), expected_tile(copy, memory));
}

INSTANTIATE_TEST_SUITE_P(All, TensorMaps, testing::ValuesIn(kCopies),
                         [](const auto& test) { return std::string(test.param.name); });

class TensorMapUse : public TensorMaps {};

/// A store writes those 16-byte chunks of the box that begin inside the tensor, and no others.
TEST_F(TensorMapUse, StoresWhatLiesInside) {
  const TensorMapSpec spec = tensor(TensorMapType::kF16, {90, 20}, {192}, {64, 8}, 128);
  TestGpu gpu("virtual:h200", {.threads = 1});
  const std::vector<unsigned char> memory = noise(192 * 20);
  const BufferId in = gpu.input("in", memory);
  const BufferId out = gpu.inout("out", std::vector<unsigned char>(192 * 20, 7));
  ASSERT_EQ(text_of(moved(gpu, spec, {40, 14}, in, out)), "");
  const auto stored = gpu.read<unsigned char>(out, memory.size());
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const std::size_t row = i / 192;
    const std::size_t column = i % 192 / 2;
    const bool is_copied = row >= 14 && column >= 40 && column < 90;
    // The whole last 16-byte chunk of a row is stored; its part beyond the tensor is zero, because
    // the load filled it with zeros.
    const bool is_beyond = row >= 14 && column >= 90;
    ASSERT_EQ(stored[i], is_copied   ? memory[i]
                         : is_beyond ? 0
                                     : 7)
        << "row " << row << ", column " << column;
  }
}

TEST_F(TensorMapUse, TakesTheBufferOfTheLaunch) {
  const BoxCopy& copy = kCopies[0];
  TestGpu gpu("virtual:h200", {.threads = 1});
  const BufferId out = gpu.inout("out", std::vector<unsigned char>(kDumpedBytes, 0));
  for (const unsigned char value : std::array<unsigned char, 2>{3, 4}) {
    const std::vector<unsigned char> memory(extent_bytes(copy.spec), value);
    ASSERT_EQ(text_of(run_box(gpu, copy.entry(), copy, gpu.input("in", memory), out)), "");
    EXPECT_EQ(gpu.read<unsigned char>(out, kDumpedBytes), expected_tile(copy, memory));
  }
}

TEST_F(TensorMapUse, ReportsATileThatIsNotAligned) {
  TestGpu gpu("virtual:h200", {.threads = 1});
  const BufferId in = gpu.input("in", noise(extent_bytes(kCopies[0].spec)));
  const BufferId out = gpu.inout("out", std::vector<unsigned char>(kDumpedBytes, 0));
  const auto fault = run_box(gpu, "load_beside", kCopies[0], in, out);
  EXPECT_NE(text_of(fault).find("misaligned access: bulk copy at shared address"),
            std::string::npos)
      << text_of(fault);
}

TEST_F(TensorMapUse, ReportsABoxThatBeginsBetweenChunks) {
  TestGpu gpu("virtual:h200", {.threads = 1});
  BoxCopy copy = kCopies[0];
  copy.at.first[0] = 12;
  const BufferId in = gpu.input("in", noise(extent_bytes(copy.spec)));
  const BufferId out = gpu.inout("out", std::vector<unsigned char>(kDumpedBytes, 0));
  EXPECT_NE(text_of(run_box(gpu, copy.entry(), copy, in, out))
                .find("misaligned access: box at coordinate 12 of the innermost dimension"),
            std::string::npos);
}

TEST_F(TensorMapUse, ReportsAnAddressWithoutAMap) {
  TestGpu gpu("virtual:h200", {.threads = 1});
  const BufferId in = gpu.input("in", noise(extent_bytes(kCopies[0].spec)));
  const BufferId out = gpu.inout("out", std::vector<unsigned char>(kDumpedBytes, 0));
  const auto fault = run_box(gpu, "load_by_no_map", kCopies[0], in, out);
  EXPECT_NE(text_of(fault).find("holds no tensor map of 2 dimensions"), std::string::npos)
      << text_of(fault);
}

TEST_F(TensorMapUse, ReportsAStoreAtNegativeCoordinates) {
  const TensorMapSpec spec = tensor(TensorMapType::kF16, {90, 20}, {192}, {64, 8}, 128);
  TestGpu gpu("virtual:h200", {.threads = 1});
  const BufferId in = gpu.input("in", noise(192 * 20));
  const BufferId out = gpu.inout("out", std::vector<unsigned char>(192 * 20, 0));
  const auto fault = moved(gpu, spec, {40, -2}, in, out);
  EXPECT_NE(text_of(fault).find("begins at coordinate -2 of dimension 1"), std::string::npos)
      << text_of(fault);
}

TEST_F(TensorMapUse, ReportsALastChunkBeyondTheBuffer) {
  const TensorMapSpec spec = tensor(TensorMapType::kF16, {90, 20}, {192}, {64, 8}, 128);
  TestGpu gpu("virtual:h200", {.threads = 1});
  const BufferId in = gpu.input("in", noise(192 * 20));
  const BufferId out = gpu.inout("out", std::vector<unsigned char>(192 * 19 + 180, 0));
  EXPECT_EQ(text_of(moved(gpu, spec, {40, 8}, in, out)), "");
  EXPECT_NE(text_of(moved(gpu, spec, {40, 14}, in, out)).find("whole chunks of 16 bytes"),
            std::string::npos);
}

TEST_F(TensorMapUse, RefusesAStoreToAnInput) {
  const TensorMapSpec spec = tensor(TensorMapType::kF16, {90, 20}, {192}, {64, 8}, 128);
  TestGpu gpu("virtual:h200", {.threads = 1});
  const BufferId in = gpu.input("in", noise(192 * 20));
  const auto fault = moved(gpu, spec, {0, 0}, in, in);
  EXPECT_NE(text_of(fault).find("write to a read-only buffer"), std::string::npos)
      << text_of(fault);
}

}  // namespace
}  // namespace evo::test
