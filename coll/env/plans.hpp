// SPDX-License-Identifier: BSD-3-Clause
// What algorithms derive from the hierarchies of a communicator once for many calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "coll/env/arguments.hpp"
#include "coll/env/trees.hpp"

namespace tutti::coll {

/// The plans that one rank keeps for the calls of a communicator: at most max_kept; a new one then replaces the oldest.
/// A plan is immutable, and an operation in progress shares it, so it may be replaced at any time.
class Plans {
public:
    struct Plan {
        virtual ~Plan() = default;
    };
    /// The calls that have one plan: everything on which it may depend besides the rank.
    struct Shape {
        std::string_view algorithm;   ///< a literal, with the collective
        int root;                     ///< −1: the plan does not depend on the root
        int variant;                  ///< what else the algorithm distinguishes
        Trees const* trees;
        Values parameters;
        bool operator==(Shape const&) const = default;
    };
    static constexpr std::size_t max_kept = 64;

    /// Returns the plan for this shape. If there is none, make() returns it, as a std::shared_ptr.
    template <class P, class Make>
    std::shared_ptr<P const> find(Shape const& shape, Make make) {
        auto const kept = std::ranges::find(kept_, shape, &Kept::shape);
        if (kept != kept_.end()) return std::static_pointer_cast<P const>(kept->plan);
        std::shared_ptr<P const> plan = make();
        if (kept_.size() < max_kept) kept_.push_back({shape, plan});
        else kept_[made_ % max_kept] = {shape, plan};
        ++made_;
        return plan;
    }
    /// The number of plans made so far.
    std::size_t made() const { return made_; }

private:
    struct Kept {
        Shape shape;
        std::shared_ptr<Plan const> plan;
    };
    std::vector<Kept> kept_;
    std::size_t made_ = 0;
};

}   // namespace tutti::coll
