#include "engine/core/machine_facts.hpp"

namespace evo {

std::string to_string(ComputeMode mode) {
  switch (mode) {
    case ComputeMode::kDefault:
      return "default";
    case ComputeMode::kExclusiveThread:
      return "exclusive thread";
    case ComputeMode::kProhibited:
      return "prohibited";
    case ComputeMode::kExclusiveProcess:
      return "exclusive process";
  }
  return "unknown";
}

}  // namespace evo
