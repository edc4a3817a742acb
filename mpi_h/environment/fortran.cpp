// SPDX-License-Identifier: BSD-3-Clause
// Functions for Fortran: conversion of handles and statuses; the functions other than MPI's own that
// libmpichfort.so.12, MPICH's Fortran interface, calls (attributes with integer values, keys whose callbacks take their
// arguments by address); and types selected by precision and range.
#include <cstring>

#include "mpi_h/communicators/communicators.hpp"
#include "mpi_h/datatypes/types.hpp"
#include "mpi_h/entry/entry.hpp"
#include "mpi_h/p2p/generalized.hpp"

// Conversion of handles and statuses between C and Fortran (MPI 3.1, 17.2.4 and 17.2.5). mpi.h has macros for the
// handles; these functions are for code that takes their address or declares them itself, as configure scripts do.

#undef MPI_Comm_c2f
#undef MPI_Comm_f2c
#undef MPI_Type_c2f
#undef MPI_Type_f2c
#undef MPI_Group_c2f
#undef MPI_Group_f2c
#undef MPI_Op_c2f
#undef MPI_Op_f2c
#undef MPI_Request_c2f
#undef MPI_Request_f2c
#undef MPI_Info_c2f
#undef MPI_Info_f2c
#undef MPI_Errhandler_c2f
#undef MPI_Errhandler_f2c
#undef MPI_Message_c2f
#undef MPI_Message_f2c
#undef MPI_Win_c2f
#undef MPI_Win_f2c

using namespace tutti;

TUTTI_FUNCTION(Comm_c2f);
MPI_Fint PMPI_Comm_c2f(MPI_Comm comm) { return comm; }

TUTTI_FUNCTION(Comm_f2c);
MPI_Comm PMPI_Comm_f2c(MPI_Fint comm) { return comm; }

TUTTI_FUNCTION(Type_c2f);
MPI_Fint PMPI_Type_c2f(MPI_Datatype datatype) { return datatype; }

TUTTI_FUNCTION(Type_f2c);
MPI_Datatype PMPI_Type_f2c(MPI_Fint datatype) { return datatype; }

TUTTI_FUNCTION(Group_c2f);
MPI_Fint PMPI_Group_c2f(MPI_Group group) { return group; }

TUTTI_FUNCTION(Group_f2c);
MPI_Group PMPI_Group_f2c(MPI_Fint group) { return group; }

TUTTI_FUNCTION(Op_c2f);
MPI_Fint PMPI_Op_c2f(MPI_Op op) { return op; }

TUTTI_FUNCTION(Op_f2c);
MPI_Op PMPI_Op_f2c(MPI_Fint op) { return op; }

TUTTI_FUNCTION(Request_c2f);
MPI_Fint PMPI_Request_c2f(MPI_Request request) { return request; }

TUTTI_FUNCTION(Request_f2c);
MPI_Request PMPI_Request_f2c(MPI_Fint request) { return request; }

TUTTI_FUNCTION(Info_c2f);
MPI_Fint PMPI_Info_c2f(MPI_Info info) { return info; }

TUTTI_FUNCTION(Info_f2c);
MPI_Info PMPI_Info_f2c(MPI_Fint info) { return info; }

TUTTI_FUNCTION(Errhandler_c2f);
MPI_Fint PMPI_Errhandler_c2f(MPI_Errhandler errhandler) { return errhandler; }

TUTTI_FUNCTION(Errhandler_f2c);
MPI_Errhandler PMPI_Errhandler_f2c(MPI_Fint errhandler) { return errhandler; }

TUTTI_FUNCTION(Message_c2f);
MPI_Fint PMPI_Message_c2f(MPI_Message message) { return message; }

TUTTI_FUNCTION(Message_f2c);
MPI_Message PMPI_Message_f2c(MPI_Fint message) { return message; }

TUTTI_FUNCTION(Win_c2f);
MPI_Fint PMPI_Win_c2f(MPI_Win win) { return win; }

TUTTI_FUNCTION(Win_f2c);
MPI_Win PMPI_Win_f2c(MPI_Fint win) { return win; }

static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint), "a status in Fortran is the same integers");

