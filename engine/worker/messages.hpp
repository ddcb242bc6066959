#pragma once

#include <nlohmann/json.hpp>

#include "engine/compile/compiler.hpp"
#include "engine/compile/file_watch.hpp"
#include "engine/core/card_state.hpp"
#include "engine/core/measurement.hpp"
#include "engine/core/rejection.hpp"
#include "engine/device/device.hpp"

// The values that travel between the coordinator and its workers, as JSON and back. Decoding throws
// nlohmann::json::exception on a message of another shape.

namespace evo {

void to_json(nlohmann::json& json, const Resources& resources);
void from_json(const nlohmann::json& json, Resources& resources);
void to_json(nlohmann::json& json, const Rejection& rejection);
void from_json(const nlohmann::json& json, Rejection& rejection);
void to_json(nlohmann::json& json, const Timing& timing);
void from_json(const nlohmann::json& json, Timing& timing);
void to_json(nlohmann::json& json, const CardState& state);
void from_json(const nlohmann::json& json, CardState& state);
void to_json(nlohmann::json& json, const Energy& energy);
void from_json(const nlohmann::json& json, Energy& energy);
void to_json(nlohmann::json& json, const CheckResult& check);
void from_json(const nlohmann::json& json, CheckResult& check);
void to_json(nlohmann::json& json, const DeviceInfo& info);
void from_json(const nlohmann::json& json, DeviceInfo& info);
void to_json(nlohmann::json& json, const KernelImage& image);
void from_json(const nlohmann::json& json, KernelImage& image);
void to_json(nlohmann::json& json, const CompileRequest& request);
void from_json(const nlohmann::json& json, CompileRequest& request);
void to_json(nlohmann::json& json, const Compiled& compiled);
void from_json(const nlohmann::json& json, Compiled& compiled);
void to_json(nlohmann::json& json, const CompilerFailure& failure);
void from_json(const nlohmann::json& json, CompilerFailure& failure);
void to_json(nlohmann::json& json, const Dependency& dependency);
void from_json(const nlohmann::json& json, Dependency& dependency);

}  // namespace evo
