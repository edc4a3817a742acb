// SPDX-License-Identifier: BSD-3-Clause
// Datatype constructors: subarray and darray (MPI 3.1, 4.1.3 and 4.1.4), and those that place blocks, including their
// MPI-1 names (4.1.2, 4.1.7, 4.1.10 and 16.1).
#include <algorithm>
#include <climits>

#include "mpi_h/datatypes/types.hpp"

// Subarray and darray.

namespace tutti {
namespace {

void check_order(int order) {
    if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
        fail(ErrorClass::arg, "order is ", order, " but must be MPI_ORDER_C or MPI_ORDER_FORTRAN");
}

void check_dimensions(int ndims) {
    if (ndims < 1) fail(ErrorClass::dims, "ndims is ", ndims, " but must be at least 1");
}

void append(std::vector<int>& to, int const* values, int n) { to.insert(to.end(), values, values + n); }

void check_subarray(Numbers const& sizes, Numbers const& subsizes, Numbers const& starts) {
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        if (sizes[d] < 1) fail(ErrorClass::arg, "array_of_sizes[", d, "] is ", sizes[d], " but must be at least 1");
        if (subsizes[d] < 1 || subsizes[d] > sizes[d])
            fail(ErrorClass::arg, "array_of_subsizes[", d, "] is ", subsizes[d], " but must be from 1 to ", sizes[d]);
        if (starts[d] < 0 || starts[d] + subsizes[d] > sizes[d])
            fail(ErrorClass::arg, "array_of_starts[", d, "] is ", starts[d], " but must be from 0 to ",
                 sizes[d] - subsizes[d]);
    }
}

/// Returns one dimension of a darray, checked.
Distribution distribution(int d, int size, int kind, int argument, int processes, std::int64_t coordinate) {
    auto fail_at = [&](char const* array, int value, auto const&... why) {
        fail(ErrorClass::arg, array, "[", d, "] is ", value, why...);
    };
    if (size < 1) fail_at("array_of_gsizes", size, " but must be at least 1");
    if (processes < 1) fail_at("array_of_psizes", processes, " but must be at least 1");
    Distribution of{size, Distribution::Kind::none, argument, processes, coordinate};
    if (kind == MPI_DISTRIBUTE_NONE) {
        if (processes != 1) fail_at("array_of_psizes", processes, " but must be 1 with MPI_DISTRIBUTE_NONE");
        return of;
    }
    if (kind != MPI_DISTRIBUTE_BLOCK && kind != MPI_DISTRIBUTE_CYCLIC)
        fail_at("array_of_distribs", kind, ", which is not a distribution");
    of.kind = kind == MPI_DISTRIBUTE_BLOCK ? Distribution::Kind::block : Distribution::Kind::cyclic;
    if (argument == MPI_DISTRIBUTE_DFLT_DARG) of.argument = 0;
    else if (argument < 1) fail_at("array_of_dargs", argument, " but must be at least 1");
    else if (kind == MPI_DISTRIBUTE_BLOCK && static_cast<std::int64_t>(argument) * processes < size)
        fail_at("array_of_dargs", argument, ": blocks of this size on ", processes, " processes do not cover ", size);
    return of;
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Type_create_subarray);
int PMPI_Type_create_subarray(int ndims, int const sizes[], int const subsizes[], int const starts[], int order,
                              MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return enter(args(ndims, sizes, subsizes, starts, order, oldtype, newtype), [&](Call& call) {
        check_dimensions(ndims);
        check_order(order);
        Datatype& type = call.any_type(oldtype, "oldtype");
        call.pointer(newtype, "newtype");
        call.pointer(subsizes, "array_of_subsizes");
        call.pointer(starts, "array_of_starts");
        Numbers all = numbers(call, ndims, sizes, "array_of_sizes");
        Numbers some = numbers(call, ndims, subsizes, "array_of_subsizes");
        Numbers first = numbers(call, ndims, starts, "array_of_starts");
        check_subarray(all, some, first);
        TypeRecipe recipe{Combiner::subarray, {ndims}, {}, {share(type)}};
        for (int const* values : {sizes, subsizes, starts}) append(recipe.integers, values, ndims);
        recipe.integers.push_back(order);
        if (order == MPI_ORDER_FORTRAN)
            for (Numbers* list : {&all, &some, &first}) std::reverse(list->begin(), list->end());
        *newtype = handle_of(TypeBuilder::subarray(all, some, first, type), std::move(recipe));
    });
}

TUTTI_FUNCTION(Type_create_darray);
int PMPI_Type_create_darray(int size, int rank, int ndims, int const gsizes[], int const distribs[], int const dargs[],
                            int const psizes[], int order, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return enter(args(size, rank, ndims, gsizes, distribs, dargs, psizes, order, oldtype, newtype), [&](Call& call) {
        if (size < 1) fail(ErrorClass::arg, "size is ", size, " but must be at least 1");
        if (rank < 0 || rank >= size) fail(ErrorClass::arg, "rank is ", rank, " but must be from 0 to ", size - 1);
        check_dimensions(ndims);
        check_order(order);
        Datatype& type = call.any_type(oldtype, "oldtype");
        call.pointer(newtype, "newtype");
        TypeRecipe recipe{Combiner::darray, {size, rank, ndims}, {}, {share(type)}};
        call.pointer(gsizes, "array_of_gsizes");
        call.pointer(distribs, "array_of_distribs");
        call.pointer(dargs, "array_of_dargs");
        call.pointer(psizes, "array_of_psizes");
        for (int const* values : {gsizes, distribs, dargs, psizes}) append(recipe.integers, values, ndims);
        recipe.integers.push_back(order);
        // The grid of processes is in C order, independent of the order of the array (MPI 3.1, 4.1.4).
        std::vector<Distribution> dimensions(static_cast<std::size_t>(ndims));
        std::int64_t rest = rank, processes = 1;
        for (int d = ndims; d-- > 0;) {
            int const across = std::max(psizes[d], 1);
            dimensions[static_cast<std::size_t>(d)] =
                distribution(d, gsizes[d], distribs[d], dargs[d], psizes[d], rest % across);
            rest /= across;
            // Saturates above any size.
            processes = std::min(processes * across, std::int64_t{INT_MAX} + 1);
        }
        if (processes != size)
            fail(ErrorClass::arg, "array_of_psizes makes ", processes, " processes but size is ", size);
        if (order == MPI_ORDER_FORTRAN) std::reverse(dimensions.begin(), dimensions.end());
        *newtype = handle_of(TypeBuilder::darray(dimensions, type), std::move(recipe));
    });
}

namespace tutti {

Numbers lengths(Call const& call, int n, int const* values, char const* argument) {
    Numbers all = numbers(call, n, values, argument);
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i] < 0) fail(ErrorClass::arg, argument, "[", i, "] is ", all[i], " but must be at least 0");
    return all;
}

