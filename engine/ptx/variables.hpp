#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace evo {

/// The `__constant__` variables without a value that the kernel `symbol` reads, itself or in what
/// it calls, as C++ names them ("ns::filter"). On a device they are zero until a host copies
/// something to them. PTX does not tell a variable that is given zeros from one that is given
/// nothing.
[[nodiscard]] std::vector<std::string> unset_constants(std::string_view ptx,
                                                       const std::string& symbol);

/// The symbol of the `__constant__` variable that C++ names `name`; nothing where there is none.
[[nodiscard]] std::optional<std::string> constant_symbol(std::string_view ptx,
                                                         std::string_view name);

/// A variable of a module as C++ names it: "ns::filter" of "_ZN2ns6filterE".
[[nodiscard]] std::string variable_name(const std::string& symbol);

/// The `__device__` variables without a value that the kernel `symbol` can reach and that the
/// module reads, but never writes nor gives away, as C++ names them: nothing sets them, and they
/// are zeros.
[[nodiscard]] std::vector<std::string> variables_only_read(std::string_view ptx,
                                                           const std::string& symbol);

}  // namespace evo
