#pragma once

#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

// Operands of instructions that exchange values between lanes. `members`: the member mask.

enum class ShuffleMode : std::uint8_t { kUp, kDown, kButterfly, kIndex };
/// The operands of shfl.sync.
struct ShuffleOperands {
  std::uint32_t dst = kNoRegister;
  std::uint32_t in_range = kNoRegister;
  std::uint32_t value = kNoRegister;
  std::uint32_t lane = kNoRegister;
  std::uint32_t clamp = kNoRegister;
  std::uint32_t members = kNoRegister;
  ShuffleMode mode = ShuffleMode::kUp;
  auto register_fields() { return std::tie(dst, in_range, value, lane, clamp, members); }
};
void exec_shuffle(Warp& warp, const Instr& in);

enum class VoteMode : std::uint8_t { kAll, kAny, kUniform, kBallot };
/// The operands of vote.sync.
struct VoteOperands {
  std::uint32_t dst = kNoRegister;
  std::uint32_t predicate = kNoRegister;
  std::uint32_t members = kNoRegister;
  bool negated = false;
  VoteMode mode = VoteMode::kAll;
  auto register_fields() { return std::tie(dst, predicate, members); }
};
void exec_vote(Warp& warp, const Instr& in);

/// The operands of match.sync.
struct MatchOperands {
  std::uint32_t dst = kNoRegister;
  std::uint32_t all_equal = kNoRegister;
  std::uint32_t value = kNoRegister;
  std::uint32_t members = kNoRegister;
  bool all = false;
  bool is_wide = false;  ///< values have 64 bits
  auto register_fields() { return std::tie(dst, all_equal, value, members); }
};
void exec_match(Warp& warp, const Instr& in);

enum class ReduxOp : std::uint8_t { kAdd, kMinU, kMaxU, kMinS, kMaxS, kAnd, kOr, kXor };
/// The operands of redux.sync.
struct ReduxOperands {
  std::uint32_t dst = kNoRegister;
  std::uint32_t value = kNoRegister;
  std::uint32_t members = kNoRegister;
  ReduxOp op = ReduxOp::kAdd;
  auto register_fields() { return std::tie(dst, value, members); }
};
void exec_redux(Warp& warp, const Instr& in);

/// The operands of elect.sync.
struct ElectOperands {
  std::uint32_t leader = kNoRegister;
  std::uint32_t is_leader = kNoRegister;
  std::uint32_t members = kNoRegister;
  auto register_fields() { return std::tie(leader, is_leader, members); }
};
void exec_elect(Warp& warp, const Instr& in);

}  // namespace evo::ptx