namespace {

/// Checks all arrays of a constructor before the first one is read.
void check_arrays(Call const& call, int count, int const* blocks, void const* offsets) {
    if (count == 0) return;
    call.pointer(blocks, "array_of_blocklengths");
    call.pointer(offsets, "array_of_displacements");
}

/// Integers of a recipe: the count first, then arrays.
std::vector<int> integers(int count, std::initializer_list<std::pair<int const*, int>> arrays) {
    std::vector<int> all = {count};
    for (auto [values, n] : arrays) all.insert(all.end(), values, values + n);
    return all;
}

void check_block_length(int value) {
    if (value < 0) fail(ErrorClass::arg, "blocklength is ", value, " but must be at least 0");
}

[[gnu::always_inline]] inline int hvector(int count, int block, MPI_Aint stride, MPI_Datatype old, MPI_Datatype* made,
                                          Function function = __builtin_FUNCTION()) {
    return enter(function, args(count, block, stride, old), [&](Call& call) {
        call.count(count);
        check_block_length(block);
        Datatype& type = call.any_type(old, "oldtype");
        call.pointer(made, "newtype");
        *made = handle_of(TypeBuilder::hvector(count, block, stride, type),
                          {Combiner::hvector, {count, block}, {stride}, {share(type)}});
    });
}

[[gnu::always_inline]] inline int hindexed(int count, int const* blocks, MPI_Aint const* offsets, MPI_Datatype old,
                                           MPI_Datatype* made, Function function = __builtin_FUNCTION()) {
    return enter(function, args(count, blocks, offsets, old), [&](Call& call) {
        call.count(count);
        Datatype& type = call.any_type(old, "oldtype");
        call.pointer(made, "newtype");
        check_arrays(call, count, blocks, offsets);
        Numbers sizes = lengths(call, count, blocks, "array_of_blocklengths");
        Numbers displacements = numbers(call, count, offsets, "array_of_displacements");
        *made = handle_of(TypeBuilder::hindexed(sizes, displacements, type),
                          {Combiner::hindexed, integers(count, {{blocks, count}}), displacements, {share(type)}});
    });
}

[[gnu::always_inline]] inline int structure(int count, int const* blocks, MPI_Aint const* offsets,
                                            MPI_Datatype const* types, MPI_Datatype* made,
                                            Function function = __builtin_FUNCTION()) {
    return enter(function, args(count, blocks, offsets, types), [&](Call& call) {
        call.count(count);
        call.pointer(made, "newtype");
        check_arrays(call, count, blocks, offsets);
        if (count > 0) call.pointer(types, "array_of_types");
        Numbers sizes = lengths(call, count, blocks, "array_of_blocklengths");
        Numbers displacements = numbers(call, count, offsets, "array_of_displacements");
        std::vector<Datatype const*> parts;
        TypeRecipe recipe{Combiner::struct_, integers(count, {{blocks, count}}), displacements, {}};
        for (int i = 0; i < count; ++i) {
            Datatype& type = call.any_type(types[i], "array_of_types");
            parts.push_back(&type);
            recipe.types.push_back(share(type));
        }
        *made = handle_of(TypeBuilder::structure(sizes, displacements, parts), std::move(recipe));
    });
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Type_contiguous);
int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return enter(args(count, oldtype, newtype), [&](Call& call) {
        call.count(count);
        Datatype& type = call.any_type(oldtype, "oldtype");
        call.pointer(newtype, "newtype");
        *newtype = handle_of(TypeBuilder::contiguous(count, type), {Combiner::contiguous, {count}, {}, {share(type)}});
    });
}

