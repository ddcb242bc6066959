#pragma once

#include <nlohmann/json.hpp>

#include "engine/worker/session.hpp"

// What travels between the coordinator and a device worker, as JSON and back.

namespace evo {

void to_json(nlohmann::json& json, const SessionSetup& setup);
void from_json(const nlohmann::json& json, SessionSetup& setup);
void to_json(nlohmann::json& json, const KernelUnderTest& kernel);
void from_json(const nlohmann::json& json, KernelUnderTest& kernel);
void to_json(nlohmann::json& json, const CorrectnessResult& result);
void from_json(const nlohmann::json& json, CorrectnessResult& result);
void to_json(nlohmann::json& json, const TimingResult& result);
void from_json(const nlohmann::json& json, TimingResult& result);
void to_json(nlohmann::json& json, const EnergyResult& result);
void from_json(const nlohmann::json& json, EnergyResult& result);
void to_json(nlohmann::json& json, const PredictedProfile& result);
void from_json(const nlohmann::json& json, PredictedProfile& result);
void to_json(nlohmann::json& json, const PairResult& result);
void from_json(const nlohmann::json& json, PairResult& result);

}  // namespace evo
