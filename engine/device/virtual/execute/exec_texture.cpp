#include <bit>
#include <string>

#include "engine/device/virtual/checks/taint.hpp"
#include "engine/device/virtual/execute/cta.hpp"
#include "engine/device/virtual/execute/exec_handlers.hpp"
#include "engine/device/virtual/memory/texture_sampler.hpp"

namespace evo::ptx {
namespace {

constexpr std::uint32_t kAllBytes = 0xf;

/// What is wrong with the use of the texture by this instruction, or nothing.
std::string misuse(const Instr& in, const Texture& texture) {
  const TextureSpec& spec = texture.spec;
  const std::string name = "texture '" + spec.name + "' ";
  const bool two = in.src[2] != kNoRegister;
  if (two != (spec.height != 0)) {
    return name + "has " + (spec.height != 0 ? "two dimensions" : "one dimension") +
           ", the instruction reads " + (two ? "two" : "one");
  }
  const bool floats =
      spec.type == TexelType::kF16 || spec.type == TexelType::kF32 || spec.normalized_values;
  if (floats != ((in.aux & kTextureOfFloats) != 0)) {
    return name + "gives " + (floats ? "floating-point values" : "integers") +
           ", the instruction reads " + (floats ? "integers" : "floating-point values");
  }
  if (spec.storage == TextureStorage::kLinear && (in.aux & kWholeCoordinates) == 0)
    return name + "lies in linear memory, which only tex1Dfetch reads";
  return {};
}

/// The texture of a lane. Fails the launch, and gives nullptr, when there is none that fits.
const Texture* texture_of(Warp& warp, const Instr& in, std::uint64_t handle, int lane) {
  const Texture* texture = warp.cta->launch().textures->find(handle);
  std::string why;
  if (texture == nullptr) {
    why = "there is no texture with the handle " + std::to_string(handle);
  } else {
    why = misuse(in, *texture);
  }
  if (why.empty()) return texture;
  warp.cta->fail(HazardKind::kInvalidInstruction, pc_of(warp), -1,
                 why + ", in " + warp.cta->name_thread(warp.index, lane));
  return nullptr;
}

Texel texel_of(const Warp& warp, const Instr& in, const Texture& texture, int lane) {
  const bool two = in.src[2] != kNoRegister;
  if ((in.aux & kWholeCoordinates) != 0) {
    const auto whole = [&](std::uint32_t reg) {
      return static_cast<std::int64_t>(warp.reg<const std::int32_t>(reg)[lane]);
    };
    return fetch_texel(texture, {whole(in.src[1]), two ? whole(in.src[2]) : 0});
  }
  const auto real = [&](std::uint32_t reg) { return warp.reg<const float>(reg)[lane]; };
  return sample_texture(texture, {real(in.src[1]), two ? real(in.src[2]) : 0.0F});
}

std::uint32_t tainted_sources(const Warp& warp, const Instr& in) {
  if (!warp.tainted) return 0;
  std::uint32_t lanes =
      tainted_lanes(warp, in.src[0], 8, warp.exec) | tainted_lanes(warp, in.src[1], 4, warp.exec);
  if (in.src[2] != kNoRegister) lanes |= tainted_lanes(warp, in.src[2], 4, warp.exec);
  return lanes;
}

}  // namespace

void exec_texture(Warp& warp, const Instr& in) {
  if (const std::uint32_t lanes = tainted_sources(warp, in); lanes != 0)
    report_tainted_use(warp, lanes, "form an address");
  const bool check = warp.cta->launch().check;
  const auto* registers = warp.cta->program().extra.data() + in.extra;
  const Texture* texture = nullptr;
  std::uint64_t known = 0;
  for (std::uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t handle = warp.reg<const std::uint64_t>(in.src[0])[lane];
    if (texture == nullptr || handle != known) {
      texture = texture_of(warp, in, handle, lane);
      if (texture == nullptr) return;
      known = handle;
    }
    const Texel texel = texel_of(warp, in, *texture, lane);
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
