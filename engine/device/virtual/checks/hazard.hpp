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
  kUnsupported,  ///< a limitation of the virtual GPU, not an error of the kernel
};

/// The words with which reports of a kind of hazard begin, such as "shared-memory race" or
/// "deadlock".
[[nodiscard]] std::string_view to_string(HazardKind kind);

/// A problem of a kernel that the virtual GPU reports. `instruction` is the index in Program::code
/// of the instruction with the problem, and `other` that of the instruction with which it
/// conflicts; −1: there is none.
struct Hazard {
  HazardKind kind;
  int instruction = -1;
  int other = -1;
  std::string what;  ///< details: address, buffer, threads, barrier
  std::array<std::uint32_t, 3> cta = {0, 0, 0};
};

/// Collects the hazards that host threads report; keeps one hazard for each combination of kind and
/// pair of instructions, which is that of the smallest CTA index (x is compared first).
class HazardLog {
 public:
  explicit HazardLog(std::size_t limit) : limit_(limit) {}

  /// Adds a hazard; thread-safe. Returns true if the hazard is new and was kept, and false if the
  /// log has a hazard of the same kind and instructions, or already has `limit` hazards.
  bool add(Hazard hazard);
  [[nodiscard]] bool is_known(HazardKind kind, int instruction, int other) const;
  /// All hazards, sorted by CTA and instruction, so that reports do not depend on thread timing.
  [[nodiscard]] std::vector<Hazard> sorted() const;

 private:
  std::size_t limit_;
  mutable std::mutex mutex_;
  std::vector<Hazard> hazards_;
};

/// An instruction as text for reports: "PTX line 12 (ld.shared.f32), kernel.cu:34".
[[nodiscard]] std::string describe_instruction(const Program& program, int instruction);

/// A hazard as one line of a report.
[[nodiscard]] std::string describe_hazard(const Program& program, const Hazard& hazard);

}  // namespace evo::ptx
