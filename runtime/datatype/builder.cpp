// SPDX-License-Identifier: BSD-3-Clause
// Constructors of datatypes: predefined types, blocks at displacements, and parts of arrays.
#include "runtime/datatype/builder.hpp"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "runtime/datatype/datatype.hpp"
#include "runtime/datatype/layout.hpp"

// Collects copies of types at displacements and computes the bounds of the whole (MPI 3.1, 4.1.6 to 4.1.8). Bounds that
// the user set explicitly take precedence over those of the data.

namespace tutti {

class TypeBuilder::Assembly {
public:
    struct Loop {
        std::int64_t count, stride;
    };

    /// Adds copies of `old` in nested loops, innermost first, the first copy at `at`.
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

    /// `padded`: rounds the upper bound up to the alignment, as C pads a struct, unless the user set a bound.
    Type finish(bool padded) {
        Type type = Type::adopt(new Datatype);
        type->size_ = size_;
        type->alignment_ = alignment_;
        type->explicit_lb_ = explicit_lb_.has_value();
        type->explicit_ub_ = explicit_ub_.has_value();
        type->true_lb_ = true_lb_.value_or(0);
        type->true_extent_ = true_ub_.value_or(0) - type->true_lb_;
        std::int64_t lb = explicit_lb_.value_or(lb_.value_or(0));
        std::int64_t ub = explicit_ub_.value_or(ub_.value_or(0));   // 0, as in MPICH, if there is only MPI_LB
        if (padded && !explicit_lb_ && !explicit_ub_) ub += (alignment_ - (ub - lb) % alignment_) % alignment_;
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
        if (old.explicit_lb_) lower(explicit_lb_, type_sum(low, old.lb_));
        else if (data) lower(lb_, type_sum(low, old.lb_));
        if (old.explicit_ub_) raise(explicit_ub_, type_sum(high, old.lb_ + old.extent_));
        else if (data) raise(ub_, type_sum(high, old.lb_ + old.extent_));
        if (!data) return;
        lower(true_lb_, type_sum(low, old.true_lb_));
        raise(true_ub_, type_sum(high, old.true_lb_ + old.true_extent_));
        alignment_ = std::max(alignment_, old.alignment_);
    }

    void add_layout(TypeLayout::Ref layout, std::initializer_list<Loop> loops, std::int64_t at) {
        // Avoids a layout node per block in the most common case: contiguous blocks of data without gaps.
        if (loops.size() == 1 && layout->form == TypeLayout::Form::run && loops.begin()->stride == layout->size)
            return layouts_.add_run(at + layout->at, loops.begin()->count * layout->size);
        for (Loop loop : loops) layout = TypeLayout::repeat(layout, loop.count, loop.stride);
        layouts_.add(layout, at);
    }

