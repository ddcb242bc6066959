#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace evo {

/// What a C++ type is made of, in the words of problem files.
struct ElementType {
  std::string_view dtype = {};  ///< "f32"; empty: there is none
  int lanes = 1;                ///< 4 in a float4
  std::size_t bytes = 0;        ///< of all lanes
};

/// Of a C++ type, pointers to it and const left out: "float const*", "unsigned int", "__half2*".
/// Nothing for pointers to pointers.
[[nodiscard]] ElementType element_type(std::string_view type);

/// Of the name that a T1 file gives a type: "float", "int32", "float4".
[[nodiscard]] ElementType t1_element_type(std::string_view type);

}  // namespace evo
