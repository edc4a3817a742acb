// SPDX-License-Identifier: BSD-3-Clause
#include "coll/match/functions.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace tutti::coll {
namespace {

enum class Returns { at_once, when_done };

struct Function {
    char const* name;
    std::string_view text;
    Returns returns;
};

constexpr Function noted_functions[] = {
#define FUNCTION(name, returns) {#name, #name, Returns::returns},
#include "coll/match/functions.def"
#undef FUNCTION
};
static_assert(std::size(noted_functions) < 256);
static_assert(std::is_sorted(std::begin(noted_functions), std::end(noted_functions),
                             [](Function const& a, Function const& b) { return a.text < b.text; }));

}   // namespace

std::uint8_t function_named(char const* name) {
    std::string_view const wanted = name;
    auto const* const at = std::lower_bound(std::begin(noted_functions), std::end(noted_functions), wanted,
                                            [](Function const& f, std::string_view text) { return f.text < text; });
    if (at == std::end(noted_functions) || at->text != wanted) return 0;
    return static_cast<std::uint8_t>(at - noted_functions + 1);
}

char const* function_name(std::uint8_t function) { return noted_functions[function - 1].name; }

bool function_waits(std::uint8_t function) { return noted_functions[function - 1].returns == Returns::when_done; }

}   // namespace tutti::coll
