// SPDX-License-Identifier: BSD-3-Clause
// Constructors of parts of arrays (MPI 3.1, 4.1.3 and 4.1.4).
#include <algorithm>
#include <climits>

#include "mpi_h/datatypes/types.hpp"

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

/// One dimension of a darray, checked.
Distribution distribution(int d, int size, int kind, int argument, int processes, std::int64_t coordinate) {
    auto wrong = [&](char const* array, int value, auto const&... why) {
        fail(ErrorClass::arg, array, "[", d, "] is ", value, why...);
    };
    if (size < 1) wrong("array_of_gsizes", size, " but must be at least 1");
    if (processes < 1) wrong("array_of_psizes", processes, " but must be at least 1");
    Distribution of{size, Distribution::Kind::none, argument, processes, coordinate};
    if (kind == MPI_DISTRIBUTE_NONE) {
        if (processes != 1) wrong("array_of_psizes", processes, " but must be 1 with MPI_DISTRIBUTE_NONE");
        return of;
    }
    if (kind != MPI_DISTRIBUTE_BLOCK && kind != MPI_DISTRIBUTE_CYCLIC)
        wrong("array_of_distribs", kind, ", which is no distribution");
    of.kind = kind == MPI_DISTRIBUTE_BLOCK ? Distribution::Kind::block : Distribution::Kind::cyclic;
    if (argument == MPI_DISTRIBUTE_DFLT_DARG) of.argument = 0;
    else if (argument < 1) wrong("array_of_dargs", argument, " but must be at least 1");
    else if (kind == MPI_DISTRIBUTE_BLOCK && static_cast<std::int64_t>(argument) * processes < size)
        wrong("array_of_dargs", argument, ": blocks of that size on ", processes, " processes do not hold ", size);
    return of;
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Type_create_subarray)
int PMPI_Type_create_subarray(int ndims, int const sizes[], int const subsizes[], int const starts[], int order,
                              MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return enter("MPI_Type_create_subarray", given(ndims, sizes, subsizes, starts, order, oldtype, newtype),
                 [&](Call& call) {
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
                     TypeRecipe recipe{Combiner::subarray, {ndims}, {}, {part(type)}};
                     for (int const* values : {sizes, subsizes, starts}) append(recipe.integers, values, ndims);
                     recipe.integers.push_back(order);
                     if (order == MPI_ORDER_FORTRAN)
                         for (Numbers* list : {&all, &some, &first}) std::reverse(list->begin(), list->end());
                     *newtype = handle_of(TypeBuilder::subarray(all, some, first, type), std::move(recipe));
                 });
}

TUTTI_FUNCTION(Type_create_darray)
int PMPI_Type_create_darray(int size, int rank, int ndims, int const gsizes[], int const distribs[], int const dargs[],
                            int const psizes[], int order, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return enter("MPI_Type_create_darray",
                 given(size, rank, ndims, gsizes, distribs, dargs, psizes, order, oldtype, newtype), [&](Call& call) {
                     if (size < 1) fail(ErrorClass::arg, "size is ", size, " but must be at least 1");
                     if (rank < 0 || rank >= size)
                         fail(ErrorClass::arg, "rank is ", rank, " but must be from 0 to ", size - 1);
                     check_dimensions(ndims);
                     check_order(order);
                     Datatype& type = call.any_type(oldtype, "oldtype");
                     call.pointer(newtype, "newtype");
                     TypeRecipe recipe{Combiner::darray, {size, rank, ndims}, {}, {part(type)}};
                     call.pointer(gsizes, "array_of_gsizes");
                     call.pointer(distribs, "array_of_distribs");
                     call.pointer(dargs, "array_of_dargs");
                     call.pointer(psizes, "array_of_psizes");
                     for (int const* values : {gsizes, distribs, dargs, psizes}) append(recipe.integers, values, ndims);
                     recipe.integers.push_back(order);
                     // The grid of processes is in C's order whatever the order of the array (MPI 3.1, 4.1.4).
                     std::vector<Distribution> dimensions(static_cast<std::size_t>(ndims));
                     std::int64_t rest = rank, processes = 1;
                     for (int d = ndims; d-- > 0;) {
                         int const across = std::max(psizes[d], 1);
                         dimensions[static_cast<std::size_t>(d)] =
                             distribution(d, gsizes[d], distribs[d], dargs[d], psizes[d], rest % across);
                         rest /= across;
                         processes = std::min(processes * across, std::int64_t{INT_MAX} + 1);   // more than any size
                     }
                     if (processes != size)
                         fail(ErrorClass::arg, "array_of_psizes makes ", processes, " processes but size is ", size);
                     if (order == MPI_ORDER_FORTRAN) std::reverse(dimensions.begin(), dimensions.end());
                     *newtype = handle_of(TypeBuilder::darray(dimensions, type), std::move(recipe));
                 });
}
