#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace evo {

/// The elements of a C++ type, in the terms of problem files.
struct ElementType {
  std::string_view dtype = {};  ///< "f32"; empty: none
  int lanes = 1;                ///< 4 for float4
  std::size_t bytes = 0;        ///< size of all lanes
};

/// For a C++ type, ignoring pointers and const: "float const*", "unsigned int", "__half2*". Empty
/// for pointers to pointers.
[[nodiscard]] ElementType element_type(std::string_view type);

/// For a type name in a T1 file: "float", "int32", "float4".
[[nodiscard]] ElementType t1_element_type(std::string_view type);

/// Whether `dtype` names an integer type of problem files. A placeholder names none.
[[nodiscard]] bool is_integer_type(std::string_view dtype);

}  // namespace evo
