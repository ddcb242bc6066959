#pragma once

#include "engine/core/machine_facts.hpp"
#include "engine/worker/json_fields.hpp"

// Converts the facts that a worker sends when it surveys a machine to and from JSON.

namespace evo {

EVO_JSON_WITH_OPTIONAL_FIELDS(GpuSlice, name, uuid, memory_bytes)
EVO_JSON_WITH_OPTIONAL_FIELDS(GpuFacts, name, uuid, bus_id, arch, memory_bytes, free_bytes,
                              sm_clock_mhz, most_sm_clock_mhz, application_clock_mhz,
                              default_application_clock_mhz, held_at_application_clock,
                              compute_mode, mig, slices, processes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NvmlFacts, library, failure, driver, cuda, gpus)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CudaGpu, ordinal, name, uuid, bus_id, arch, memory_bytes,
                                   compute_mode)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CudaFacts, library, failure, cuda, gpus)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NvrtcFacts, library, failure, version, archs)

}  // namespace evo
