#pragma once

#include <filesystem>

#include "engine/compile/compiler.hpp"
#include "engine/device/device.hpp"

namespace evo::agreement {

/// Runs the kernels table_… of approximations.cu (ex2.approx and rcp.approx) on a device, and
/// writes the error of each result, that is, its difference from the correctly rounded result in
/// units of the last place, limited to ±127. The file is a gzip file of MessagePack with an array
/// of signed bytes for each kernel. The file is for studying ex2.approx and rcp.approx; no test
/// reads it.
void write_tables(const std::filesystem::path& root, Device& device, Compiler& compiler,
                  const std::filesystem::path& file);

}  // namespace evo::agreement
