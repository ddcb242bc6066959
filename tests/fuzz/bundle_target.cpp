#include <string>
#include <vector>

#include "tests/fuzz/fuzz_target.hpp"
#include "tests/fuzz/scratch_folder.hpp"
#include "tools/loader/evo_tune.hpp"

namespace evo::fuzz {

void run_bundle(std::string_view input) {
  static const ScratchFolder folder;
  const std::string rest(input);
  const auto file = folder.write("bundle.json", evo_tune::detail::index_head(rest) + rest);
  try {
    const evo_tune::Bundle bundle(file.parent_path().string());
    const evo_tune::Device device = {"NVIDIA H200", 90, 132, 232448};
    for (const double size : {1.0, 64.0, 0.5, -1.0, 1e18}) {
      const std::vector<double> shape(bundle.shape_variables().size(), size);
      try {
        (void)bundle.choose(shape, device);
      } catch (const evo_tune::Error&) {
        continue;  // no kernel for this shape
      }
    }
  } catch (const evo_tune::Error&) {
    return;  // rejected with a message
  }
}

}  // namespace evo::fuzz
