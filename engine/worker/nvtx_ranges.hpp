#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace evo {

/// Opens nested NVTX ranges in the constructor, and closes them in the destructor. Nsight Systems
/// and other profilers show NVTX ranges as steps of the process. Without a profiler, NVTX ranges
/// cost almost nothing. The class does nothing if evo-tune was built without the headers of NVTX 3.
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
