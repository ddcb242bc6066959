#include <new>
#include <random>
#include <stdexcept>

#include "docs/examples/exported_kernel.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/fuzz/scratch_folder.hpp"

namespace evo::fuzz {
namespace {

/// Whether the arguments of a manifest fit into a fuzzer's memory; what is no number does.
bool is_small(const nlohmann::json& json) {
  constexpr double kMostElements = 1 << 16;
  if (!json.contains("arguments") || !json.at("arguments").is_array()) return true;
  double total = 0;
  for (const nlohmann::json& argument : json.at("arguments")) {
    const nlohmann::json extent =
        argument.is_object() ? argument.value("extent", nlohmann::json()) : nlohmann::json();
    if (extent.is_object() && extent.contains("value") && extent.at("value").is_number())
      total += extent.at("value").get<double>();
  }
  return !(total > kMostElements && total < 1e13);
}

}  // namespace

void run_manifest(std::string_view input) {
  static const ScratchFolder folder;
  static const auto cubin = folder.write("kernel.cubin", "a cubin");
  const auto file = folder.write("kernel.json", input);
  try {
    const Manifest manifest(file.string());
    if (!is_small(manifest.json)) return;
    std::mt19937_64 random(1);
    for (const KernelArgument& argument : manifest.make_arguments(random)) {
      if (argument.bytes.size() % element_size(argument.dtype) != 0)
        throw std::logic_error("half an element");
      if (!argument.bytes.empty()) (void)decode(argument.dtype, argument.bytes.data());
    }
    (void)manifest.variable("B");
  } catch (const std::runtime_error&) {
    return;  // refused with a message
  } catch (const nlohmann::json::exception&) {
    return;  // a key that is missing, or of another type
  }
}

}  // namespace evo::fuzz
