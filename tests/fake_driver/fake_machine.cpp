#include "tests/fake_driver/fake_machine.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace evo::fake_driver {
namespace {

using nlohmann::json;

template <typename T>
void read(const json& from, const char* key, T& to) {
  if (from.contains(key)) from.at(key).get_to(to);
}

Slice slice_in(const json& from) {
  Slice slice;
  read(from, "name", slice.name);
  read(from, "uuid", slice.uuid);
  read(from, "memory_mib", slice.memory_mib);
  return slice;
}

Card card_in(const json& from) {
  Card card;
  read(from, "name", card.name);
  read(from, "uuid", card.uuid);
  read(from, "bus", card.bus);
  read(from, "arch", card.arch);
  read(from, "sm_count", card.sm_count);
  read(from, "memory_mib", card.memory_mib);
  card.free_mib = card.memory_mib;
  read(from, "free_mib", card.free_mib);
  read(from, "sm_mhz", card.sm_mhz);
  read(from, "most_sm_mhz", card.most_sm_mhz);
  read(from, "application_mhz", card.application_mhz);
  read(from, "default_application_mhz", card.default_application_mhz);
  read(from, "held", card.held);
  read(from, "compute_mode", card.compute_mode);
  read(from, "context", card.context);
  read(from, "processes", card.processes);
  if (from.contains("mig")) card.mig = from.at("mig").get<bool>();
  for (const json& slice : from.value("slices", json::array())) {
    card.slices.push_back(slice_in(slice));
  }
  return card;
}

Machine read_machine() {
  const char* name = std::getenv("EVO_FAKE_MACHINE");
  std::ifstream file(name != nullptr ? name : "");
  if (!file) {
    std::fputs("fake driver: EVO_FAKE_MACHINE names no file\n", stderr);
    std::abort();
  }
  const json from = json::parse(file);
  Machine found;
  read(from, "cuda", found.cuda);
  read(from, "driver", found.driver);
  read(from, "cuda_init", found.cuda_init);
  read(from, "nvml_init", found.nvml_init);
  read(from, "cuda_does", found.cuda_does);
  read(from, "nvml_does", found.nvml_does);
  for (const json& card : from.value("cards", json::array())) found.cards.push_back(card_in(card));
  return found;
}

}  // namespace

const Machine& machine() {
  static const Machine the_machine = read_machine();
  return the_machine;
}

void misbehave(const std::string& how) {
  if (how == "crash") std::abort();
  while (how == "hang") pause();
}

}  // namespace evo::fake_driver
