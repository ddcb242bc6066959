#include "engine/worker/nvtx_ranges.hpp"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define EVO_HAS_NVTX 1
#endif

namespace evo {

NvtxRanges::NvtxRanges(const std::vector<std::string>& names) : depth_(names.size()) {
#ifdef EVO_HAS_NVTX
  for (const std::string& name : names) nvtxRangePushA(name.c_str());
#endif
}

NvtxRanges::~NvtxRanges() {
#ifdef EVO_HAS_NVTX
  for (std::size_t i = 0; i < depth_; ++i) nvtxRangePop();
#else
  (void)depth_;
#endif
}

}  // namespace evo
