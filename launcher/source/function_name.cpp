// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/source/function_name.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <cxxabi.h>

namespace tutti::launcher {
namespace {

constexpr std::string_view open_brackets = "([{<", close_brackets = ")]}>";

std::string demangled(std::string const& symbol) {
    int status = 0;
    std::unique_ptr<char, void (*)(void*)> const text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                      std::free);
    return text ? text.get() : "";
}

void remove_all(std::string& text, std::string_view part) {
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at)) text.erase(at, part.size());
}

/// Without "(arguments) const [clone .cold]"; as it is where nothing like that ends it.
std::string_view without_arguments(std::string_view text) {
    text = text.substr(0, text.find(" [clone"));
    std::size_t const last = text.rfind(')');
    if (last == text.npos) return text;
    int depth = 0;
    for (std::size_t at = last + 1; at-- > 0;) {
        depth += text[at] == ')' ? 1 : text[at] == '(' ? -1 : 0;
        if (depth == 0) return text.substr(0, at);
    }
    return text;
}

/// Where in no brackets `here(rest of the text)` holds for the first time.
template <class Here>
std::size_t find_outside_brackets(std::string_view text, Here here) {
    int depth = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (depth == 0 && here(text.substr(at))) return at;
        if (open_brackets.find(text[at]) != text.npos) ++depth;
        else if (close_brackets.find(text[at]) != text.npos) --depth;
    }
    return text.npos;
}

/// Templates are demangled with the type that they return in front of the name. An operator may have brackets and
/// spaces in its name.
std::string_view without_result(std::string_view text) {
    std::size_t begin = 0;
    find_outside_brackets(text, [&](std::string_view rest) {
        if (rest[0] == ' ') begin = text.size() - rest.size() + 1;
        return rest.starts_with("operator");
    });
    return text.substr(begin);
}

/// The function that a lambda is in, if this is its call: "main::{lambda(int)#1}::operator()", or of clang
/// "main::$_0::operator()<int>"; empty for others.
std::string_view around_lambda(std::string_view text) {
    std::size_t const lambda = find_outside_brackets(
        text, [](std::string_view rest) { return rest.starts_with("::{lambda") || rest.starts_with("::$_"); });
    return lambda == text.npos ? std::string_view() : without_result(without_arguments(text.substr(0, lambda)));
}

std::string of_cxx(std::string text) {
    remove_all(text, "(anonymous namespace)::");
    remove_all(text, "[abi:cxx11]");
    if (std::string_view const around = around_lambda(text); !around.empty())
        return "a lambda in " + std::string(around) + "()";
    return std::string(without_result(without_arguments(text))) + "()";
}

}   // namespace

std::string function_name(std::string const& symbol, std::string const& name) {
    if (symbol == "MAIN__") return "main program";   // gfortran and flang
    if (symbol.starts_with("_Z"))
        if (std::string const text = demangled(symbol); !text.empty()) return of_cxx(text);
    std::string const plain = symbol.substr(0, symbol.find('.'));   // of what is cloned: .part.0, ._omp_fn.0
    if (std::size_t const module = plain.find("_MOD_"); plain.starts_with("__") && module != plain.npos)
        return plain.substr(module + 5) + "() of module " + plain.substr(2, module - 2);
    if (!name.empty()) return name + "()";
    return plain.empty() ? plain : plain + "()";
}

}   // namespace tutti::launcher
