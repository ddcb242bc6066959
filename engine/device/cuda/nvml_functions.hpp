#pragma once

// Declarations of NVML's types, constants and functions that this folder uses, from the NVML API
// reference (https://docs.nvidia.com/deploy/nvml-api), so that no NVML header is needed. NVML's
// binary interface is stable. NvmlLibrary::find_all() names the functions. "…_v2" means that the
// function's name ends with _v2, the version of the structures that the function uses.

namespace evo::nvml {

using Device = struct nvmlDevice_st*;

// nvmlReturn_t
inline constexpr int kSuccess = 0;
inline constexpr int kNoPermission = 4;
inline constexpr int kInsufficientSize = 7;
inline constexpr int kDriverNotLoaded = 9;
inline constexpr int kLibraryMismatch = 18;  ///< versions of library and kernel module differ

// nvmlClockType_t
inline constexpr int kClockSm = 1;
inline constexpr int kClockMemory = 2;

// nvmlTemperatureSensors_t
inline constexpr int kTemperatureGpu = 0;

// nvmlClocksEventReason*
inline constexpr unsigned long long kApplicationClocks = 0x02;
inline constexpr unsigned long long kSwPowerCap = 0x04;
inline constexpr unsigned long long kHwSlowdown = 0x08;
inline constexpr unsigned long long kSwThermalSlowdown = 0x20;
inline constexpr unsigned long long kHwThermalSlowdown = 0x40;
inline constexpr unsigned long long kHwPowerBrakeSlowdown = 0x80;

/// nvmlUtilization_t; the members are percentages.
struct Utilization {
  unsigned gpu;
  unsigned memory;
};

/// nvmlMemory_t; the members are numbers of bytes.
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

/// nvmlPciInfo_t.
struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  char bus_id[32];
};

/// nvmlProcessInfo_v2_t, which nvmlDeviceGetComputeRunningProcesses_v3 fills.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

using Init = int (*)();                                         // nvmlInit_v2
using Shutdown = int (*)();                                     // nvmlShutdown
using GetHandleByPciBusId = int (*)(const char*, Device*);      // …_v2
using GetClockInfo = int (*)(Device, int, unsigned*);           // MHz
using GetEventReasons = int (*)(Device, unsigned long long*);   // bits of the reasons above
using GetTemperature = int (*)(Device, int, unsigned*);         // °C
using GetPowerUsage = int (*)(Device, unsigned*);               // mW
using GetTotalEnergy = int (*)(Device, unsigned long long*);    // mJ since the driver was loaded
using GetUtilization = int (*)(Device, Utilization*);           // percent
using GetProcesses = int (*)(Device, unsigned*, ProcessInfo*);  // …_v3
using GetText = const char* (*)(int);                           // nvmlErrorString
using GetSystemText = int (*)(char*, unsigned);                 // driver version
using GetNumber = int (*)(int*);                                // …_v2: 12040 is CUDA 12.4
using GetCount = int (*)(unsigned*);                            // …_v2
using GetHandleByIndex = int (*)(unsigned, Device*);            // …_v2
using GetDeviceText = int (*)(Device, char*, unsigned);         // name, UUID
using GetPciInfo = int (*)(Device, PciInfo*);                   // …_v3
using GetMemory = int (*)(Device, Memory*);                     // without suffix
using GetCapability = int (*)(Device, int*, int*);              // major, minor
using GetDeviceNumber = int (*)(Device, int*);                  // nvmlComputeMode_t
using GetMigMode = int (*)(Device, unsigned*, unsigned*);       // modes now and after a reset
using GetDeviceCount = int (*)(Device, unsigned*);
using GetSliceByIndex = int (*)(Device, unsigned, Device*);

}  // namespace evo::nvml
