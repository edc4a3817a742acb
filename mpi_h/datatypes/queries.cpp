// SPDX-License-Identifier: BSD-3-Clause
// Datatypes: attributes (MPI 3.1, 6.7.4), inquiry, commit and free (4.1.5 to 4.1.13 and 6.8).
#include <climits>

#include "mpi_h/communicators/communicators.hpp"
#include "mpi_h/datatypes/types.hpp"
#include "mpi_h/entry/library_state.hpp"

// Attributes of datatypes (MPI 3.1, 6.7.4).

using namespace tutti;

namespace {
constexpr auto on_type = Keyval::ObjectKind::type;
}

TUTTI_FUNCTION(Type_create_keyval);
int PMPI_Type_create_keyval(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* remove, int* keyval,
                            void* extra_state) {
    return enter(args(copy, remove, keyval, extra_state), [&](Call& call) {
        call.pointer(keyval, "type_keyval");
        *keyval = make_keyval(call, on_type, copy, remove, extra_state);
    });
}

TUTTI_FUNCTION(Type_free_keyval);
int PMPI_Type_free_keyval(int* keyval) {
    return enter(args(keyval), [&](Call& call) { free_keyval(call, on_type, keyval); });
}

TUTTI_FUNCTION(Type_set_attr);
int PMPI_Type_set_attr(MPI_Datatype datatype, int keyval, void* value) {
    return enter(args(datatype, keyval, value), [&](Call& call) {
        set_attribute(call, on_type, datatype, keyval,
                      {reinterpret_cast<std::intptr_t>(value), AttributeForm::pointer});
    });
}

TUTTI_FUNCTION(Type_get_attr);
int PMPI_Type_get_attr(MPI_Datatype datatype, int keyval, void* value, int* flag) {
    return enter(args(datatype, keyval, value, flag), [&](Call& call) {
        call.pointer(flag, "flag");
        *flag = get_attribute(call, on_type, datatype, keyval, AttributeForm::pointer, value);
    });
}

TUTTI_FUNCTION(Type_delete_attr);
int PMPI_Type_delete_attr(MPI_Datatype datatype, int keyval) {
    return enter(args(datatype, keyval), [&](Call& call) { delete_attribute(call, on_type, datatype, keyval); });
}

namespace tutti {
namespace {

int number_of(Combiner combiner) {
    switch (combiner) {
    case Combiner::named: return MPI_COMBINER_NAMED;
    case Combiner::dup: return MPI_COMBINER_DUP;
    case Combiner::contiguous: return MPI_COMBINER_CONTIGUOUS;
    case Combiner::vector: return MPI_COMBINER_VECTOR;
    case Combiner::hvector: return MPI_COMBINER_HVECTOR;
    case Combiner::indexed: return MPI_COMBINER_INDEXED;
    case Combiner::hindexed: return MPI_COMBINER_HINDEXED;
    case Combiner::indexed_block: return MPI_COMBINER_INDEXED_BLOCK;
    case Combiner::hindexed_block: return MPI_COMBINER_HINDEXED_BLOCK;
    case Combiner::struct_: return MPI_COMBINER_STRUCT;
    case Combiner::subarray: return MPI_COMBINER_SUBARRAY;
    case Combiner::darray: return MPI_COMBINER_DARRAY;
    case Combiner::f90_real: return MPI_COMBINER_F90_REAL;
    case Combiner::f90_complex: return MPI_COMBINER_F90_COMPLEX;
    case Combiner::f90_integer: return MPI_COMBINER_F90_INTEGER;
    case Combiner::resized: return MPI_COMBINER_RESIZED;
    }
    return MPI_COMBINER_NAMED;
}

template <class Number>
[[gnu::always_inline]] inline int extent(MPI_Datatype datatype, Number* lb, Number* bytes,
                                         Function function = __builtin_FUNCTION()) {
    return enter(function, args(datatype, lb, bytes), [&](Call& call) {
        Datatype& type = call.any_type(datatype);
        call.pointer(lb, "lb");
        call.pointer(bytes, "extent");
        *lb = type.lb();
        *bytes = type.extent();
    });
}

template <class Number>
[[gnu::always_inline]] inline int true_extent(MPI_Datatype datatype, Number* lb, Number* bytes,
                                              Function function = __builtin_FUNCTION()) {
    return enter(function, args(datatype, lb, bytes), [&](Call& call) {
        Datatype& type = call.any_type(datatype);
        call.pointer(lb, "true_lb");
        call.pointer(bytes, "true_extent");
        *lb = type.true_lb();
        *bytes = type.true_extent();
    });
}

/// Functions of MPI-1 that return one of the bounds.
template <class Bound>
[[gnu::always_inline]] inline int bound(MPI_Datatype datatype, MPI_Aint* result, Bound bound_of,
                                        Function function = __builtin_FUNCTION()) {
    return enter(function, args(datatype, result), [&](Call& call) {
        Datatype& type = call.any_type(datatype);
        call.pointer(result, "displacement");
        *result = bound_of(type);
    });
}

/// Returns a handle that the program may free: that of a predefined type, or of a duplicate of others.
MPI_Datatype handle_for_user(Datatype& type) {
    if (type.predefined) return static_cast<MPI_Datatype>(type.handle);
    Ref<Datatype> equal = TypeBuilder::duplicate(type);
    equal->name = type.name;
    return handle_of(std::move(equal), *type.recipe());
}

template <class From, class To>
void check_room(Call const& call, char const* what, std::vector<From> const& from, int room, To* to) {
    if (static_cast<std::size_t>(std::max(room, 0)) < from.size())
        fail(ErrorClass::arg, "max_", what, " is ", room, " but the datatype was created with ", from.size());
    if (!from.empty()) call.pointer(to, join("array_of_", what).c_str());
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Type_commit);
int PMPI_Type_commit(MPI_Datatype* datatype) {
    return enter(args(datatype), [&](Call& call) {
        call.pointer(datatype, "datatype");
        call.any_type(*datatype).committed = true;
    });
}

TUTTI_FUNCTION(Type_free);
int PMPI_Type_free(MPI_Datatype* datatype) {
    return enter(args(datatype), [&](Call& call) {
        call.pointer(datatype, "datatype");
        Datatype& type = call.any_type(*datatype);
        if (type.predefined) fail(ErrorClass::type, "a predefined datatype cannot be freed");
        type.attributes.clear(type);
        record_freed(*datatype);
        library().tables.datatypes.remove(*datatype);
        *datatype = MPI_DATATYPE_NULL;
    });
}

TUTTI_FUNCTION(Type_size);
int PMPI_Type_size(MPI_Datatype datatype, int* size) {
    return enter(args(datatype, size), [&](Call& call) {
        Datatype& type = call.any_type(datatype);
        call.pointer(size, "size");
        *size = type.size() > INT_MAX ? MPI_UNDEFINED : static_cast<int>(type.size());
    });
}

TUTTI_FUNCTION(Type_size_x);
int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count* size) {
    return enter(args(datatype, size), [&](Call& call) {
        Datatype& type = call.any_type(datatype);
        call.pointer(size, "size");
        *size = type.size();
    });
}

TUTTI_FUNCTION(Type_get_extent);
int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint* lb, MPI_Aint* bytes) { return extent(datatype, lb, bytes); }

