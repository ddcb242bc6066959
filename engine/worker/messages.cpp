#include "engine/worker/messages.hpp"

#include "engine/core/printable.hpp"
#include "engine/worker/frame.hpp"

namespace evo {

void make_printable(nlohmann::json& message) {
  if (message.is_string()) {
    message = printable(message.get_ref<const std::string&>());
  } else if (message.is_structured()) {
    for (nlohmann::json& member : message) make_printable(member);
  }
}

void to_json(nlohmann::json& json, const Rejection& rejection) {
  json = {{"gate", to_string(rejection.gate)},
          {"reason", rejection.reason},
          {"detail", rejection.detail},
          {"policy_only", rejection.policy_only}};
}

void from_json(const nlohmann::json& json, Rejection& rejection) {
  rejection.gate = gate_from_string(json.at("gate").get<std::string>());
  rejection.reason = printable(json.at("reason").get<std::string>());
  if (rejection.reason.empty()) rejection.reason = "no reason was given";
  rejection.detail = printable(json.at("detail").get<std::string>());
  json.at("policy_only").get_to(rejection.policy_only);
}

void to_json(nlohmann::json& json, const KernelImage& image) {
  json = {{"ptx", to_binary(image.ptx)},
          {"cubin", to_binary(image.cubin)},
          {"entries", image.entries},
          {"constants", image.constants}};
}

void from_json(const nlohmann::json& json, KernelImage& image) {
  image.ptx = from_binary(json.at("ptx"));
  image.cubin = from_binary(json.at("cubin"));
  json.at("entries").get_to(image.entries);
  json.at("constants").get_to(image.constants);
}

void to_json(nlohmann::json& json, const Compiled& compiled) {
  json = {{"ptx", to_binary(compiled.ptx)},
          {"cubin", to_binary(compiled.cubin)},
          {"log", compiled.log},
          {"ptx_hash", compiled.ptx_hash},
          {"resources", compiled.resources},
          {"compile_ms", compiled.compile_ms},
          {"packed_ptx", to_binary(compiled.packed_ptx)},
          {"packed_cubin", to_binary(compiled.packed_cubin)}};
}

void from_json(const nlohmann::json& json, Compiled& compiled) {
  compiled.ptx = from_binary(json.at("ptx"));
  compiled.cubin = from_binary(json.at("cubin"));
  json.at("log").get_to(compiled.log);
  json.at("ptx_hash").get_to(compiled.ptx_hash);
  json.at("resources").get_to(compiled.resources);
  json.at("compile_ms").get_to(compiled.compile_ms);
  compiled.packed_ptx = from_binary(json.at("packed_ptx"));
  compiled.packed_cubin = from_binary(json.at("packed_cubin"));
}

}  // namespace evo
