#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/execute/exec_handlers.hpp"

// tex of one and two dimensions, by 64-bit handles.

namespace evo::ptx {
namespace {

constexpr std::size_t kChannels = 4;

std::vector<std::uint32_t> coordinate_registers(DecodeContext& context, const Operand& coordinates,
                                                std::size_t dimensions, Type type) {
  std::vector<std::uint32_t> registers;
  if (coordinates.kind != Operand::Kind::kVector) {
    if (dimensions != 1) context.fail("tex needs " + std::to_string(dimensions) + " coordinates");
    return {context.source(coordinates, type)};
  }
  if (coordinates.elements.size() != dimensions)
    context.fail("tex needs " + std::to_string(dimensions) + " coordinates");
  for (const Operand& element : coordinates.elements)
    registers.push_back(context.source(element, type));
  return registers;
}

}  // namespace

bool decode_texture(DecodeContext& context) {
  const Instruction& in = context.current();
  if (in.parts[0] != "tex") return false;
  Modifiers modifiers(in);
  const int shape = modifiers.take_one_of({"1d", "2d"});
  const bool four = modifiers.take("v4");
  const Type texel = modifiers.take_type();
  const Type coordinate = modifiers.take_type();
  modifiers.finish();
  const bool known_texel = texel == Type::kF32 || texel == Type::kS32 || texel == Type::kU32;
  if (shape < 0 || !four || !known_texel || (coordinate != Type::kF32 && coordinate != Type::kS32))
    context.unsupported();
  if (in.operands.size() != 2) context.unsupported("offsets and depth comparison");
  const Operand& address = in.operands[1];
  if (in.operands[0].kind != Operand::Kind::kVector ||
      in.operands[0].elements.size() != kChannels || address.kind != Operand::Kind::kAddress)
    context.fail("tex needs four registers and an address");
  if (address.elements.size() != 2 || address.offset != 0 ||
      address.elements[0].kind != Operand::Kind::kRegister)
    context.unsupported("texture references and samplers; a texture object is a 64-bit register");
  const std::uint32_t handle = context.source(address.elements[0], Type::kB64);
  const auto dimensions = static_cast<std::size_t>(shape) + 1;
  const auto coordinates =
      coordinate_registers(context, address.elements[1], dimensions, coordinate);
  std::vector<std::uint32_t> results;
  for (const Operand& element : in.operands[0].elements) {
    results.push_back(element.kind == Operand::Kind::kSink
                          ? kNoRegister
                          : context.destination(element, Type::kB32));
  }
  Instr& out = context.emit(exec_texture, Pipe::kGlobal, TaintRule::kOwn);
  out.src[0] = handle;
  out.src[1] = coordinates[0];
  out.src[2] = dimensions == 2 ? coordinates[1] : kNoRegister;
  out.aux = static_cast<std::uint16_t>((texel == Type::kF32 ? kTextureOfFloats : 0) |
                                       (coordinate == Type::kS32 ? kWholeCoordinates : 0));
  for (const std::uint32_t reg : {out.src[0], out.src[1], out.src[2]}) context.reads(reg);
  context.begin_extra();
  for (const std::uint32_t reg : results) {
    context.add_extra(reg);
    context.writes(reg);
  }
  return true;
}

}  // namespace evo::ptx