    LayoutList layouts_;
    SignatureList signatures_;
    std::int64_t size_ = 0, alignment_ = 1;
    Bound lb_, ub_, explicit_lb_, explicit_ub_, true_lb_, true_ub_;
};

// Parts of arrays: MPI_Type_create_subarray and MPI_Type_create_darray (MPI 3.1, 4.1.3 and 4.1.4). A part is built one
// dimension at a time, from the fastest in memory outwards. Its extent is the whole array.

TypeBuilder::Type TypeBuilder::subarray(Numbers sizes, Numbers subsizes, Numbers starts, Datatype const& old) {
    std::int64_t step = old.extent_;
    Type part = duplicate(old);
    for (std::size_t d = sizes.size(); d-- > 0; step = type_product(step, sizes[d])) {
        Assembly plane;
        plane.add(*part, {{subsizes[d], step}}, type_product(starts[d], step));
        part = plane.finish(false);
    }
    return resized(*part, 0, step);
}

TypeBuilder::Type TypeBuilder::darray(std::span<Distribution const> dimensions, Datatype const& old) {
    std::int64_t step = old.extent_;
    Type part = duplicate(old);
    for (std::size_t d = dimensions.size(); d-- > 0; step = type_product(step, dimensions[d].size)) {
        Distribution const& of = dimensions[d];
        std::int64_t const all = of.processes * (of.kind == Distribution::Kind::none ? 0 : 1);
        std::int64_t block = of.argument;
        if (of.kind == Distribution::Kind::none) block = of.size;
        else if (block == 0) block = of.kind == Distribution::Kind::cyclic ? 1 : (of.size + all - 1) / all;
        // This process owns the blocks that start at first, first + round, …; the last one may be incomplete.
        std::int64_t const first = all == 0 ? 0 : of.coordinate * block, round = all == 0 ? of.size : all * block;
        std::int64_t const reach = std::max<std::int64_t>(of.size - first, 0);
        std::int64_t const whole = reach / round + (reach % round >= block ? 1 : 0);
        std::int64_t const rest = reach % round >= block ? 0 : reach % round;
        Assembly plane;
        std::int64_t const stride = whole > 1 ? type_product(round, step) : 0;
        plane.add(*part, {{block, step}, {whole, stride}}, whole > 0 ? type_product(first, step) : 0);
        plane.add(*part, {{rest, step}}, rest > 0 ? type_product(first + whole * round, step) : 0);
        part = plane.finish(false);
    }
    return resized(*part, 0, step);
}

using Format = Elementary::Format;

Elementary elementary(Basic kind) {
    switch (kind) {
    case Basic::int8: return {1, 1, 1, Format::signed_integer};
    case Basic::int16: return {2, 2, 1, Format::signed_integer};
    case Basic::int32:
    case Basic::fortran_logical: return {4, 4, 1, Format::signed_integer};
    case Basic::int64: return {8, 8, 1, Format::signed_integer};
    case Basic::uint8: return {1, 1, 1, Format::unsigned_integer};
    case Basic::uint16: return {2, 2, 1, Format::unsigned_integer};
    case Basic::uint32: return {4, 4, 1, Format::unsigned_integer};
    case Basic::uint64: return {8, 8, 1, Format::unsigned_integer};
    case Basic::float32: return {4, 4, 1, Format::ieee};
    case Basic::float64: return {8, 8, 1, Format::ieee};
    case Basic::float80: return {sizeof(long double), 16, 1, Format::extended};
    case Basic::float128: return {16, 16, 1, Format::ieee};
    case Basic::complex32: return {8, 8, 2, Format::ieee};
    case Basic::complex64: return {16, 16, 2, Format::ieee};
    case Basic::complex80: return {2 * sizeof(long double), 32, 2, Format::extended};
    case Basic::complex128: return {32, 32, 2, Format::ieee};
    default: return {};   // bytes, booleans
    }
}

void TypeBuilder::set_bounds(Datatype& type, std::int64_t lb, std::int64_t ub) {
    type.lb_ = lb;
    type.extent_ = type_bytes(ub - lb);
    bool const one_run = type.size_ == 0 || type.layout_->form == TypeLayout::Form::run;
    type.dense_one_ = one_run;
    type.dense_ = type.size_ == 0 || (one_run && type.extent_ == type.size_);
}

TypeBuilder::Type TypeBuilder::predefined(char const* name, Basic kind, Elementary unit) {
    Type type = Type::adopt(new Datatype);
    type->name = name;
    type->basic_ = kind;
    type->committed = true;
    type->size_ = type->true_extent_ = unit.size;
    type->alignment_ = unit.size / unit.parts;
    type->layout_ = TypeLayout::run(0, unit.size);
    type->signature_ = TypeSignature::of(unit, 1);
    type->digest_ = TypeDigest::of(type->signature_.get());
    set_bounds(*type, 0, unit.size);
    return type;
}

TypeBuilder::Type TypeBuilder::predefined(Basic kind) {
    switch (kind) {
    case Basic::float_int: return pair("float and int", kind, elementary(Basic::float32), elementary(Basic::int32));
    case Basic::double_int: return pair("double and int", kind, elementary(Basic::float64), elementary(Basic::int32));
    case Basic::long_int: {
        Elementary number = elementary(Basic::int64);
        number.external = 4;   // external32 size of long, unlike other eight-byte integers
        return pair("long and int", kind, number, elementary(Basic::int32));
    }
    case Basic::two_int: return pair("two ints", kind, elementary(Basic::int32), elementary(Basic::int32));
    case Basic::short_int: return pair("short and int", kind, elementary(Basic::int16), elementary(Basic::int32));
    case Basic::long_double_int:
        return pair("long double and int", kind, elementary(Basic::float80), elementary(Basic::int32));
    case Basic::two_real: return pair("two reals", kind, elementary(Basic::float32), elementary(Basic::float32));
    case Basic::two_double: return pair("two doubles", kind, elementary(Basic::float64), elementary(Basic::float64));
    default: return predefined("basic type", kind, elementary(kind));
    }
}

TypeBuilder::Type TypeBuilder::pair(char const* name, Basic kind, Elementary first, Elementary second) {
    std::int64_t const ones[] = {1, 1};
    std::int64_t const displacements[] = {0, std::max<std::int64_t>(first.size, second.size)};
    Type a = predefined("", Basic::none, first), b = predefined("", Basic::none, second);
    Datatype const* types[] = {a.get(), b.get()};
    Type type = structure(ones, displacements, types);
    type->name = name;
    type->basic_ = kind;
    type->committed = true;
    return type;
}

TypeBuilder::Type TypeBuilder::marker(char const* name, bool upper) {
    Type type = Type::adopt(new Datatype);
    type->name = name;
    type->committed = true;
    (upper ? type->explicit_ub_ : type->explicit_lb_) = true;
    return type;
}

TypeBuilder::Type TypeBuilder::contiguous(std::int64_t count, Datatype const& old) {
    Assembly whole;
    whole.add(old, {{count, old.extent_}}, 0);
    return whole.finish(false);
}

TypeBuilder::Type TypeBuilder::hvector(std::int64_t count, std::int64_t block, std::int64_t stride,
                                       Datatype const& old) {
    Assembly whole;
    whole.add(old, {{block, old.extent_}, {count, stride}}, 0);
    return whole.finish(false);
}

TypeBuilder::Type TypeBuilder::hindexed(Numbers blocks, Numbers displacements, Datatype const& old) {
    Assembly whole;
    for (std::size_t i = 0; i < blocks.size(); ++i) whole.add(old, {{blocks[i], old.extent_}}, displacements[i]);
    return whole.finish(false);
}

TypeBuilder::Type TypeBuilder::hindexed_block(std::int64_t block, Numbers displacements, Datatype const& old) {
    Assembly whole;
    for (std::int64_t displacement : displacements) whole.add(old, {{block, old.extent_}}, displacement);
    return whole.finish(false);
}

TypeBuilder::Type TypeBuilder::structure(Numbers blocks, Numbers displacements,
                                         std::span<Datatype const* const> types) {
    Assembly whole;
    for (std::size_t i = 0; i < types.size(); ++i)
        whole.add(*types[i], {{blocks[i], types[i]->extent_}}, displacements[i]);
    return whole.finish(true);
}

TypeBuilder::Type TypeBuilder::duplicate(Datatype const& old) {
    Type type = Type::adopt(new Datatype);
    type->size_ = old.size_;
    type->lb_ = old.lb_;
    type->extent_ = old.extent_;
    type->true_lb_ = old.true_lb_;
    type->true_extent_ = old.true_extent_;
    type->alignment_ = old.alignment_;
    type->basic_ = old.basic_;
    type->dense_ = old.dense_;
    type->dense_one_ = old.dense_one_;
    type->explicit_lb_ = old.explicit_lb_;
    type->explicit_ub_ = old.explicit_ub_;
    type->layout_ = old.layout_;
    type->signature_ = old.signature_;
    type->digest_ = old.digest_;
    type->committed = old.committed;
    return type;
}

TypeBuilder::Type TypeBuilder::resized(Datatype const& old, std::int64_t lb, std::int64_t extent) {
    Type type = duplicate(old);
    type->basic_ = Basic::none;
    type->committed = false;
    type->explicit_lb_ = type->explicit_ub_ = true;
    set_bounds(*type, type_bytes(lb), type_sum(lb, extent));
    return type;
}

void TypeBuilder::set_recipe(Datatype& type, TypeRecipe recipe) {
    type.recipe_ = std::make_shared<TypeRecipe>(std::move(recipe));
}

}   // namespace tutti