TUTTI_FUNCTION(Type_vector);
int PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return enter(args(count, blocklength, stride, oldtype, newtype), [&](Call& call) {
        call.count(count);
        check_block_length(blocklength);
        Datatype& type = call.any_type(oldtype, "oldtype");
        call.pointer(newtype, "newtype");
        *newtype = handle_of(TypeBuilder::hvector(count, blocklength, type_product(stride, type.extent()), type),
                             {Combiner::vector, {count, blocklength, stride}, {}, {share(type)}});
    });
}

TUTTI_FUNCTION(Type_create_hvector);
int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return hvector(count, blocklength, stride, oldtype, newtype);
}

TUTTI_FUNCTION(Type_hvector);
int PMPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return hvector(count, blocklength, stride, oldtype, newtype);
}

TUTTI_FUNCTION(Type_indexed);
int PMPI_Type_indexed(int count, int const blocklengths[], int const displacements[], MPI_Datatype oldtype,
                      MPI_Datatype* newtype) {
    return enter(args(count, blocklengths, displacements, oldtype, newtype), [&](Call& call) {
        call.count(count);
        Datatype& type = call.any_type(oldtype, "oldtype");
        call.pointer(newtype, "newtype");
        check_arrays(call, count, blocklengths, displacements);
        Numbers blocks = lengths(call, count, blocklengths, "array_of_blocklengths");
        Numbers offsets = numbers(call, count, displacements, "array_of_displacements", type.extent());
        *newtype = handle_of(
            TypeBuilder::hindexed(blocks, offsets, type),
            {Combiner::indexed, integers(count, {{blocklengths, count}, {displacements, count}}), {}, {share(type)}});
    });
}

