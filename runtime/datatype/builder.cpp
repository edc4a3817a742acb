// SPDX-License-Identifier: BSD-3-Clause
// Predefined types and the constructors that place blocks.
#include "runtime/datatype/builder.hpp"

#include "runtime/datatype/assembly.hpp"

namespace tutti {

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
        number.external = 4;   // a long, unlike other integers of eight bytes
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
    std::int64_t const places[] = {0, std::max<std::int64_t>(first.size, second.size)};
    Type a = predefined("", Basic::none, first), b = predefined("", Basic::none, second);
    Datatype const* types[] = {a.get(), b.get()};
    Type type = structure(ones, places, types);
    type->name = name;
    type->basic_ = kind;
    type->committed = true;
    return type;
}

TypeBuilder::Type TypeBuilder::marker(char const* name, bool upper) {
    Type type = Type::adopt(new Datatype);
    type->name = name;
    type->committed = true;
    (upper ? type->marked_ub_ : type->marked_lb_) = true;
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
    type->marked_lb_ = old.marked_lb_;
    type->marked_ub_ = old.marked_ub_;
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
    type->marked_lb_ = type->marked_ub_ = true;
    set_bounds(*type, type_bytes(lb), type_sum(lb, extent));
    return type;
}

void TypeBuilder::remember(Datatype& type, TypeRecipe recipe) {
    type.recipe_ = std::make_shared<TypeRecipe>(std::move(recipe));
}

}   // namespace tutti
