#include <new>
#include <random>
#include <stdexcept>

#include "docs/examples/exported_kernel.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/fuzz/scratch_folder.hpp"

namespace evo::fuzz {

void run_manifest(std::string_view input) {
  static const ScratchFolder folder;
  static const auto cubin = folder.write("kernel.cubin", "a cubin");
  const auto file = folder.write("kernel.json", input);
  try {
    const Manifest manifest(file.string());
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
