// SPDX-License-Identifier: BSD-3-Clause
// Types chosen by what they must hold: MPI_Type_create_f90_* and MPI_Type_match_size (MPI 3.1, 17.1.9), and the pairs
// of a value and an index (MPI 4.1, 6.9.4).
#include "mpi_h/datatypes/types.hpp"

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

/// The type that stands for `base` under these arguments: predefined, but with contents of its own.
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

TUTTI_FUNCTION(Type_create_f90_integer)
int PMPI_Type_create_f90_integer(int r, MPI_Datatype* newtype) {
    return enter("MPI_Type_create_f90_integer", given(r, newtype), [&](Call& call) {
        call.pointer(newtype, "newtype");
        for (auto [range, base] : integers_by_range)
            if (r <= range) {
                *newtype = f90_type(call, base, Combiner::f90_integer, 0, r);
                return;
            }
        fail(ErrorClass::arg, "no integer type has a range of ", r, " decimal digits");
    });
}

TUTTI_FUNCTION(Type_create_f90_real)
int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype* newtype) {
    return enter("MPI_Type_create_f90_real", given(p, r, newtype), [&](Call& call) {
        call.pointer(newtype, "newtype");
        *newtype = f90_type(call, real_model(p, r).real, Combiner::f90_real, p, r);
    });
}

TUTTI_FUNCTION(Type_create_f90_complex)
int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype* newtype) {
    return enter("MPI_Type_create_f90_complex", given(p, r, newtype), [&](Call& call) {
        call.pointer(newtype, "newtype");
        *newtype = f90_type(call, real_model(p, r).complex, Combiner::f90_complex, p, r);
    });
}

TUTTI_FUNCTION(Type_match_size)
int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype* datatype) {
    return enter("MPI_Type_match_size", given(typeclass, size, datatype), [&](Call& call) {
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
            fail(ErrorClass::arg, "typeclass is ", typeclass, ", which is no class of types");
        }
        for (MPI_Datatype candidate : candidates)
            if (call.any_type(candidate).size() == size) {
                *datatype = candidate;
                return;
            }
        fail(ErrorClass::arg, "no ", what, " type has ", size, " bytes");
    });
}

/// MPI_DATATYPE_NULL where no predefined type has the two: unnamed ones (MPI_COMBINER_VALUE_INDEX) are not made here.
TUTTI_FUNCTION(Type_get_value_index)
int PMPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype* pair_type) {
    return enter("MPI_Type_get_value_index", given(value_type, index_type, pair_type), [&](Call& call) {
        call.any_type(value_type, "value_type");
        call.any_type(index_type, "index_type");
        call.pointer(pair_type, "pair_type");
        *pair_type = MPI_DATATYPE_NULL;
        for (Pair const& known : pairs)
            if (known.value == value_type && known.index == index_type) *pair_type = known.pair;
    });
}
