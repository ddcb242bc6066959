#include "engine/device/virtual/virtual_memory.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/device/virtual/virtual_device.hpp"

namespace evo::test {
namespace {

TEST(VirtualMemory, EndsAndBuffersHaveASize) {
  const auto device = open_virtual_device("virtual:l4");
  EXPECT_THROW((void)device->memory().allocate({"large", std::size_t{5} << 30, true}),
               DeviceMemoryError);
  EXPECT_THROW((void)device->memory().allocate({"huge", ~std::size_t{0}, true}), DeviceMemoryError);
  const BufferId buffer = device->memory().allocate({"small", 8, true});
  ASSERT_TRUE(device->memory().use());
  EXPECT_EQ(device->memory().use()->total_bytes, std::uint64_t{4} << 30);
  EXPECT_EQ(device->memory().use()->used_bytes, 8U);
  std::vector<std::byte> nine(9);
  EXPECT_THROW(device->memory().upload(buffer, nine), InputError);
  EXPECT_THROW(device->memory().upload(buffer, std::span(nine).first(2), 7), InputError);
  EXPECT_THROW(device->memory().download(buffer, nine), InputError);
  EXPECT_THROW(device->memory().download(buffer, std::span(nine).first(2), 7), InputError);
  EXPECT_THROW(device->memory().fill(buffer + 1000, std::byte{0}), InputError);
}

TEST(VirtualMemory, KnowsWhatNobodyWrote) {
  const auto device = open_virtual_device("virtual:l4");
  const BufferId buffer = device->memory().allocate({"b", 8, true});
  const std::vector<std::byte> pattern = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  device->memory().poison(buffer, pattern);
  EXPECT_EQ(device->interpreting()->first_unwritten(buffer), std::optional<std::size_t>(0));
  std::vector<std::byte> content(8);
  device->memory().download(buffer, content);
  EXPECT_EQ(content[6], std::byte{3});
  device->memory().upload(buffer, std::vector<std::byte>(5));
  EXPECT_EQ(device->interpreting()->first_unwritten(buffer), std::optional<std::size_t>(5));
  device->memory().upload(buffer, std::vector<std::byte>(2, std::byte{9}), 6);
  EXPECT_EQ(device->interpreting()->first_unwritten(buffer), std::optional<std::size_t>(5));
  device->memory().download(buffer, content);
  EXPECT_EQ(content[5], std::byte{2});
  EXPECT_EQ(content[6], std::byte{9});
  device->memory().fill(buffer, std::byte{0});
  EXPECT_EQ(device->interpreting()->first_unwritten(buffer), std::nullopt);
}

}  // namespace
}  // namespace evo::test
