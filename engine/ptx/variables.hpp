#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// C++ names, such as "ns::filter", of `__constant__` variables that have no initial value and that
/// the kernel `symbol`, or a function that it calls, reads. On a device, `__constant__` variables
/// without an initial value are zero until the host copies a value to them. Variables that are
/// initialised with zeros are included, because in PTX they look like variables without an initial
/// value.
[[nodiscard]] std::vector<std::string> unset_constants(std::string_view ptx,
                                                       const std::string& symbol);

/// The symbol of the `__constant__` variable whose C++ name is `name`; nullopt if there is none.
[[nodiscard]] std::optional<std::string> constant_symbol(std::string_view ptx,
                                                         std::string_view name);

/// The C++ name of a variable with the symbol `symbol`: "ns::filter" for "_ZN2ns6filterE".
[[nodiscard]] std::string variable_name(const std::string& symbol);

/// C++ names of the `__device__` variables that are always zero, because they have no initial
/// value, the module never writes them, and their addresses do not escape. Only variables that the
/// module reads and that the kernel `symbol` can reach are included.
[[nodiscard]] std::vector<std::string> variables_only_read(std::string_view ptx,
                                                           const std::string& symbol);

/// True if a launch of the kernel `symbol` may leave data in a `__device__` variable for later
/// launches, because the kernel can reach a variable that the module may write or whose address
/// escapes.
[[nodiscard]] bool may_keep_variables(std::string_view ptx, const std::string& symbol);

}  // namespace evo
