#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "engine/device/virtual/decode/program.hpp"

namespace evo::ptx {

enum class HazardKind : std::uint8_t {
  kSharedRace,
  kGlobalRace,
  kAsyncRace,
  kProductRace,
  kProxyFence,
  kProductFence,
  kGridWait,
  kOutOfBounds,
  kMisaligned,
  kReadOnlyWrite,
  kReadOnlyLoad,
  kUninitialised,
  kDeadlock,
  kLivelock,
  kBarrier,
  kDivergence,
  kPendingWork,
  kTrap,
  kInvalidInstruction,
  kUnsupported,  ///< a limit of this interpreter; does not concern the kernel
};

/// "shared-memory race", "deadlock" …: the first words of each report of this kind.
[[nodiscard]] std::string_view to_string(HazardKind kind);

/// One finding. `instruction` and `other` index Program::code; −1 for none.
struct Hazard {
  HazardKind kind;
  int instruction = -1;
  int other = -1;
  std::string what;  ///< details: address, buffer, threads, barrier
  std::array<std::uint32_t, 3> cta = {0, 0, 0};
};

/// Collects hazards from all worker threads; keeps one for each kind and pair of instructions.
class HazardLog {
 public:
  explicit HazardLog(std::size_t limit) : limit_(limit) {}

  /// Thread-safe. True if the hazard was new and is kept.
  bool add(Hazard hazard);
  [[nodiscard]] bool is_full() const;
  [[nodiscard]] bool is_known(HazardKind kind, int instruction, int other) const;
  /// In the order of CTA and instruction, so that reports do not depend on thread timing.
  [[nodiscard]] std::vector<Hazard> sorted() const;

 private:
  std::size_t limit_;
  mutable std::mutex mutex_;
  std::vector<Hazard> hazards_;
};

/// "line 12 (ld.shared.f32), kernel.cu:34".
[[nodiscard]] std::string describe_instruction(const Program& program, int instruction);

/// One line for users.
[[nodiscard]] std::string describe_hazard(const Program& program, const Hazard& hazard);

}  // namespace evo::ptx
