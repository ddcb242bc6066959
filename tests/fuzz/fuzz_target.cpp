#include "tests/fuzz/fuzz_target.hpp"

#include <array>

namespace evo::fuzz {

std::span<const FuzzTarget> fuzz_targets() {
  static constexpr std::array<FuzzTarget, 6> kTargets = {{{"bundle", run_bundle},
                                                          {"expression", run_expression},
                                                          {"frame", run_frame},

                                                          {"ptx", run_ptx},
                                                          {"recording", run_recording},
                                                          {"spec", run_spec}}};
  return kTargets;
}

}  // namespace evo::fuzz
