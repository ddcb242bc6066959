#include "engine/worker/session_messages.hpp"

#include "engine/worker/messages.hpp"
#include "engine/worker/optional_json.hpp"

namespace evo {

void to_json(nlohmann::json& json, const SessionSetup& setup) {
  json = {{"problem_text", setup.problem_text},
          {"problem_folder", setup.problem_folder},
          {"template", setup.template_name},
          {"reference", setup.reference},
          {"reference_macros", setup.reference_macros},
          {"check_kernels", setup.check_kernels},
          {"check_seed", setup.check_seed},
          {"seeds", setup.correctness.seeds},
          {"flops_for_all_seeds", setup.correctness.flops_for_all_seeds},
          {"flops_of_whole_grids", setup.correctness.flops_of_whole_grids},
          {"flops_of_screening", setup.correctness.flops_of_screening},
          {"flops_of_all_shapes", setup.correctness.flops_of_all_shapes},
          {"least_samples", setup.timing.stopping.least_samples},
          {"most_samples", setup.timing.stopping.most_samples},
          {"relative_interval", setup.timing.stopping.relative_interval},
          {"warmups", setup.timing.warmups},
          {"sample_us", setup.timing.sample_us},
          {"input_sets", setup.timing.input_sets},
          {"cold", setup.timing.cold}};
}

void from_json(const nlohmann::json& json, SessionSetup& setup) {
  json.at("problem_text").get_to(setup.problem_text);
  json.at("problem_folder").get_to(setup.problem_folder);
  json.at("template").get_to(setup.template_name);
  json.at("reference").get_to(setup.reference);
  json.at("reference_macros").get_to(setup.reference_macros);
  json.at("check_kernels").get_to(setup.check_kernels);
  json.at("check_seed").get_to(setup.check_seed);
  json.at("seeds").get_to(setup.correctness.seeds);
  json.at("flops_for_all_seeds").get_to(setup.correctness.flops_for_all_seeds);
  json.at("flops_of_whole_grids").get_to(setup.correctness.flops_of_whole_grids);
  json.at("flops_of_screening").get_to(setup.correctness.flops_of_screening);
  json.at("flops_of_all_shapes").get_to(setup.correctness.flops_of_all_shapes);
  json.at("least_samples").get_to(setup.timing.stopping.least_samples);
  json.at("most_samples").get_to(setup.timing.stopping.most_samples);
  json.at("relative_interval").get_to(setup.timing.stopping.relative_interval);
  json.at("warmups").get_to(setup.timing.warmups);
  json.at("sample_us").get_to(setup.timing.sample_us);
  json.at("input_sets").get_to(setup.timing.input_sets);
  json.at("cold").get_to(setup.timing.cold);
}

void to_json(nlohmann::json& json, const KernelUnderTest& kernel) {
  json = {{"key", kernel.key},
          {"image", kernel.image},
          {"macros", kernel.macros},
          {"shapes", kernel.shapes}};
}

void from_json(const nlohmann::json& json, KernelUnderTest& kernel) {
  json.at("key").get_to(kernel.key);
  json.at("image").get_to(kernel.image);
  json.at("macros").get_to(kernel.macros);
  json.at("shapes").get_to(kernel.shapes);
}

void to_json(nlohmann::json& json, const CorrectnessResult& result) {
  json = {{"checks", result.checks},
          {"device_lost", result.device_lost},
          {"complete", result.complete}};
  put_optional(json, "rejection", result.rejection);
  put_optional(json, "fault", result.fault);
}

void from_json(const nlohmann::json& json, CorrectnessResult& result) {
  json.at("checks").get_to(result.checks);
  result.rejection = get_optional<Rejection>(json, "rejection");
  result.fault = get_optional<FaultKind>(json, "fault");
  json.at("device_lost").get_to(result.device_lost);
  json.at("complete").get_to(result.complete);
}

void to_json(nlohmann::json& json, const TimingResult& result) {
  json = {
      {"device_lost", result.device_lost}, {"launches", result.launches}, {"aged", result.aged}};
  put_optional(json, "timing", result.timing);
  put_optional(json, "card", result.card);
  put_optional(json, "rejection", result.rejection);
}

void from_json(const nlohmann::json& json, TimingResult& result) {
  result.timing = get_optional<Timing>(json, "timing");
  result.card = get_optional<CardState>(json, "card");
  result.rejection = get_optional<Rejection>(json, "rejection");
  json.at("device_lost").get_to(result.device_lost);
  json.at("launches").get_to(result.launches);
  json.at("aged").get_to(result.aged);
}

void to_json(nlohmann::json& json, const EnergyResult& result) {
  json = {{"not_supported", result.not_supported}, {"device_lost", result.device_lost}};
  put_optional(json, "energy", result.energy);
  put_optional(json, "rejection", result.rejection);
}

void from_json(const nlohmann::json& json, EnergyResult& result) {
  json.at("not_supported").get_to(result.not_supported);
  json.at("device_lost").get_to(result.device_lost);
  result.energy = get_optional<Energy>(json, "energy");
  result.rejection = get_optional<Rejection>(json, "rejection");
}

void to_json(nlohmann::json& json, const PredictedProfile& result) {
  json = {{"percent", result.percent}, {"device_lost", result.device_lost}};
  put_optional(json, "rejection", result.rejection);
}

void from_json(const nlohmann::json& json, PredictedProfile& result) {
  json.at("percent").get_to(result.percent);
  json.at("device_lost").get_to(result.device_lost);
  result.rejection = get_optional<Rejection>(json, "rejection");
}

void to_json(nlohmann::json& json, const PairResult& result) {
  json = {{"ratio", result.ratio},
          {"low", result.interval.low},
          {"high", result.interval.high},
          {"first_us", result.first_us},
          {"second_us", result.second_us},
          {"pairs", result.pairs},
          {"failed_first", result.failed_first},
          {"device_lost", result.device_lost}};
  put_optional(json, "rejection", result.rejection);
}

void from_json(const nlohmann::json& json, PairResult& result) {
  json.at("ratio").get_to(result.ratio);
  json.at("low").get_to(result.interval.low);
  json.at("high").get_to(result.interval.high);
  json.at("first_us").get_to(result.first_us);
  json.at("second_us").get_to(result.second_us);
  json.at("pairs").get_to(result.pairs);
  json.at("failed_first").get_to(result.failed_first);
  json.at("device_lost").get_to(result.device_lost);
  result.rejection = get_optional<Rejection>(json, "rejection");
}

}  // namespace evo
