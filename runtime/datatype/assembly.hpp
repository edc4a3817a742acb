// SPDX-License-Identifier: BSD-3-Clause
// Puts copies of types at displacements and works out the bounds of the whole (MPI 3.1, 4.1.6 to 4.1.8). Bounds that a
// user set win over those of data. Private to type_builder.cpp and type_arrays.cpp.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "runtime/datatype/builder.hpp"
#include "runtime/datatype/bytes.hpp"
#include "runtime/datatype/layout/layout.hpp"

namespace tutti {

class TypeBuilder::Assembly {
public:
    struct Loop {
        std::int64_t count, stride;
    };

    /// Copies of `old` in nested loops, the innermost first, the first copy at `at`.
    void add(Datatype const& old, std::initializer_list<Loop> loops, std::int64_t at) {
        std::int64_t low = type_bytes(at), high = low, total = 1;
        for (Loop loop : loops) {
            if (loop.count == 0) return;
            std::int64_t const span = type_product(loop.count - 1, loop.stride);
            std::int64_t& end = span < 0 ? low : high;
            end = type_sum(end, span);
            total = type_product(total, loop.count);
        }
        add_bounds(old, low, high);
        if (old.size_ == 0) return;
        size_ = type_sum(size_, type_product(old.size_, total));
        add_layout(old.layout_, loops, at);
        signatures_.add(old.signature_, total);
    }

    /// `padded`: the upper bound is rounded up to the alignment, as C pads a struct, unless the user set a bound.
    Type finish(bool padded) {
        Type type = Type::adopt(new Datatype);
        type->size_ = size_;
        type->alignment_ = alignment_;
        type->marked_lb_ = marked_lb_.has_value();
        type->marked_ub_ = marked_ub_.has_value();
        type->true_lb_ = true_lb_.value_or(0);
        type->true_extent_ = true_ub_.value_or(0) - type->true_lb_;
        std::int64_t lb = marked_lb_.value_or(lb_.value_or(0));
        std::int64_t ub = marked_ub_.value_or(ub_.value_or(0));   // 0, as MPICH has it, when only MPI_LB is there
        if (padded && !marked_lb_ && !marked_ub_) ub += (alignment_ - (ub - lb) % alignment_) % alignment_;
        type->layout_ = layouts_.finish();
        type->signature_ = signatures_.finish();
        type->digest_ = TypeDigest::of(type->signature_.get());
        set_bounds(*type, lb, ub);
        return type;
    }

private:
    using Bound = std::optional<std::int64_t>;

    static void lower(Bound& bound, std::int64_t value) { bound = std::min(bound.value_or(value), value); }
    static void raise(Bound& bound, std::int64_t value) { bound = std::max(bound.value_or(value), value); }

    void add_bounds(Datatype const& old, std::int64_t low, std::int64_t high) {
        bool const data = old.size_ > 0;
        if (old.marked_lb_) lower(marked_lb_, type_sum(low, old.lb_));
        else if (data) lower(lb_, type_sum(low, old.lb_));
        if (old.marked_ub_) raise(marked_ub_, type_sum(high, old.lb_ + old.extent_));
        else if (data) raise(ub_, type_sum(high, old.lb_ + old.extent_));
        if (!data) return;
        lower(true_lb_, type_sum(low, old.true_lb_));
        raise(true_ub_, type_sum(high, old.true_lb_ + old.true_extent_));
        alignment_ = std::max(alignment_, old.alignment_);
    }

    void add_layout(TypeLayout::Ref layout, std::initializer_list<Loop> loops, std::int64_t at) {
        // The commonest case without a node per block: blocks of gapless data.
        if (loops.size() == 1 && layout->form == TypeLayout::Form::run && loops.begin()->stride == layout->size)
            return layouts_.add_run(at + layout->at, loops.begin()->count * layout->size);
        for (Loop loop : loops) layout = TypeLayout::repeat(layout, loop.count, loop.stride);
        layouts_.add(layout, at);
    }

    LayoutList layouts_;
    SignatureList signatures_;
    std::int64_t size_ = 0, alignment_ = 1;
    Bound lb_, ub_, marked_lb_, marked_ub_, true_lb_, true_ub_;
};

}   // namespace tutti
