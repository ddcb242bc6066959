#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "engine/core/error.hpp"
#include "engine/device/virtual/virtual_device.hpp"
#include "engine/ptx/parser.hpp"
#include "tests/fuzz/fuzz_target.hpp"

namespace evo::fuzz {
namespace {

constexpr std::size_t kMostEntries = 2;  ///< limit of launched entries per module
/// Size of the buffer for every parameter that may be a pointer.
constexpr std::size_t kBufferBytes = 4096;
constexpr std::size_t kNoTexture = 99;              ///< a texture height that means "no texture"
constexpr std::uint64_t kMostInstructions = 5'000;  ///< limit of warp instructions per CTA

LaunchConfig launch_of(const std::string& text) {
  unsigned ctas = 2;
  unsigned threads = 72;
  unsigned shared = 1024;
  (void)std::sscanf(text.c_str(), "// launch %u %u %u", &ctas, &threads, &shared);
  return {{std::clamp(ctas, 1U, 8U), 1, 1},
          {std::clamp(threads, 1U, 256U), 1, 1},
          std::min(shared, 1U << 16)};
}

std::vector<std::pair<std::string, std::vector<std::uint64_t>>> entries_of(
    const std::string& text) {
  std::vector<std::pair<std::string, std::vector<std::uint64_t>>> entries;
  try {
    const ptx::Module module = ptx::parse_ptx(text);
    for (const auto& [name, function] : module.functions) {
      if (!function.is_entry || entries.size() == kMostEntries) continue;
      auto& parameters = entries.emplace_back(name, std::vector<std::uint64_t>()).second;
      for (const int index : function.parameters)
        parameters.push_back(function.variables[static_cast<std::size_t>(index)].bytes);
    }
  } catch (const ptx::PtxError&) {
    entries.clear();
  }
  return entries;
}

/// The argument for parameter `number` of a kernel. The parameter has `bytes` bytes. A parameter of
/// pointer size (8 bytes) gets a buffer, which is uninitialised for parameters 2, 5, 8, …; other
/// parameters get the number 33. If the PTX has the comment "textures", parameter 0, if it has
/// pointer size, gets a texture of one or two dimensions instead.
KernelArgument argument_of(VirtualDevice& device, std::uint64_t bytes, std::size_t number,
                           std::size_t texture_height) {
  if (bytes != 8) {
    ScalarArgument scalar = ScalarArgument::of(std::uint32_t{33});
    scalar.bytes.resize(std::min<std::uint64_t>(bytes, 8));
    return scalar;
  }
  const BufferId buffer = device.memory().allocate(
      {"argument" + std::to_string(number), kBufferBytes, number % 3 != 0});
  if (number % 3 != 2) device.memory().fill(buffer, std::byte{0x3c});
  if (number == 0 && texture_height != kNoTexture) {
    return device.textures()->make_texture(
        {.name = "texture",
         .width = 16,
         .height = texture_height,
         .linear_filter = texture_height != 0,
         .address = {TextureAddress::kMirror, TextureAddress::kWrap},
         .normalized_coordinates = true},
        buffer);
  }
  return buffer;
}

void run_entry(VirtualDevice& device, const std::string& text, const std::string& name,
               const std::vector<std::uint64_t>& parameters) {
  const auto loaded = device.load({.ptx = text, .cubin = {}, .entries = {name}});
  if (std::holds_alternative<Fault>(loaded)) return;
  const KernelId kernel = std::get<KernelId>(loaded);
  const bool has_textures = text.find("// textures") != std::string::npos;
  const std::size_t height = text.find("tex.2d") == std::string::npos ? 0 : 16;
  std::vector<KernelArgument> arguments;
  for (const std::uint64_t bytes : parameters)
    arguments.push_back(
        argument_of(device, bytes, arguments.size(), has_textures ? height : kNoTexture));
  const LaunchConfig config = launch_of(text);
  if (!device.launch(kernel, config, arguments))
    (void)device.predicting()->predict_us(kernel, config, arguments);
  device.unload(kernel);
}

}  // namespace

void run_ptx(std::string_view input) {
  const std::string text(input);
  for (const auto& [name, parameters] : entries_of(text)) {
    const auto device = open_virtual_device(
        "virtual:h200",
        {.threads = 1, .stall_budget = kMostInstructions, .issue_budget = kMostInstructions});
    run_entry(*device, text, name, parameters);
  }
}

}  // namespace evo::fuzz
