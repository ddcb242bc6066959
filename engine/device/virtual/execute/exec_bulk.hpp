#pragma once

#include <cstdint>

#include "engine/device/virtual/decode/registers.hpp"

namespace evo::ptx {

/// The operands of cp.async.bulk and cp.async.bulk.tensor. The registers of the operands form a
/// list in this order: destination, source, mbarrier, size, mask of CTAs, coordinates. The register
/// of an absent operand is kNoRegister.
struct BulkCopy {
  enum Register : std::uint8_t { kTo, kFrom, kBarrier, kSize, kMask, kCoordinates };
  Address to;    ///< destination, in shared or global memory
  Address from;  ///< source, in global or shared memory
  Address barrier;
  bool is_load = false;       ///< into shared memory
  bool from_shared = false;   ///< from the CTA's shared memory to that of a CTA of the cluster
  bool is_multicast = false;  ///< to the CTAs of the cluster that a mask names
  /// number of coordinates; 0: no tensor map; otherwise, the global address is that of a tensor map
  std::uint8_t dimensions = 0;
};

struct BulkOperands {
  RegisterList registers;
  std::uint32_t copy = 0;                        ///< index in Program::bulk_copies
  auto register_fields() { return std::tie(); }  // the registers are in the list
};
void exec_bulk_copy(Warp& warp, const Instr& in);

/// The operands of st.async. The registers form a list in this order: destination, mbarrier,
/// elements.
struct AsyncStoreOperands {
  RegisterList registers;
  std::int32_t to_offset = 0;
  std::int32_t barrier_offset = 0;
  bool to_is_wide = false;  ///< the register of the address has 64 bits
  bool barrier_is_wide = false;
  std::uint8_t bytes = 0;                        ///< bytes of one element
  auto register_fields() { return std::tie(); }  // the registers are in the list
};
void exec_async_store(Warp& warp, const Instr& in);
void exec_bulk_commit(Warp& warp, const Instr& in);

/// The operands of cp.async.bulk.wait_group.
struct BulkWaitOperands {
  std::int64_t keep = 0;    ///< number of groups that may stay pending
  bool only_reads = false;  ///< .read: waits until shared memory has been read
  auto register_fields() { return std::tie(); }
};
void exec_bulk_wait(Warp& warp, const Instr& in);

}  // namespace evo::ptx
