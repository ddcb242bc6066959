#pragma once

// Includes the headers that a file compiled once for each instruction set needs before
// simd_target.hpp.

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/device/virtual/arithmetic/alu_table.hpp"
#include "engine/device/virtual/arithmetic/simd_tables.hpp"
#include "engine/device/virtual/arithmetic/small_floats.hpp"
#include "engine/device/virtual/decode/program.hpp"
#include "engine/device/virtual/execute/warp.hpp"
