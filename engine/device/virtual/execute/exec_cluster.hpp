#pragma once

#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"
#include "engine/ptx/types.hpp"

namespace evo::ptx {

/// The operands of barrier.cluster.arrive and barrier.cluster.wait.
struct ClusterBarrierOperands {
  bool is_wait = false;
  bool is_aligned = false;
  bool is_relaxed = false;  ///< the arrival orders no accesses
  auto register_fields() { return std::tie(); }
};
void exec_cluster_barrier(Warp& warp, const Instr& in);

/// The operands of mapa, getctarank and isspacep.
struct ClusterAddressOperands {
  std::uint32_t dst = kNoRegister;
  std::uint32_t address = kNoRegister;
  std::uint32_t rank = kNoRegister;  ///< of mapa
  bool is_wide = false;              ///< the address has 64 bits
  bool is_generic = false;           ///< the address is generic; false: in .shared::cluster
  Space space = Space::kGeneric;     ///< of isspacep
  auto register_fields() { return std::tie(dst, address, rank); }
};
void exec_mapa(Warp& warp, const Instr& in);
void exec_getctarank(Warp& warp, const Instr& in);
void exec_isspacep(Warp& warp, const Instr& in);

}  // namespace evo::ptx