TUTTI_FUNCTION(Status_c2f);
int PMPI_Status_c2f(MPI_Status const* c_status, MPI_Fint* f_status) {
    return enter<When::any_time>(args(c_status, f_status), [&](Call& call) {
        call.pointer(c_status, "c_status");
        call.pointer(f_status, "f_status");
        if (f_status == MPI_F_STATUS_IGNORE)
            fail(ErrorClass::arg, "f_status is MPI_F_STATUS_IGNORE, which is not a status");
        std::memcpy(f_status, c_status, sizeof *c_status);
    });
}

TUTTI_FUNCTION(Status_f2c);
int PMPI_Status_f2c(MPI_Fint const* f_status, MPI_Status* c_status) {
    return enter<When::any_time>(args(f_status, c_status), [&](Call& call) {
        call.pointer(c_status, "c_status");
        call.pointer(f_status, "f_status");
        if (f_status == MPI_F_STATUS_IGNORE)
            fail(ErrorClass::arg, "f_status is MPI_F_STATUS_IGNORE, which is not a status");
        std::memcpy(c_status, f_status, sizeof *c_status);
    });
}

using namespace tutti;

namespace {

[[gnu::always_inline]] inline int get(Function function, Keyval::ObjectKind on, int handle, int keyval, void* value,
                                      int* flag, int representation) {
    return enter(function, args(handle, keyval, value, flag), [&](Call& call) {
        call.pointer(flag, "flag");
        *flag = get_attribute(call, on, handle, keyval, attribute_kind_in(representation), value);
    });
}

[[gnu::always_inline]] inline int set(Function function, Keyval::ObjectKind on, int handle, int keyval, void* value,
                                      int given_as) {
    return enter(function, args(handle, keyval, value), [&](Call& call) {
        AttributeValue bits{reinterpret_cast<std::intptr_t>(value), attribute_kind_in(given_as)};
        set_attribute(call, on, handle, keyval, bits);
    });
}

}   // namespace

#pragma GCC visibility push(default)
extern "C" {

int MPII_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag, int representation) {
    return get("MPI_Comm_get_attr", Keyval::ObjectKind::comm, comm, keyval, value, flag, representation);
}

int MPII_Comm_set_attr(MPI_Comm comm, int keyval, void* value, int given) {
    return set("MPI_Comm_set_attr", Keyval::ObjectKind::comm, comm, keyval, value, given);
}

int MPII_Type_get_attr(MPI_Datatype datatype, int keyval, void* value, int* flag, int representation) {
    return get("MPI_Type_get_attr", Keyval::ObjectKind::type, datatype, keyval, value, flag, representation);
}

int MPII_Type_set_attr(MPI_Datatype datatype, int keyval, void* value, int given) {
    return set("MPI_Type_set_attr", Keyval::ObjectKind::type, datatype, keyval, value, given);
}

int MPII_Win_get_attr(MPI_Win win, int keyval, void* value, int* flag, int representation) {
    return get("MPI_Win_get_attr", Keyval::ObjectKind::win, win, keyval, value, flag, representation);
}

int MPII_Win_set_attr(MPI_Win win, int keyval, void* value, int given) {
    return set("MPI_Win_set_attr", Keyval::ObjectKind::win, win, keyval, value, given);
}

/// Called immediately after the key was created; sets the functions that call the Fortran callbacks.
void MPII_Keyval_set_proxy(int keyval, CopyProxy* copy, DeleteProxy* remove) {
    if (auto* key = static_cast<UserKeyval*>(library().tables.keyvals.find(keyval))) {
        key->copy_proxy = copy;
        key->delete_proxy = remove;
    }
}

/// Called immediately after the request was created: its callbacks are Fortran procedures.
void MPII_Grequest_set_lang_f77(MPI_Request request) {
    if (auto* r = generalized(library().tables.requests.find(request))) r->fortran = true;
}
}
#pragma GCC visibility pop

// Types selected by their contents: MPI_Type_create_f90_* and MPI_Type_match_size (MPI 3.1, 17.1.9), and pairs of a
// value and an index (MPI 4.1, 6.9.4).

