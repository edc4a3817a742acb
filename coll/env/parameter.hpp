// SPDX-License-Identifier: BSD-3-Clause
// An algorithm's parameters: how its record declares them, the values that a setting gives them, and these as the
// algorithm reads them in a call. The levels of the tree and the size of fragments are read by the choice and the call.
#pragma once

#include <array>
#include <cstddef>

namespace tutti::coll {

inline constexpr int max_levels = 8;   ///< of a hierarchy; the machine has at most five: l2, l3, numa, socket and all

enum class ParameterKind {
    bytes,      ///< 16K, 2M
    fragment,   ///< the same, of the fragments in which calls between nodes go (coll/call/fragments.hpp)
    number,
    numbers,     ///< a number for each level, as in per_level
    per_level,   ///< bytes for each level of the hierarchy, innermost first: 16K+64K; the last holds further out
    word,        ///< one of `words`; its value is its place among them
    hierarchy,   ///< levels as in TUTTI_HIERARCHY (numa+socket, flat): what env.hierarchy() is here
};

struct Parameter {
    char const* name;
    std::size_t fallback;
    char const* sentence;   ///< with its unit
    ParameterKind kind = ParameterKind::bytes;
    char const* words = nullptr;   ///< "one|packed|apart"
};

/// For the algorithms that follow env.hierarchy(). Its value is read by the choice, not by the algorithm.
inline constexpr Parameter hierarchy_parameter = {"hierarchy", 0, "levels of the tree, as in TUTTI_HIERARCHY",
                                                  ParameterKind::hierarchy};

/// For algorithms between nodes: fragments are operations of their own, so what one has on the links goes on while
/// another is inside the nodes. Its value is read by the call, not by the algorithm.
inline constexpr Parameter fragment_parameter = {
    "fragment", 262144, "bytes of a fragment of a large message, several of which are under way at once",
    ParameterKind::fragment};

/// The values of an algorithm's parameters, in its own order. What is no size per level is the same at all levels.
class Values {
public:
    static constexpr std::size_t most = 8;

    std::size_t operator[](std::size_t parameter) const { return of_[parameter][0]; }
    std::size_t at(std::size_t parameter, int level) const {
        return of_[parameter][static_cast<std::size_t>(level < max_levels ? level : max_levels - 1)];
    }
    /// For this level and all outside of it.
    void set(std::size_t parameter, std::size_t value, int from_level = 0) {
        for (auto level = static_cast<std::size_t>(from_level); level < max_levels; ++level)
            of_[parameter][level] = value;
    }
    bool operator==(Values const&) const = default;

private:
    std::array<std::array<std::size_t, max_levels>, most> of_{};
};

/// The same as a call sees them; they live with the choice.
class Parameters {
public:
    Parameters() = default;
    Parameters(Values const& values) : values_(&values) {}
    std::size_t operator[](std::size_t parameter) const { return (*values_)[parameter]; }
    std::size_t at(std::size_t parameter, int level) const { return values_->at(parameter, level); }

private:
    Values const* values_ = nullptr;
};

}   // namespace tutti::coll
