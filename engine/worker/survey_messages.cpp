#include "engine/worker/survey_messages.hpp"

#include "engine/core/printable.hpp"
#include "engine/worker/optional_json.hpp"

namespace evo {
namespace {

std::string text_at(const nlohmann::json& json, const char* key) {
  return printable(json.at(key).get<std::string>());
}

std::vector<std::string> texts_at(const nlohmann::json& json, const char* key) {
  std::vector<std::string> texts;
  for (const nlohmann::json& text : json.at(key))
    texts.push_back(printable(text.get<std::string>()));
  return texts;
}

}  // namespace

void to_json(nlohmann::json& json, const CardSlice& slice) {
  json = {{"name", slice.name}, {"uuid", slice.uuid}};
  put_optional(json, "memory_bytes", slice.memory_bytes);
}

void from_json(const nlohmann::json& json, CardSlice& slice) {
  slice = {text_at(json, "name"), text_at(json, "uuid"),
           get_optional<std::uint64_t>(json, "memory_bytes")};
}

void to_json(nlohmann::json& json, const CardFacts& card) {
  json = {{"name", card.name},
          {"uuid", card.uuid},
          {"bus_id", card.bus_id},
          {"arch", card.arch},
          {"held_at_application_clock", card.held_at_application_clock},
          {"slices", card.slices},
          {"processes", card.processes}};
  put_optional(json, "memory_bytes", card.memory_bytes);
  put_optional(json, "free_bytes", card.free_bytes);
  put_optional(json, "sm_clock_mhz", card.sm_clock_mhz);
  put_optional(json, "most_sm_clock_mhz", card.most_sm_clock_mhz);
  put_optional(json, "application_clock_mhz", card.application_clock_mhz);
  put_optional(json, "default_application_clock_mhz", card.default_application_clock_mhz);
  put_optional(json, "compute_mode", card.compute_mode);
  put_optional(json, "mig", card.mig);
}

void from_json(const nlohmann::json& json, CardFacts& card) {
  card.name = text_at(json, "name");
  card.uuid = text_at(json, "uuid");
  card.bus_id = text_at(json, "bus_id");
  card.arch = text_at(json, "arch");
  card.memory_bytes = get_optional<std::uint64_t>(json, "memory_bytes");
  card.free_bytes = get_optional<std::uint64_t>(json, "free_bytes");
  card.sm_clock_mhz = get_optional<double>(json, "sm_clock_mhz");
  card.most_sm_clock_mhz = get_optional<double>(json, "most_sm_clock_mhz");
  card.application_clock_mhz = get_optional<double>(json, "application_clock_mhz");
  card.default_application_clock_mhz = get_optional<double>(json, "default_application_clock_mhz");
  json.at("held_at_application_clock").get_to(card.held_at_application_clock);
  card.compute_mode = get_optional<ComputeMode>(json, "compute_mode");
  card.mig = get_optional<bool>(json, "mig");
  json.at("slices").get_to(card.slices);
  card.processes = texts_at(json, "processes");
}

void to_json(nlohmann::json& json, const NvmlFacts& facts) {
  json = {{"library", facts.library},
          {"failure", facts.failure},
          {"driver", facts.driver},
          {"cuda", facts.cuda},
          {"cards", facts.cards}};
}

void from_json(const nlohmann::json& json, NvmlFacts& facts) {
  facts.library = text_at(json, "library");
  facts.failure = text_at(json, "failure");
  facts.driver = text_at(json, "driver");
  facts.cuda = text_at(json, "cuda");
  json.at("cards").get_to(facts.cards);
}

void to_json(nlohmann::json& json, const CudaCard& card) {
  json = {{"ordinal", card.ordinal},
          {"name", card.name},
          {"uuid", card.uuid},
          {"bus_id", card.bus_id},
          {"arch", card.arch},
          {"memory_bytes", card.memory_bytes},
          {"compute_mode", card.compute_mode}};
}

void from_json(const nlohmann::json& json, CudaCard& card) {
  json.at("ordinal").get_to(card.ordinal);
  card.name = text_at(json, "name");
  card.uuid = text_at(json, "uuid");
  card.bus_id = text_at(json, "bus_id");
  card.arch = text_at(json, "arch");
  json.at("memory_bytes").get_to(card.memory_bytes);
  json.at("compute_mode").get_to(card.compute_mode);
}

void to_json(nlohmann::json& json, const CudaFacts& facts) {
  json = {{"library", facts.library},
          {"failure", facts.failure},
          {"cuda", facts.cuda},
          {"cards", facts.cards}};
}

void from_json(const nlohmann::json& json, CudaFacts& facts) {
  facts.library = text_at(json, "library");
  facts.failure = text_at(json, "failure");
  facts.cuda = text_at(json, "cuda");
  json.at("cards").get_to(facts.cards);
}

void to_json(nlohmann::json& json, const NvrtcFacts& facts) {
  json = {{"library", facts.library},
          {"failure", facts.failure},
          {"version", facts.version},
          {"archs", facts.archs}};
}

void from_json(const nlohmann::json& json, NvrtcFacts& facts) {
  facts.library = text_at(json, "library");
  facts.failure = text_at(json, "failure");
  facts.version = text_at(json, "version");
  facts.archs = texts_at(json, "archs");
}

}  // namespace evo