TUTTI_FUNCTION(Type_get_extent_x);
int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* bytes) {
    return extent(datatype, lb, bytes);
}

TUTTI_FUNCTION(Type_get_true_extent);
int PMPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint* lb, MPI_Aint* bytes) {
    return true_extent(datatype, lb, bytes);
}

TUTTI_FUNCTION(Type_get_true_extent_x);
int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* bytes) {
    return true_extent(datatype, lb, bytes);
}

TUTTI_FUNCTION(Type_extent);
int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint* bytes) {
    return bound(datatype, bytes, [](Datatype& type) { return type.extent(); });
}

TUTTI_FUNCTION(Type_lb);
int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint* displacement) {
    return bound(datatype, displacement, [](Datatype& type) { return type.lb(); });
}

TUTTI_FUNCTION(Type_ub);
int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint* displacement) {
    return bound(datatype, displacement, [](Datatype& type) { return type.lb() + type.extent(); });
}

TUTTI_FUNCTION(Type_get_envelope);
int PMPI_Type_get_envelope(MPI_Datatype datatype, int* integers, int* addresses, int* types, int* combiner) {
    return enter(args(datatype, integers, addresses, types, combiner), [&](Call& call) {
        TypeRecipe const* recipe = call.any_type(datatype).recipe();
        for (int* answer : {integers, addresses, types, combiner}) call.pointer(answer, "a result argument");
        *integers = recipe ? static_cast<int>(recipe->integers.size()) : 0;
        *addresses = recipe ? static_cast<int>(recipe->addresses.size()) : 0;
        *types = recipe ? static_cast<int>(recipe->types.size()) : 0;
        *combiner = recipe ? number_of(recipe->combiner) : MPI_COMBINER_NAMED;
    });
}

TUTTI_FUNCTION(Type_get_contents);
int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
                           int integers[], MPI_Aint addresses[], MPI_Datatype types[]) {
    return enter(args(datatype, max_integers, max_addresses, max_datatypes, integers, addresses, types),
                 [&](Call& call) {
                     TypeRecipe const* recipe = call.any_type(datatype).recipe();
                     if (!recipe) fail(ErrorClass::type, "a predefined datatype has no contents");
                     check_room(call, "integers", recipe->integers, max_integers, integers);
                     check_room(call, "addresses", recipe->addresses, max_addresses, addresses);
                     check_room(call, "datatypes", recipe->types, max_datatypes, types);
                     std::copy(recipe->integers.begin(), recipe->integers.end(), integers);
                     std::copy(recipe->addresses.begin(), recipe->addresses.end(), addresses);
                     for (std::size_t i = 0; i < recipe->types.size(); ++i)
                         types[i] = handle_for_user(*recipe->types[i]);
                 });
}

TUTTI_FUNCTION(Type_set_name);
int PMPI_Type_set_name(MPI_Datatype datatype, char const* type_name) {
    return enter(args(datatype, type_name), [&](Call& call) {
        Datatype& type = call.any_type(datatype);
        call.pointer(type_name, "type_name");
        type.name.assign(type_name, strnlen(type_name, MPI_MAX_OBJECT_NAME - 1));
    });
}

TUTTI_FUNCTION(Type_get_name);
int PMPI_Type_get_name(MPI_Datatype datatype, char* type_name, int* resultlen) {
    return enter(args(datatype, type_name, resultlen), [&](Call& call) {
        Datatype const* const type = datatype == MPI_DATATYPE_NULL ? nullptr : &call.any_type(datatype);
        call.pointer(type_name, "type_name");
        call.pointer(resultlen, "resultlen");
        *resultlen = copy_text(type ? type->name : "MPI_DATATYPE_NULL", type_name, MPI_MAX_OBJECT_NAME);
    });
}
