#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace evo {

/// The elements of a C++ type: their type in problem files, and how many (lanes) a value has.
struct ElementType {
  std::string_view dtype = {};  ///< "f32"; empty: none
  int lanes = 1;                ///< 4 for float4
  std::size_t bytes = 0;        ///< size of all lanes
};

/// The type of the elements of a C++ type, after const and one pointer are dropped: f32 for "float
/// const*", u32 for "unsigned int", two lanes of f16 for "__half2*". The dtype is empty for an
/// unknown type and for a pointer to pointers.
[[nodiscard]] ElementType element_type(std::string_view type);

/// The type of the elements for a type name of a T1 file: "float", "int32", "float4".
[[nodiscard]] ElementType t1_element_type(std::string_view type);

/// True if `dtype` names an integer type of problem files; false for a text "TODO: …".
[[nodiscard]] bool is_integer_type(std::string_view dtype);

}  // namespace evo
