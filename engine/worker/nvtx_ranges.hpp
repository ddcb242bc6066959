#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace evo {

/// NVTX ranges, one inside the other, from construction to destruction: Nsight Systems and other
/// profilers that this process runs under show what was done meanwhile. They cost nothing without
/// one, and there are none where the toolkit has no NVTX 3.
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
