#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "engine/device/virtual/virtual_device.hpp"
#include "engine/gate/correctness/buffer_work.hpp"

namespace evo {
namespace {

/// The content is longer than the parts of 131,072 bytes that are compared at once, so differences
/// at the borders of parts must be found, too.
TEST(HostWork, FindsTheFirstDifferenceInALargeBuffer) {
  constexpr std::size_t kBytes = 300'001;
  const auto device = open_virtual_device("virtual:l4");
  const auto work = make_host_work(*device);
  std::vector<std::byte> content(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) content[i] = std::byte(i % 251);
  const BufferId buffer = device->memory().allocate({"x", kBytes, true});
  const KeptId kept = work->kept().reserve("x", kBytes);
  work->kept().keep(kept, [&](const TakePart& take) {
    take(std::span(content).first(1000));
    take(std::span(content).subspan(1000));
  });
  const auto difference = [&](const std::vector<std::size_t>& changed) {
    work->kept().put_back(buffer, kept);
    for (const std::size_t at : changed) {
      const std::byte other = ~content[at];
      device->memory().upload(buffer, std::span(&other, 1), at);
    }
    work->begin();
    return work->difference(work->first_difference(buffer, kept));
  };
  EXPECT_EQ(difference({}), std::nullopt);
  for (const std::size_t at : {std::size_t{0}, std::size_t{131'071}, std::size_t{131'072},
                               std::size_t{262'144}, kBytes - 1}) {
    EXPECT_EQ(difference({at}), std::optional(at));
    EXPECT_EQ(difference({at, kBytes - 1}), std::optional(at));
  }
}

}  // namespace
}  // namespace evo
