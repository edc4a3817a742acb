// SPDX-License-Identifier: BSD-3-Clause
// A function's name as its programmer wrote it, from what the compiler has made of it.
#pragma once

#include <string>

namespace tutti::launcher {

/// `symbol` as the linker knows it: "solver::step()" without arguments and template arguments of what it returns,
/// "a lambda in main()", "step() of module mesh" and "main program" of Fortran. `name` is what debug information calls
/// it, or empty: taken where the symbol is of C, or unknown.
std::string function_name(std::string const& symbol, std::string const& name = {});

}   // namespace tutti::launcher
