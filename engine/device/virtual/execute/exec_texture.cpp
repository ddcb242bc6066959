#include "engine/device/virtual/execute/exec_texture.hpp"

#include <bit>
#include <string>

#include "engine/device/virtual/checks/taint.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/memory/texture_sampler.hpp"

namespace evo::ptx {
namespace {

constexpr std::uint32_t kAllBytes = 0xf;

/// The reason why the instruction cannot read the texture; empty if it can.
std::string misuse(const TextureOperands& op, const Texture& texture) {
  const TextureSpec& spec = texture.spec;
  const std::string name = "texture '" + spec.name + "' ";
  const bool two = op.y != kNoRegister;
  if (two != (spec.height != 0)) {
    return name + "has " + (spec.height != 0 ? "two dimensions" : "one dimension") +
           ", the instruction reads " + (two ? "two" : "one");
  }
  const bool floats =
      spec.type == TexelType::kF16 || spec.type == TexelType::kF32 || spec.normalized_values;
  if (floats != op.gives_floats) {
    return name + "gives " + (floats ? "floating-point values" : "integers") +
           ", the instruction reads " + (floats ? "integers" : "floating-point values");
  }
  if (spec.storage == TextureStorage::kLinear && !op.whole_coordinates)
    return name + "lies in linear memory, which only tex1Dfetch reads";
  return {};
}

/// The texture whose handle a lane passes. If there is no texture with this handle, or if the
/// instruction cannot read it, ends the launch and returns null.
const Texture* texture_of(Warp& warp, const TextureOperands& op, std::uint64_t handle, int lane) {
  const Texture* texture = warp.cta->launch().textures->find(handle);
  std::string why;
  if (texture == nullptr) {
    why = "there is no texture with the handle " + std::to_string(handle);
  } else {
    why = misuse(op, *texture);
  }
  if (why.empty()) return texture;
  warp.cta->fail(HazardKind::kInvalidInstruction, pc_of(warp), -1,
                 why + ", in " + warp.cta->names().thread(warp.index, lane));
  return nullptr;
}

Texel texel_of(const Warp& warp, const TextureOperands& op, const Texture& texture, int lane) {
  const bool two = op.y != kNoRegister;
  if (op.whole_coordinates) {
    const auto whole = [&](std::uint32_t reg) {
      return static_cast<std::int64_t>(warp.reg<const std::int32_t>(reg)[lane]);
    };
    return fetch_texel(texture, {whole(op.x), two ? whole(op.y) : 0});
  }
  const auto real = [&](std::uint32_t reg) { return warp.reg<const float>(reg)[lane]; };
  return sample_texture(texture, {real(op.x), two ? real(op.y) : 0.0F});
}

std::uint32_t tainted_sources(const Warp& warp, const TextureOperands& op) {
  if (!warp.tainted) return 0;
  std::uint32_t lanes =
      tainted_lanes(warp, op.handle, 8, warp.exec) | tainted_lanes(warp, op.x, 4, warp.exec);
  if (op.y != kNoRegister) lanes |= tainted_lanes(warp, op.y, 4, warp.exec);
  return lanes;
}

}  // namespace

void exec_texture(Warp& warp, const Instr& in) {
  const auto& op = in.as<TextureOperands>();
  if (const std::uint32_t lanes = tainted_sources(warp, op); lanes != 0)
    report_tainted_use(warp, lanes, "form an address");
  const bool check = warp.cta->launch().check;
  const std::uint32_t early = early_lanes(warp, warp.exec);
  const auto* registers = warp.cta->program().registers_of(op.results);
  const Texture* texture = nullptr;
  std::uint64_t known = 0;
  for (std::uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t handle = warp.reg<const std::uint64_t>(op.handle)[lane];
    if (texture == nullptr || handle != known) {
      texture = texture_of(warp, op, handle, lane);
      if (texture == nullptr) return;
      known = handle;
    }
    if (((early >> lane) & 1U) != 0)
      report_early(warp, lane, "read of texture '" + texture->spec.name + "'");
    const Texel texel = texel_of(warp, op, *texture, lane);
    for (std::size_t c = 0; c < texel.bits.size(); ++c) {
      if (registers[c] == kNoRegister) continue;
      warp.reg<std::uint32_t>(registers[c])[lane] = texel.bits[c];
      if (!check || !(warp.tainted || texel.unwritten[c])) continue;
      set_taint(warp, registers[c], 4, lane, texel.unwritten[c] ? kAllBytes : 0);
      warp.tainted = warp.tainted || texel.unwritten[c];
    }
  }
}

}  // namespace evo::ptx
