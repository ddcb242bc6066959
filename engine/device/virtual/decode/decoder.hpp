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

/// Turns the entry into a dense program: calls are inlined, labels resolved, operands made
/// registers, registers with disjoint lifetimes put into one slot. Throws PtxError for an
/// instruction the entry can reach and this virtual GPU does not support ("not supported: … at line
/// N").
[[nodiscard]] std::shared_ptr<const Program> decode_entry(const Module& module,
                                                          const std::string& entry,
                                                          const GlobalAddresses& globals);

}  // namespace evo::ptx
