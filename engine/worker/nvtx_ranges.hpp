#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace evo {

/// Nested NVTX ranges from construction to destruction. Nsight Systems and other profilers show
/// them as the steps of this process. They cost nothing without a profiler. If the toolkit has no
/// NVTX 3, there are no ranges.
class NvtxRanges {
 public:
  explicit NvtxRanges(const std::vector<std::string>& names);
  ~NvtxRanges();
  NvtxRanges(const NvtxRanges&) = delete;
  NvtxRanges& operator=(const NvtxRanges&) = delete;

 private:
  std::size_t depth_;
};

}  // namespace evo
