#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace evo {

/// The elements of a C++ type as a type of problem files and a number of lanes.
struct ElementType {
  std::string_view dtype = {};  ///< "f32"; empty: none
  int lanes = 1;                ///< 4 for float4
  std::size_t bytes = 0;        ///< size of all lanes
};

/// The elements of a C++ type, ignoring a pointer and const: "float const*", "unsigned int",
/// "__half2*". The dtype is empty for a pointer to pointers.
[[nodiscard]] ElementType element_type(std::string_view type);

/// The elements of a type that a T1 file names: "float", "int32", "float4".
[[nodiscard]] ElementType t1_element_type(std::string_view type);

/// True if `dtype` names an integer type of problem files; false for a TODO.
[[nodiscard]] bool is_integer_type(std::string_view dtype);

}  // namespace evo
