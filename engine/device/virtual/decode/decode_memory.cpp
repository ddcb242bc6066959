#include <algorithm>
#include <array>

#include "engine/device/virtual/arithmetic/alu_table.hpp"
#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/execute/exec_atomic.hpp"
#include "engine/device/virtual/execute/exec_control.hpp"
#include "engine/device/virtual/execute/exec_memory.hpp"

// Decodes ld, st, ldu, prefetch, createpolicy, fences and atomics.

namespace evo::ptx {
namespace {

constexpr int kMostBitsOfAccess = 256;  // limit per lane: .v8.b32, .v4.b64

struct AccessSpelling {
  Space space = Space::kGeneric;
  AccessOrder order;
  int count = 1;
  Type type = Type::kNone;
};

/// Consumes the state space. If clusters have one CTA, .shared::cluster is .shared::cta.
Space take_space(const Program& program, Modifiers& modifiers) {
  static constexpr std::array<std::pair<std::string_view, Space>, 9> kSpaces = {
      {{"global", Space::kGlobal},
       {"const", Space::kConst},
       {"shared", Space::kShared},
       {"shared::cta", Space::kShared},
       {"local", Space::kLocal},
       {"param", Space::kParam},
       {"param::entry", Space::kParam},
       {"param::func", Space::kParam},
       {"shared::cluster", Space::kSharedCluster}}};
  for (const auto& [name, space] : kSpaces) {
    if (!modifiers.take(name)) continue;
    const bool is_own = space == Space::kSharedCluster && program.cluster_ctas() == 1;
    return is_own ? Space::kShared : space;
  }
  return Space::kGeneric;
}

/// Consumes the scope modifier. Returns true if the scope is the CTA, or a cluster of one CTA.
bool take_scope(const Program& program, Modifiers& modifiers) {
  if (modifiers.take("cluster")) return program.cluster_ctas() == 1;
  return modifiers.take_one_of({"cta", "gpu", "sys"}) == 0;
}

AccessSpelling take_access(const Program& program, Modifiers& modifiers, bool is_store) {
  AccessSpelling access;
  modifiers.take("weak");
  const bool is_relaxed = modifiers.take_one_of({"volatile", "relaxed", "mmio"}) >= 0;
  access.order.acquire = !is_store && modifiers.take("acquire");
  access.order.release = is_store && modifiers.take("release");
  access.order.strong = is_relaxed || access.order.acquire || access.order.release;
  access.order.of_cta = take_scope(program, modifiers);
  access.space = take_space(program, modifiers);
  access.order.read_only = modifiers.take("nc");
  if (modifiers.skip_cache_hints() != 2) modifiers.unsupported();
  const int vector = modifiers.take_one_of({"v2", "v4", "v8"});
  access.count = vector < 0 ? 1 : 2 << vector;
  access.type = modifiers.take_type();
  modifiers.finish();
  if (access.type == Type::kNone || access.type == Type::kPred) modifiers.unsupported();
  if (access.count * bit_width(access.type) > kMostBitsOfAccess)
    modifiers.unsupported("more than " + std::to_string(kMostBitsOfAccess) + " bits");
  return access;
}

bool is_shared(Space space) { return space == Space::kShared || space == Space::kSharedCluster; }

Pipe pipe_of(Space space) {
  switch (space) {
    case Space::kShared:
    case Space::kSharedCluster:
      return Pipe::kShared;
    case Space::kLocal:
      return Pipe::kLocal;
    case Space::kConst:
    case Space::kParam:
      return Pipe::kConst;
    default:
      return Pipe::kGlobal;
  }
}

Space resolve_space(Space spelled, const DecodeContext::AddressOperand& address) {
  if (address.is_parameter) return Space::kParam;
  if (spelled == Space::kParam) {
    // An address in the parameter space without a register is a .param variable of a call.
    return address.at.base != kNoRegister ? Space::kParam : Space::kLocal;
  }
  if (spelled == Space::kGeneric && address.space != Space::kGeneric) return address.space;
  return spelled;
}

std::vector<const Operand*> elements_of(const Operand& operand) {
  std::vector<const Operand*> elements;
  if (operand.kind == Operand::Kind::kVector) {
    for (const Operand& element : operand.elements) elements.push_back(&element);
  } else {
    elements.push_back(&operand);
  }
  return elements;
}

/// The bytes per lane of the register from which an element of `type` is stored, or into which it
/// is loaded.
int element_register_bytes(DecodeContext& context, const Operand& operand, Type type) {
  if (operand.kind == Operand::Kind::kRegister) {
    const Type have =
        context.type_of(context.frame().registers[static_cast<std::size_t>(operand.reg)]);
    if (have == Type::kPred) context.fail("a predicate cannot be loaded or stored");
    return register_bytes(have);
  }
  return register_bytes(type);
}

void emit_access(DecodeContext& context, Handler fn, const Address& address, Space space,
                 const AccessSpelling& access, const std::vector<std::uint32_t>& registers) {
  const int bytes = bit_width(access.type) / 8;
  AccessOperands op;
  op.address = address;
  op.registers = context.add_list(registers);
  op.space = space;
  op.order = access.order;
  op.bytes = static_cast<std::uint8_t>(bytes);
  op.count = static_cast<std::uint8_t>(access.count);
  context.emit(fn, op, pipe_of(space), TaintRule::kOwn);
  context.reads(address.base);
  if (is_shared(space) || space == Space::kGeneric)
    context.narrow_shared_granule(bytes * access.count);
  if (space == Space::kGlobal || space == Space::kGeneric) {
    context.narrow_global_granule(bytes * access.count);
    if (access.order.strong) context.program().has_changes = true;
  }
}

/// Decodes ld.param of kernel parameters to one instruction for each element.
void load_parameters(DecodeContext& context, const AccessSpelling& access, std::int64_t from,
                     const std::vector<const Operand*>& elements, int width) {
  const int bytes = bit_width(access.type) / 8;
  for (std::size_t e = 0; e < elements.size(); ++e) {
    const std::int64_t offset = from + static_cast<std::int64_t>(e) * bytes;
    if (offset < 0 || offset + bytes > context.program().parameter_bytes)
      context.fail("read beyond the kernel's parameters");
    if (elements[e]->kind != Operand::Kind::kRegister) continue;
    const std::uint32_t dst = context.frame().registers[static_cast<std::size_t>(elements[e]->reg)];
    const Handler fn = load_parameter_handler(bytes, is_signed(access.type), width);
    if (fn == nullptr) context.unsupported();
    context.emit(fn, ParameterOperands{dst, static_cast<std::uint32_t>(offset)}, Pipe::kConst,
                 TaintRule::kAny);
    context.last_info().dst_bytes = static_cast<std::uint8_t>(width);
    context.writes(dst);
  }
}

}  // namespace

void decode_load(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  modifiers.take("unified");
  const AccessSpelling access = take_access(context.program(), modifiers, false);
  const auto address = context.address(in.operands[1]);
  const Space space = resolve_space(access.space, address);
  const auto elements = elements_of(in.operands[0]);
  if (static_cast<int>(elements.size()) != access.count)
    context.fail(in.spelling + " has the wrong number of registers");
  const int bytes = bit_width(access.type) / 8;
  const int width = element_register_bytes(context, *elements[0], access.type);
  if (address.is_parameter) {
    load_parameters(context, access, address.at.offset, elements, width);
    return;
  }
  const Handler fn = load_handler(bytes, is_signed(access.type), width);
  if (fn == nullptr) context.unsupported();
  std::vector<std::uint32_t> destinations;
  for (const Operand* element : elements) {
    if (element_register_bytes(context, *element, access.type) != width)
      context.unsupported("registers of different width");
    const bool sink = element->kind != Operand::Kind::kRegister;
    destinations.push_back(
        sink ? kNoRegister : context.frame().registers[static_cast<std::size_t>(element->reg)]);
  }
  const bool is_global = space == Space::kGlobal || space == Space::kGeneric;
  if (is_global && access.order.strong) context.program().reads_signals = true;
  emit_access(context, fn, address.at, space, access, destinations);
  context.writes(destinations);
}

void decode_store(DecodeContext& context) {
  const Instruction& in = context.current();
  Modifiers modifiers(in);
  if (modifiers.take("async")) {
    decode_async_store(context, modifiers);
    return;
  }
  const AccessSpelling access = take_access(context.program(), modifiers, true);
  const auto address = context.address(in.operands[0]);
  const Space space = resolve_space(access.space, address);
  if (space == Space::kParam || space == Space::kConst)
    context.unsupported("store to a constant space");
  const auto elements = elements_of(in.operands[1]);
  if (static_cast<int>(elements.size()) != access.count)
    context.fail(in.spelling + " has the wrong number of registers");
  const int bytes = bit_width(access.type) / 8;
  const int width = element_register_bytes(context, *elements[0], access.type);
  std::vector<std::uint32_t> sources;
  for (const Operand* element : elements) {
    // A literal gets the same width as the registers of the vector's other elements.
    const bool same = element_register_bytes(context, *element, access.type) == width;
    if (element->kind == Operand::Kind::kRegister && !same)
      context.unsupported("registers of different width");
    const Type type = width == 2   ? Type::kB16
                      : width == 4 ? Type::kB32
                      : width == 8 ? Type::kB64
                                   : Type::kB128;
    const bool literal = element->kind != Operand::Kind::kRegister;
    sources.push_back(context.source(
        *element, literal && bit_width(access.type) == width * 8 ? access.type : type));
  }
  const Handler fn = store_handler(bytes, width);
  if (fn == nullptr) context.unsupported();
  const bool is_global = space == Space::kGlobal || space == Space::kGeneric;
  if (is_global && access.order.strong) context.program().sends_signals = true;
  emit_access(context, fn, address.at, space, access, sources);
  context.reads(sources);
}

/// Decodes createpolicy. Caches have no effect here, so all cache policies have the same value.
void decode_policy(DecodeContext& context) {
  const std::uint32_t dst = context.destination(context.current().operands[0], Type::kB64);
  const std::uint32_t policy = context.constant(0, Type::kB64);
  context.emit(alu_table().entries.at("mov.b64").fn, AluOperands{.dst = dst, .src = {policy}},
               Pipe::kMove, TaintRule::kMove);
  context.last_info().dst_bytes = 8;
  context.reads(policy);
  context.writes(dst);
}

void decode_fence(DecodeContext& context) {
  const Instruction& in = context.current();
  if (in.opcode != Opcode::kMembar && in.opcode != Opcode::kFence) {
    // prefetch, prefetchu and applypriority have no effect here.
    context.emit(exec_nop, NoOperands(), Pipe::kGlobal, TaintRule::kOwn);
    return;
  }
  Modifiers modifiers(in);
  modifiers.take_one_of({"sc", "acq_rel", "acquire", "release"});
  if (modifiers.take("mbarrier_init")) {  // orders mbarrier.init for other CTAs of the cluster
    modifiers.take("cluster");
    modifiers.finish();
    const Handler fn = context.program().cluster_ctas() == 1 ? exec_nop : exec_fence;
    context.emit(fn, NoOperands(), Pipe::kBarrier, TaintRule::kOwn);
    return;
  }
  const bool of_cta = modifiers.take_one_of({"cta", "gl", "gpu", "sys", "cluster"}) == 0;
  const bool proxy = modifiers.take("proxy");
  const bool async = proxy && modifiers.take("async");
  if (proxy && !async) modifiers.take_one_of({"alias", "async::generic", "tensormap::generic"});
  const bool global_only = modifiers.take_one_of({"shared::cta", "shared::cluster", "global"}) == 2;
  modifiers.finish();
  const Handler fence = of_cta ? exec_cta_fence : exec_fence;
  const Handler fn = !async ? fence : global_only ? exec_nop : exec_proxy_fence;
  context.emit(fn, NoOperands(), Pipe::kBarrier, TaintRule::kOwn);
}

void decode_atomic(DecodeContext& context) {
  const Instruction& in = context.current();
  const bool returns = in.opcode == Opcode::kAtom;
  Modifiers modifiers(in);
  const int order = modifiers.take_one_of({"relaxed", "acquire", "release", "acq_rel"});
  AtomicOperands out;
  out.order = {
      .strong = true, .acquire = order == 1 || order == 3, .release = order == 2 || order == 3};
  out.order.of_cta = take_scope(context.program(), modifiers);
  const Space spelled = take_space(context.program(), modifiers);
  static constexpr std::array<std::pair<std::string_view, AtomicOp>, 10> kOps = {
      {{"add", AtomicOp::kAdd},
       {"min", AtomicOp::kMin},
       {"max", AtomicOp::kMax},
       {"exch", AtomicOp::kExch},
       {"cas", AtomicOp::kCas},
       {"inc", AtomicOp::kInc},
       {"dec", AtomicOp::kDec},
       {"and", AtomicOp::kAnd},
       {"or", AtomicOp::kOr},
       {"xor", AtomicOp::kXor}}};
  const auto* op =
      std::ranges::find_if(kOps, [&](const auto& entry) { return modifiers.take(entry.first); });
  if (op == kOps.end()) modifiers.unsupported();
  modifiers.take("noftz");
  const std::size_t given = modifiers.skip_cache_hints();
  const Type type = modifiers.take_type();
  modifiers.finish();
  const Handler fn = atomic_handler(op->second, type);
  const std::size_t first = returns ? 1 : 0;
  const std::size_t operands = op->second == AtomicOp::kCas ? 3 : 2;
  if (fn == nullptr || given != first + operands) context.unsupported();
  const auto address = context.address(in.operands[first]);
  out.address = address.at;
  out.operand = context.source(in.operands[first + 1], type);
  if (operands == 3) out.swap = context.source(in.operands[first + 2], type);
  if (returns && in.operands[0].kind != Operand::Kind::kSink)
    out.dst = context.destination(in.operands[0], type, is_signed(type));
  out.space = resolve_space(spelled, address);
  const bool in_shared = is_shared(out.space);
  context.emit(fn, out, in_shared ? Pipe::kShared : Pipe::kGlobal, TaintRule::kOwn);
  for (const std::uint32_t reg : {out.address.base, out.operand, out.swap}) context.reads(reg);
  context.writes(out.dst);
  if (out.dst != kNoRegister && !in_shared) context.program().claims_work = true;
  if (!in_shared) {
    context.program().has_changes = true;
    context.program().sends_signals = true;
  }
  context.narrow_shared_granule(bit_width(type) / 8);
  context.narrow_global_granule(bit_width(type) / 8);
}

}  // namespace evo::ptx
