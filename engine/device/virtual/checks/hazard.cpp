#include "engine/device/virtual/checks/hazard.hpp"

#include <algorithm>
#include <tuple>

#include "engine/ptx/source_lines.hpp"

namespace evo::ptx {

std::string_view to_string(HazardKind kind) {
  switch (kind) {
    case HazardKind::kSharedRace:
      return "shared-memory race";
    case HazardKind::kGlobalRace:
      return "race between CTAs";
    case HazardKind::kAsyncRace:
      return "cp.async race";
    case HazardKind::kProductRace:
      return "wgmma race";
    case HazardKind::kProxyFence:
      return "missing proxy fence";
    case HazardKind::kProductFence:
      return "missing wgmma.fence";
    case HazardKind::kGridWait:
      return "missing griddepcontrol.wait";
    case HazardKind::kOutOfBounds:
      return "out-of-bounds access";
    case HazardKind::kMisaligned:
      return "misaligned access";
    case HazardKind::kReadOnlyWrite:
      return "write to a read-only buffer";
    case HazardKind::kReadOnlyLoad:
      return "read-only load of data written in this launch";
    case HazardKind::kUninitialised:
      return "uninitialised data";
    case HazardKind::kDeadlock:
      return "deadlock";
    case HazardKind::kLivelock:
      return "livelock";
    case HazardKind::kBarrier:
      return "invalid barrier use";
    case HazardKind::kDivergence:
      return "divergent .sync instruction";
    case HazardKind::kPendingWork:
      return "exit with pending work";
    case HazardKind::kTrap:
      return "trap";
    case HazardKind::kInvalidInstruction:
      return "invalid operand";
    case HazardKind::kUnsupported:
      return "not supported";
  }
  return "hazard";
}

bool HazardLog::add(Hazard hazard) {
  const std::lock_guard lock(mutex_);
  for (Hazard& known : hazards_) {
    if (known.kind == hazard.kind && known.instruction == hazard.instruction &&
        known.other == hazard.other) {
      if (hazard.cta < known.cta) known = std::move(hazard);
      return false;
    }
  }
  if (hazards_.size() >= limit_) return false;
  hazards_.push_back(std::move(hazard));
  return true;
}

bool HazardLog::is_known(HazardKind kind, int instruction, int other) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(hazards_, [&](const Hazard& known) {
    return known.kind == kind && known.instruction == instruction && known.other == other;
  });
}

std::vector<Hazard> HazardLog::sorted() const {
  const std::lock_guard lock(mutex_);
  std::vector<Hazard> copy = hazards_;
  std::ranges::sort(copy, [](const Hazard& a, const Hazard& b) {
    return std::tie(a.cta[2], a.cta[1], a.cta[0], a.instruction, a.other, a.kind) <
           std::tie(b.cta[2], b.cta[1], b.cta[0], b.instruction, b.other, b.kind);
  });
  return copy;
}

std::string describe_instruction(const Program& program, int instruction) {
  if (instruction < 0 || static_cast<std::size_t>(instruction) >= program.info.size()) return "?";
  const InstrInfo& info = program.info[static_cast<std::size_t>(instruction)];
  std::string text = "PTX line " + std::to_string(info.line) + " (" + info.spelling + ")";
  if (info.source.line > 0)
    text += ", " + describe_source(info.source, program.files, program.call_sites);
  return text;
}

std::string describe_hazard(const Program& program, const Hazard& hazard) {
  std::string text = std::string(to_string(hazard.kind)) + ": " + hazard.what;
  if (hazard.instruction >= 0) text += "; at " + describe_instruction(program, hazard.instruction);
  if (hazard.other >= 0) text += "; other access at " + describe_instruction(program, hazard.other);
  text += "; CTA (" + std::to_string(hazard.cta[0]) + "," + std::to_string(hazard.cta[1]) + "," +
          std::to_string(hazard.cta[2]) + ")";
  return text;
}

}  // namespace evo::ptx
