#include "engine/device/virtual/decode/decode_context.hpp"
#include "engine/device/virtual/execute/exec_texture.hpp"

// Decodes tex for one- and two-dimensional textures that are given by 64-bit handles.

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

void decode_texture(DecodeContext& context) {
  const Instruction& in = context.current();
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
  TextureOperands op;
  op.handle = context.source(address.elements[0], Type::kB64);
  const auto coordinates = coordinate_registers(context, address.elements[1],
                                                static_cast<std::size_t>(shape) + 1, coordinate);
  op.x = coordinates[0];
  if (coordinates.size() == 2) op.y = coordinates[1];
  std::vector<std::uint32_t> results;
  for (const Operand& element : in.operands[0].elements) {
    results.push_back(element.kind == Operand::Kind::kSink
                          ? kNoRegister
                          : context.destination(element, Type::kB32));
  }
  op.results = context.add_list(results);
  op.gives_floats = texel == Type::kF32;
  op.whole_coordinates = coordinate == Type::kS32;
  context.emit(exec_texture, op, Pipe::kGlobal, TaintRule::kOwn);
  for (const std::uint32_t reg : {op.handle, op.x, op.y}) context.reads(reg);
  context.writes(results);
}

}  // namespace evo::ptx
