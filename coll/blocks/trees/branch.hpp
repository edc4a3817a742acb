// SPDX-License-Identifier: BSD-3-Clause
// Trees over the places 0 … n − 1 of a list of ranks, place 0 at the top. In all of them the places under a child
// follow each other, and the children of a place are given in ascending order: own operand first, then the children's,
// is the order of places. Turning the list round puts another rank at the top.
#pragma once

#include <vector>

namespace tutti::coll {

/// What one place has in a tree.
struct Branch {
    int parent = -1;             ///< −1 at the top
    int depth = 0;               ///< steps down from the top
    std::vector<int> children;
};

/// Place i is below i without its lowest bit; ⌈log2 n⌉ steps from end to end, and as many children at the top.
inline Branch binomial_branch(int place, int n) {
    Branch b;
    int const lowest = place & -place;
    if (place > 0) b.parent = place - lowest;
    for (int rest = place; rest > 0; rest &= rest - 1) ++b.depth;
    for (int bit = 1; (place == 0 || bit < lowest) && bit < n - place; bit *= 2) b.children.push_back(place + bit);
    return b;
}

/// At most two children each, in ⌊log2 n⌋ steps: the first half of those below follows its child, then the second.
inline Branch binary_branch(int place, int n) {
    Branch b;
    int top = 0;
    for (int first = n / 2; top != place; first = n / 2) {   // of the n − 1 places under `top`
        b.parent = top;
        ++b.depth;
        bool const in_first = place <= top + first;
        top += in_first ? 1 : 1 + first;
        n = in_first ? first : n - 1 - first;
    }
    if (n > 1) b.children.push_back(place + 1);
    if (n > 2) b.children.push_back(place + 1 + n / 2);
    return b;
}

/// A line.
inline Branch chain_branch(int place, int n) {
    Branch b{.parent = place - 1, .depth = place, .children = {}};
    if (place + 1 < n) b.children.push_back(place + 1);
    return b;
}

/// Everybody directly below the top.
inline Branch star_branch(int place, int n) {
    Branch b{.parent = place > 0 ? 0 : -1, .depth = place > 0, .children = {}};
    for (int child = 1; place == 0 && child < n; ++child) b.children.push_back(child);
    return b;
}

}  // namespace tutti::coll