namespace tutti {
namespace {

/// A type of gfortran with its decimal precision and exponent range.
struct Model {
    MPI_Datatype real, complex;
    int precision, range;
};
constexpr Model reals[] = {{MPI_REAL, MPI_COMPLEX, 6, 37},
                           {MPI_DOUBLE_PRECISION, MPI_DOUBLE_COMPLEX, 15, 307},
                           {MPI_REAL16, MPI_COMPLEX32, 33, 4931}};

constexpr std::pair<int, MPI_Datatype> integers_by_range[] = {
    {2, MPI_INTEGER1}, {4, MPI_INTEGER2}, {9, MPI_INTEGER4}, {18, MPI_INTEGER8}};

struct Pair {
    MPI_Datatype value, index, pair;
};
constexpr Pair pairs[] = {{MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
                          {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
                          {MPI_LONG, MPI_INT, MPI_LONG_INT},
                          {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
                          {MPI_INT, MPI_INT, MPI_2INT},
                          {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
                          {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
                          {MPI_REAL, MPI_REAL, MPI_2REAL},
                          {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION}};

Model const& real_model(int precision, int range) {
    for (Model const& model : reals)
        if ((precision == MPI_UNDEFINED || precision <= model.precision) &&
            (range == MPI_UNDEFINED || range <= model.range))
            return model;
    fail(ErrorClass::arg, "no real type has precision ", precision, " and range ", range);
}

/// Returns the type that represents `base` for these arguments: predefined, but with an envelope and contents of its
/// own.
MPI_Datatype f90_type(Call& call, MPI_Datatype base, Combiner combiner, int p, int r) {
    LibraryState& f = library();
    MPI_Datatype& handle = f.f90_types[{static_cast<int>(combiner), p, r}];
    if (handle != 0) return handle;
    Ref<Datatype> type = TypeBuilder::duplicate(call.any_type(base));
    type->predefined = true;
    std::vector<int> arguments = combiner == Combiner::f90_integer ? std::vector{r} : std::vector{p, r};
    return handle = handle_of(std::move(type), {combiner, std::move(arguments), {}, {}});
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Type_create_f90_integer);
int PMPI_Type_create_f90_integer(int r, MPI_Datatype* newtype) {
    return enter(args(r, newtype), [&](Call& call) {
        call.pointer(newtype, "newtype");
        for (auto [range, base] : integers_by_range)
            if (r <= range) {
                *newtype = f90_type(call, base, Combiner::f90_integer, 0, r);
                return;
            }
        fail(ErrorClass::arg, "no integer type has a range of ", r, " decimal digits");
    });
}

TUTTI_FUNCTION(Type_create_f90_real);
int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype* newtype) {
    return enter(args(p, r, newtype), [&](Call& call) {
        call.pointer(newtype, "newtype");
        *newtype = f90_type(call, real_model(p, r).real, Combiner::f90_real, p, r);
    });
}

TUTTI_FUNCTION(Type_create_f90_complex);
int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype* newtype) {
    return enter(args(p, r, newtype), [&](Call& call) {
        call.pointer(newtype, "newtype");
        *newtype = f90_type(call, real_model(p, r).complex, Combiner::f90_complex, p, r);
    });
}

TUTTI_FUNCTION(Type_match_size);
int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype* datatype) {
    return enter(args(typeclass, size, datatype), [&](Call& call) {
        call.pointer(datatype, "datatype");
        std::vector<MPI_Datatype> candidates;
        char const* what = "real";
        if (typeclass == MPI_TYPECLASS_REAL) {
            candidates = {MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL16};
        } else if (typeclass == MPI_TYPECLASS_INTEGER) {
            candidates = {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER8};
            what = "integer";
        } else if (typeclass == MPI_TYPECLASS_COMPLEX) {
            candidates = {MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX32};
            what = "complex";
        } else {
            fail(ErrorClass::arg, "typeclass is ", typeclass, ", which is not a type class");
        }
        for (MPI_Datatype candidate : candidates)
            if (call.any_type(candidate).size() == size) {
                *datatype = candidate;
                return;
            }
        fail(ErrorClass::arg, "no ", what, " type has ", size, " bytes");
    });
}

/// Returns MPI_DATATYPE_NULL if no predefined type has these two; unnamed pair types (MPI_COMBINER_VALUE_INDEX) are not
/// created.
TUTTI_FUNCTION(Type_get_value_index);
int PMPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype* pair_type) {
    return enter(args(value_type, index_type, pair_type), [&](Call& call) {
        call.any_type(value_type, "value_type");
        call.any_type(index_type, "index_type");
        call.pointer(pair_type, "pair_type");
        *pair_type = MPI_DATATYPE_NULL;
        for (Pair const& known : pairs)
            if (known.value == value_type && known.index == index_type) *pair_type = known.pair;
    });
}
