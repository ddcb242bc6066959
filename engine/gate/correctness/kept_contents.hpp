#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/device/device.hpp"

namespace evo {

/// A content that no kernel is given: what is compared with, or put back.
using KeptId = std::uint32_t;

/// Contents that are kept, on the host or on the device.
class KeptContents {
 public:
  KeptContents() = default;
  virtual ~KeptContents() = default;
  KeptContents(const KeptContents&) = delete;
  KeptContents& operator=(const KeptContents&) = delete;

  /// Room for `bytes`. Throws DeviceMemoryError where it does not fit.
  [[nodiscard]] virtual KeptId reserve(const std::string& name, std::size_t bytes) = 0;
  /// Fills it: `content` has its size.
  virtual void keep(KeptId to, std::span<const std::byte> content) = 0;
  /// Fills it from the start of a buffer of at least its size.
  virtual void keep(KeptId to, BufferId from) = 0;
  /// To the start of a buffer.
  virtual void put_back(BufferId to, KeptId from) = 0;
  /// Returns its content. Waits.
  [[nodiscard]] virtual std::vector<std::byte> content(KeptId kept) = 0;
  /// Notes what it holds. Kernels that write where they must not reach device memory: a look that
  /// compares with what is sealed finds out as well whether it still is as it was. Waits.
  virtual void seal(KeptId kept) = 0;
};

}  // namespace evo