TUTTI_FUNCTION(Type_create_hindexed);
int PMPI_Type_create_hindexed(int count, int const blocklengths[], MPI_Aint const displacements[], MPI_Datatype oldtype,
                              MPI_Datatype* newtype) {
    return hindexed(count, blocklengths, displacements, oldtype, newtype);
}

TUTTI_FUNCTION(Type_hindexed);
int PMPI_Type_hindexed(int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype oldtype,
                       MPI_Datatype* newtype) {
    return hindexed(count, blocklengths, displacements, oldtype, newtype);
}

TUTTI_FUNCTION(Type_create_indexed_block);
int PMPI_Type_create_indexed_block(int count, int blocklength, int const displacements[], MPI_Datatype oldtype,
                                   MPI_Datatype* newtype) {
    return enter(args(count, blocklength, displacements, oldtype, newtype), [&](Call& call) {
        call.count(count);
        check_block_length(blocklength);
        Datatype& type = call.any_type(oldtype, "oldtype");
        call.pointer(newtype, "newtype");
        Numbers offsets = numbers(call, count, displacements, "array_of_displacements", type.extent());
        *newtype = handle_of(
            TypeBuilder::hindexed_block(blocklength, offsets, type),
            {Combiner::indexed_block, integers(count, {{&blocklength, 1}, {displacements, count}}), {}, {share(type)}});
    });
}

TUTTI_FUNCTION(Type_create_hindexed_block);
int PMPI_Type_create_hindexed_block(int count, int blocklength, MPI_Aint const displacements[], MPI_Datatype oldtype,
                                    MPI_Datatype* newtype) {
    return enter(args(count, blocklength, displacements, oldtype, newtype), [&](Call& call) {
        call.count(count);
        check_block_length(blocklength);
        Datatype& type = call.any_type(oldtype, "oldtype");
        call.pointer(newtype, "newtype");
        Numbers offsets = numbers(call, count, displacements, "array_of_displacements");
        *newtype = handle_of(TypeBuilder::hindexed_block(blocklength, offsets, type),
                             {Combiner::hindexed_block, {count, blocklength}, offsets, {share(type)}});
    });
}

TUTTI_FUNCTION(Type_create_struct);
int PMPI_Type_create_struct(int count, int const blocklengths[], MPI_Aint const displacements[],
                            MPI_Datatype const types[], MPI_Datatype* newtype) {
    return structure(count, blocklengths, displacements, types, newtype);
}

TUTTI_FUNCTION(Type_struct);
int PMPI_Type_struct(int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype types[],
                     MPI_Datatype* newtype) {
    return structure(count, blocklengths, displacements, types, newtype);
}

TUTTI_FUNCTION(Type_create_resized);
int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype* newtype) {
    return enter(args(oldtype, lb, extent, newtype), [&](Call& call) {
        Datatype& type = call.any_type(oldtype, "oldtype");
        call.pointer(newtype, "newtype");
        *newtype =
            handle_of(TypeBuilder::resized(type, lb, extent), {Combiner::resized, {}, {lb, extent}, {share(type)}});
    });
}

TUTTI_FUNCTION(Type_dup);
int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return enter(args(oldtype, newtype), [&](Call& call) {
        Datatype& type = call.any_type(oldtype, "oldtype");
        call.pointer(newtype, "newtype");
        Ref<Datatype> made = TypeBuilder::duplicate(type);
        *newtype = MPI_DATATYPE_NULL;   // if a copy callback fails
        type.attributes.copy_to(type, made->attributes);
        *newtype = handle_of(std::move(made), {Combiner::dup, {}, {}, {share(type)}});
    });
}
