// SPDX-License-Identifier: BSD-3-Clause
// All functions that mpi.h declares, in a table for calls with computed arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/ranks/check.h"

using Word = std::uintptr_t;

struct Parameter {
    std::string_view type, name;
    bool is(std::string_view words) const {   ///< whether `words` contains the name, with a blank on each side
        std::string const word = " " + std::string(name) + " ";
        return words.find(word) != words.npos;
    }
};

struct Function {
    std::string_view name;
    int (*call)(Word const*);
    std::vector<Parameter> parameters;
    bool starts(std::string_view with) const { return name.substr(0, with.size()) == with; }
    bool ends(std::string_view with) const {
        return name.size() >= with.size() && name.substr(name.size() - with.size()) == with;
    }
};

template <class T>
T converted(Word w) {
    if constexpr (std::is_pointer_v<T>) return reinterpret_cast<T>(w);
    else return static_cast<T>(w);
}

template <auto function>
struct Erased;
template <class R, class... P, R (*function)(P...)>
struct Erased<function> {
    template <std::size_t... i>
    static int with(Word const* words, std::index_sequence<i...>) {
        (void)words;
        if constexpr (std::is_same_v<R, int>) return function(converted<P>(words[i])...);
        else return function(converted<P>(words[i])...), MPI_SUCCESS;
    }
    static int call(Word const* words) { return with(words, std::index_sequence_for<P...>{}); }
};
template <int (*function)(int, ...)>
struct Erased<function> {   // MPI_Pcontrol
    static int call(Word const* words) { return function(static_cast<int>(words[0])); }
};

inline Function const functions[] = {
#define PARAMETER(type, name) {#type, #name},
#define FUNCTION(name, parameters) {#name, Erased<&name>::call, {parameters}},
#include "prototypes.inc"
#undef FUNCTION
#undef PARAMETER
};
