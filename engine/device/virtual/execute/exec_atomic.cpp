#include "engine/device/virtual/execute/exec_atomic.hpp"

#include <algorithm>
#include <atomic>
#include <bit>

#include "engine/device/virtual/arithmetic/small_floats.hpp"
#include "engine/device/virtual/checks/taint.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/lanes.hpp"
#include "engine/device/virtual/memory/access_counts.hpp"
#include "engine/device/virtual/memory/global_access.hpp"
#include "engine/device/virtual/memory/guest_memory.hpp"
#include "engine/device/virtual/memory/memory_access.hpp"

// Executes atom and red, lane by lane. The host accesses the kernel's global memory by atomic
// operations, because CTAs run on several host threads.

namespace evo::ptx {
namespace {

std::uint32_t add_half_pair(std::uint32_t a, std::uint32_t b) {
  const auto add = [](std::uint32_t x, std::uint32_t y) {
    return static_cast<std::uint32_t>(float_to_half(half_to_float(static_cast<std::uint16_t>(x)) +
                                                    half_to_float(static_cast<std::uint16_t>(y))));
  };
  return add(a, b) | add(a >> 16, b >> 16) << 16;
}

std::uint32_t add_bfloat_pair(std::uint32_t a, std::uint32_t b) {
  const auto add = [](std::uint32_t x, std::uint32_t y) {
    return static_cast<std::uint32_t>(
        float_to_bfloat(bfloat_to_float(static_cast<std::uint16_t>(x)) +
                        bfloat_to_float(static_cast<std::uint16_t>(y))));
  };
  return add(a, b) | add(a >> 16, b >> 16) << 16;
}

enum class F16 : std::uint16_t {};
enum class F16x2 : std::uint32_t {};
enum class Bf16 : std::uint16_t {};
enum class Bf16x2 : std::uint32_t {};
/// The unsigned integer type that has the size of a T.
template <typename T>
struct BitsOf {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;
};

template <AtomicOp kOp, typename T>
typename BitsOf<T>::Bits combine(typename BitsOf<T>::Bits old, typename BitsOf<T>::Bits b,
                                 typename BitsOf<T>::Bits c) {
  using B = typename BitsOf<T>::Bits;
  if constexpr (kOp == AtomicOp::kExch) return b;
  if constexpr (kOp == AtomicOp::kCas) return old == b ? c : old;
  if constexpr (kOp == AtomicOp::kAnd) return static_cast<B>(old & b);
  if constexpr (kOp == AtomicOp::kOr) return static_cast<B>(old | b);
  if constexpr (kOp == AtomicOp::kXor) return static_cast<B>(old ^ b);
  if constexpr (kOp == AtomicOp::kInc) return static_cast<B>(old >= b ? 0 : old + 1);
  if constexpr (kOp == AtomicOp::kDec) return static_cast<B>(old == 0 || old > b ? b : old - 1);
  if constexpr (kOp == AtomicOp::kAdd) {
    if constexpr (std::is_same_v<T, F16>) {
      return static_cast<B>(add_half_pair(old, b));
    } else if constexpr (std::is_same_v<T, F16x2>) {
      return add_half_pair(old, b);
    } else if constexpr (std::is_same_v<T, Bf16>) {
      return static_cast<B>(add_bfloat_pair(old, b));
    } else if constexpr (std::is_same_v<T, Bf16x2>) {
      return add_bfloat_pair(old, b);
    } else if constexpr (std::is_floating_point_v<T>) {
      return std::bit_cast<B>(static_cast<T>(std::bit_cast<T>(old) + std::bit_cast<T>(b)));
    } else {
      return static_cast<B>(old + b);
    }
  }
  if constexpr (kOp == AtomicOp::kMin && std::is_integral_v<T>)
    return static_cast<B>(std::min(static_cast<T>(old), static_cast<T>(b)));
  if constexpr (kOp == AtomicOp::kMax && std::is_integral_v<T>)
    return static_cast<B>(std::max(static_cast<T>(old), static_cast<T>(b)));
  return old;
}

template <AtomicOp kOp, typename T>
typename BitsOf<T>::Bits apply(std::byte* pointer, bool is_global, typename BitsOf<T>::Bits b,
                               typename BitsOf<T>::Bits c) {
  using B = typename BitsOf<T>::Bits;
  B& word = *reinterpret_cast<B*>(pointer);
  if (!is_global) {
    const B old = word;
    word = combine<kOp, T>(old, b, c);
    return old;
  }
  std::atomic_ref<B> atomic(word);
  B old = atomic.load();
  while (!atomic.compare_exchange_weak(old, combine<kOp, T>(old, b, c))) {
  }
  return old;
}

void note_atomic(Warp& warp, const LaneAccess& access, std::uint32_t bytes) {
  if (access.in_shared()) note_shared_atomic(warp, access, bytes);
  if (warp.cta->launch().count_memory) count_access(warp, access, bytes, true);
}

/// The lanes for which the target of the atomic is uninitialised.
std::uint32_t unwritten_lanes(const Warp& warp, const LaneAccess& access, std::uint32_t bytes) {
  std::uint32_t lanes = 0;
  for_lanes(warp.exec, [&](int lane) {
    if (read_taint(warp, access, lane, bytes) != 0) lanes |= 1U << lane;
  });
  return lanes;
}

/// Marks the result of an atomic exchange as uninitialised in `lanes`, whose memory was
/// uninitialised before the exchange.
void taint_exchanged(Warp& warp, const LaneAccess& access, std::uint32_t dst, std::uint32_t bytes,
                     std::uint32_t lanes) {
  const std::uint32_t all_bytes = (1U << bytes) - 1;
  for_lanes(lanes, [&](int lane) {
    take_foreign_taint(
        warp, {static_cast<int>(warp.pc), lane, access.address[static_cast<std::size_t>(lane)]});
    set_taint(warp, dst, bytes, lane, all_bytes);
  });
}

template <AtomicOp kOp, typename T>
void atomic(Warp& warp, const Instr& in) {
  using B = typename BitsOf<T>::Bits;
  const auto& op = in.as<AtomicOperands>();
  const auto address = lane_addresses(warp, op.address);
  report_tainted_address(warp, op.address, warp.exec);
  const LaneAccess access =
      resolve(warp, op.space, address, warp.exec, sizeof(B), AccessIntent::kReadWrite);
  if (!access.ok || note_owner(warp, access, sizeof(B))) return;
  const std::uint32_t unwritten =
      warp.cta->launch().check ? unwritten_lanes(warp, access, sizeof(B)) : 0;
  note_atomic(warp, access, sizeof(B));
  if (warp.cta->launch().count_memory) {
    constexpr bool kIsMerged = std::is_integral_v<T> && kOp != AtomicOp::kCas &&
                               kOp != AtomicOp::kExch && kOp != AtomicOp::kInc &&
                               kOp != AtomicOp::kDec;
    count_atomic(warp, access, kIsMerged);
  }
  if (op.order.release && !op.order.of_cta) note_published(warp);
  if (warp.tainted && warp.cta->launch().check) {
    const std::uint32_t lanes = tainted_lanes(warp, op.operand, sizeof(B), warp.exec);
    if (lanes != 0) report_tainted_use(warp, lanes, "are the operand of an atomic operation");
    if (op.dst != kNoRegister) {
      for_lanes(warp.exec, [&](int lane) { set_taint(warp, op.dst, sizeof(B), lane, 0); });
    }
  }
  // An exchange overwrites its target. In shared memory, AND and OR may do the same for some bits:
  // the tiles of several warps in cooperative_groups set up their barriers in this way.
  constexpr bool kSetsBits = kOp == AtomicOp::kAnd || kOp == AtomicOp::kOr;
  const std::uint32_t used =
      kOp == AtomicOp::kExch ? 0 : unwritten & (kSetsBits ? access.global : ~0U);
  if (used != 0) report_tainted_use(warp, used, "are the target of an atomic operation");
  const B* b = warp.reg<const B>(op.operand);
  const B* c = op.swap == kNoRegister ? b : warp.reg<const B>(op.swap);
  constexpr bool kAccumulates = kOp != AtomicOp::kExch && kOp != AtomicOp::kCas;
  bool changed = false;
  WatchedPlaces places(warp, access, sizeof(B));
  for_lanes<std::size_t>(warp.exec, [&](std::size_t l) {
    // Every atomic reads and writes, so it can be ordered after and before atomics of other warps.
    // Without .acquire or .release, the order requires a fence (see acquire_from()).
    acquire_from(warp, static_cast<int>(l), address[l], op.order.acquire);
    release_to(warp, static_cast<int>(l), address[l], op.order.release);
    const bool is_global = ((access.global >> l) & 1U) != 0;
    places.enter(l);
    const B old = apply<kOp, T>(access.pointer[l], is_global, b[l], c[l]);
    const bool is_change = combine<kOp, T>(old, b[l], c[l]) != old;
    op.order.of_cta ? places.atomic_of_cta(is_change)
                    : places.atomic(is_change, kAccumulates, op.dst != kNoRegister);
    changed |= is_change;
    if (std::uint8_t* marks = access.marks(l)) mark_written(marks, sizeof(B));
    if (op.dst != kNoRegister) warp.reg<B>(op.dst)[l] = old;
  });
  if (kOp == AtomicOp::kExch && unwritten != 0 && op.dst != kNoRegister)
    taint_exchanged(warp, access, op.dst, sizeof(B), unwritten);
  WarpScheduler& scheduler = warp.cta->scheduler();
  if (changed) {
    scheduler.note_progress();
  } else if (scheduler.note_poll()) {
    warp.yield = true;
  }
  warp.vain_waits = 0;  // the next wait for an mbarrier may depend on what the atomic returned
  const bool may_be_entry = changed && access.global != 0 && op.dst != kNoRegister;
  if (may_be_entry && scheduler.stands_aside_after_change()) warp.yield = true;
}

template <AtomicOp kOp>
Handler pick_integer(Type type) {
  switch (type) {
    case Type::kU32:
    case Type::kB32:
      return atomic<kOp, std::uint32_t>;
    case Type::kS32:
      return atomic<kOp, std::int32_t>;
    case Type::kU64:
    case Type::kB64:
      return atomic<kOp, std::uint64_t>;
    case Type::kS64:
      return atomic<kOp, std::int64_t>;
    default:
      return nullptr;
  }
}

Handler pick_add(Type type) {
  switch (type) {
    case Type::kF32:
      return atomic<AtomicOp::kAdd, float>;
    case Type::kF64:
      return atomic<AtomicOp::kAdd, double>;
    case Type::kF16:
      return atomic<AtomicOp::kAdd, F16>;
    case Type::kF16x2:
      return atomic<AtomicOp::kAdd, F16x2>;
    case Type::kBf16:
      return atomic<AtomicOp::kAdd, Bf16>;
    case Type::kBf16x2:
      return atomic<AtomicOp::kAdd, Bf16x2>;
    default:
      return pick_integer<AtomicOp::kAdd>(type);
  }
}

}  // namespace

Handler atomic_handler(AtomicOp op, Type type) {
  switch (op) {
    case AtomicOp::kAdd:
      return pick_add(type);
    case AtomicOp::kMin:
      return pick_integer<AtomicOp::kMin>(type);
    case AtomicOp::kMax:
      return pick_integer<AtomicOp::kMax>(type);
    case AtomicOp::kExch:
      return pick_integer<AtomicOp::kExch>(type);
    case AtomicOp::kCas:
      return type == Type::kB16 ? atomic<AtomicOp::kCas, std::uint16_t>
                                : pick_integer<AtomicOp::kCas>(type);
    case AtomicOp::kInc:
      return type == Type::kU32 ? atomic<AtomicOp::kInc, std::uint32_t> : nullptr;
    case AtomicOp::kDec:
      return type == Type::kU32 ? atomic<AtomicOp::kDec, std::uint32_t> : nullptr;
    case AtomicOp::kAnd:
      return pick_integer<AtomicOp::kAnd>(type);
    case AtomicOp::kOr:
      return pick_integer<AtomicOp::kOr>(type);
    case AtomicOp::kXor:
      return pick_integer<AtomicOp::kXor>(type);
  }
  return nullptr;
}

}  // namespace evo::ptx
