#pragma once

#include <nlohmann/json.hpp>

#include "engine/core/machine_facts.hpp"

// The facts that a worker sends when it surveys a machine, as JSON and back. Texts come from
// drivers: they arrive as text that a terminal shows.

namespace evo {

void to_json(nlohmann::json& json, const NvmlFacts& facts);
void from_json(const nlohmann::json& json, NvmlFacts& facts);
void to_json(nlohmann::json& json, const CudaFacts& facts);
void from_json(const nlohmann::json& json, CudaFacts& facts);
void to_json(nlohmann::json& json, const NvrtcFacts& facts);
void from_json(const nlohmann::json& json, NvrtcFacts& facts);

}  // namespace evo
