// Test cases of the kernels with clusters of several CTAs.
#include <array>

#include "tests/agreement/cases.hpp"

namespace evo::agreement {

std::vector<AgreementCase> cluster_cases() {
  const std::string memory = "tests/engine/device/virtual/kernels/clusters.cu";
  const std::string copies = "tests/engine/device/virtual/kernels/cluster_copies.cu";
  struct Kernel {
    const std::string& source;
    const char* entry;
    std::array<std::uint32_t, 3> grid = {4, 1, 1};
    std::uint32_t block = 32;
  };
  Inputs inputs("clusters");
  std::vector<AgreementCase> cases;
  for (const Kernel& kernel :
       {Kernel{memory, "histogram", {8, 1, 1}}, Kernel{memory, "reduction", {4, 4, 1}},
        Kernel{memory, "neighbour"}, Kernel{memory, "overwrites"}, Kernel{memory, "both_write"},
        Kernel{memory, "some_exit", {4, 1, 1}, 64}, Kernel{memory, "through_global"},
        Kernel{memory, "polls"}, Kernel{copies, "multicast", {8, 1, 1}},
        Kernel{copies, "ring", {8, 1, 1}, 64}, Kernel{copies, "async_stores"},
        Kernel{copies, "flag"}, Kernel{copies, "lock", {8, 1, 1}}}) {
    cases.push_back(AgreementCase{kernel.entry, kernel.source, {kernel.grid, {kernel.block, 1, 1}}}
                        .inout(std::vector<int>(512, 0))
                        .in(inputs.integers(512, 0, 1000)));
  }
  return cases;
}

}  // namespace evo::agreement
