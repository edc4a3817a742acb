// SPDX-License-Identifier: BSD-3-Clause
// Stores the predefined datatypes and operators under the handles that the ABI defines.
#include "mpi_h/entry/library_state.hpp"
#include "runtime/datatype/builder.hpp"

namespace tutti {
namespace {

template <class Table, class T>
void place(Table& table, int handle, Ref<T> object) {
    object->predefined = true;
    table.place(handle, object.detach());
}

/// Registers all types with built-in handles, without gaps and with a lower bound of 0.
void place_simple_types(abi::Tables& tables) {
    for (unsigned number = 0; number < tables.simple_types.size(); ++number) {
        Datatype const* const type = tables.datatypes.builtin_at(number);
        if (!type || !type->dense(2) || type->true_lb() != 0 || type->size() != type->extent()) continue;
        auto const handle = static_cast<MPI_Datatype>(type->handle);
        if (type->size() == abi::builtin_size(handle)) tables.simple_types[number] = {handle, type->basic()};
    }
}

Ref<Datatype> named(char const* name, Ref<Datatype> type) {
    type->name = name;
    return type;
}

Elementary with_external(Elementary unit, std::uint8_t bytes) {
    unit.external = bytes;
    return unit;
}

}   // namespace

void place_predefined_types(abi::Tables& tables) {
    using B = TypeBuilder;
    auto& types = tables.datatypes;
    auto bytes = [](std::uint8_t size, std::uint8_t external) {
        return Elementary{size, external, 1, Elementary::Format::unsigned_integer};
    };
#define TYPE(name, kind) place(types, name, B::predefined(#name, Basic::kind, elementary(Basic::kind)));
#define EXTERNAL(name, kind, external) \
    place(types, name, B::predefined(#name, Basic::kind, with_external(elementary(Basic::kind), external)));
#define OPAQUE(name, size, external) place(types, name, B::predefined(#name, Basic::none, bytes(size, external)));
#define PAIR(name, kind) place(types, name, named(#name, B::predefined(Basic::kind)));
#include "mpi_h/entry/predefined_types.def"
#undef TYPE
#undef EXTERNAL
#undef OPAQUE
#undef PAIR
    place(types, MPI_LB, B::marker("MPI_LB", false));
    place(types, MPI_UB, B::marker("MPI_UB", true));
    for (unsigned number = 0; number < tables.simple_types.size(); ++number)
        if (Datatype* const type = tables.datatypes.builtin_at(number)) type->set_number(number);
    place_simple_types(tables);
}

void place_predefined_ops(abi::Tables& tables) {
    constexpr std::pair<int, BuiltinOp> ops[] = {
        {MPI_MAX, BuiltinOp::max},         {MPI_MIN, BuiltinOp::min},       {MPI_SUM, BuiltinOp::sum},
        {MPI_PROD, BuiltinOp::prod},       {MPI_LAND, BuiltinOp::land},     {MPI_BAND, BuiltinOp::band},
        {MPI_LOR, BuiltinOp::lor},         {MPI_BOR, BuiltinOp::bor},       {MPI_LXOR, BuiltinOp::lxor},
        {MPI_BXOR, BuiltinOp::bxor},       {MPI_MINLOC, BuiltinOp::minloc}, {MPI_MAXLOC, BuiltinOp::maxloc},
        {MPI_REPLACE, BuiltinOp::replace}, {MPI_NO_OP, BuiltinOp::no_op}};
    for (auto [handle, which] : ops) {
        auto op = Ref<Op>::adopt(new Op);
        op->builtin = which;
        op->commutative = which != BuiltinOp::replace && which != BuiltinOp::no_op;
        place(tables.ops, handle, std::move(op));
    }
}

}   // namespace tutti
