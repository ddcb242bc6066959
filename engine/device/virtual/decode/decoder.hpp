#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "engine/device/virtual/decode/program.hpp"
#include "engine/ptx/ast.hpp"

namespace evo::ptx {

/// Addresses of the module's global and constant variables.
using GlobalAddresses = std::map<std::string, std::uint64_t>;

/// Decodes an entry into a Program: inlines calls, resolves labels, stores constants and special
/// registers in ordinary registers, and lets registers that are never live at the same time share
/// slots. Throws PtxError ("not supported: … at line N") if the entry can reach an instruction that
/// the virtual GPU does not support.
[[nodiscard]] std::shared_ptr<const Program> decode_entry(const Module& module,
                                                          const std::string& entry,
                                                          const GlobalAddresses& globals);

}  // namespace evo::ptx
