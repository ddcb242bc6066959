#pragma once

// What the files that are compiled once for each instruction set include before they switch to it.

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/device/virtual/alu_table.hpp"
#include "engine/device/virtual/program.hpp"
#include "engine/device/virtual/simd_tables.hpp"
#include "engine/device/virtual/small_floats.hpp"
#include "engine/device/virtual/warp.hpp"
