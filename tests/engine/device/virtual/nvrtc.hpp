#pragma once

#include <string>
#include <vector>

namespace evo::test {

/// Whether NVRTC can be opened on this machine; otherwise tests are skipped.
[[nodiscard]] bool has_nvrtc();

/// PTX of `source` for `arch`, for example "compute_89". Throws std::runtime_error with the
/// compiler's log if the source does not compile.
[[nodiscard]] std::string compile_to_ptx(const std::string& source, const std::string& arch,
                                         std::vector<std::string> options = {});

}  // namespace evo::test
