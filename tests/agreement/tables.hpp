#pragma once

#include <filesystem>

#include "engine/compile/compiler.hpp"
#include "engine/device/device.hpp"

namespace evo::agreement {

/// Runs ex2.approx and rcp.approx of a device over whole ranges, and writes the difference of each
/// result from the exactly rounded one in units of the last place: a gzip file of MessagePack, with
/// one array of signed bytes for each kernel table_… of approximations.cu. The file is for studying
/// these functions; no test reads it.
void write_tables(const std::filesystem::path& root, Device& device, Compiler& compiler,
                  const std::filesystem::path& file);

}  // namespace evo::agreement
