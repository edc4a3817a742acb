// SPDX-License-Identifier: BSD-3-Clause
// The constructors of datatypes that place blocks, with their MPI-1 names (MPI 3.1, 4.1.2, 4.1.7, 4.1.10 and 15.1).
#include "mpi_h/datatypes/types.hpp"

namespace tutti {

Numbers lengths(Call const& call, int n, int const* values, char const* argument) {
    Numbers all = numbers(call, n, values, argument);
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i] < 0) fail(ErrorClass::arg, argument, "[", i, "] is ", all[i], " but must be at least 0");
    return all;
}

namespace {

/// All lists of a constructor, before the first one is read.
void check_lists(Call const& call, int count, int const* blocks, void const* places) {
    if (count == 0) return;
    call.pointer(blocks, "array_of_blocklengths");
    call.pointer(places, "array_of_displacements");
}

/// Contents of a recipe: the count first, then arrays.
std::vector<int> integers(int count, std::initializer_list<std::pair<int const*, int>> arrays) {
    std::vector<int> all = {count};
    for (auto [values, n] : arrays) all.insert(all.end(), values, values + n);
    return all;
}

void block_length(int value) {
    if (value < 0) fail(ErrorClass::arg, "blocklength is ", value, " but must be at least 0");
}

[[gnu::always_inline]] inline int hvector(char const* name, int count, int block, MPI_Aint stride, MPI_Datatype old,
                                          MPI_Datatype* made) {
    return enter(name, given(count, block, stride, old), [&](Call& call) {
        call.count(count);
        block_length(block);
        Datatype& type = call.any_type(old, "oldtype");
        call.pointer(made, "newtype");
        *made = handle_of(TypeBuilder::hvector(count, block, stride, type),
                          {Combiner::hvector, {count, block}, {stride}, {part(type)}});
    });
}

[[gnu::always_inline]] inline int hindexed(char const* name, int count, int const* blocks, MPI_Aint const* places,
                                           MPI_Datatype old, MPI_Datatype* made) {
    return enter(name, given(count, blocks, places, old), [&](Call& call) {
        call.count(count);
        Datatype& type = call.any_type(old, "oldtype");
        call.pointer(made, "newtype");
        check_lists(call, count, blocks, places);
        Numbers sizes = lengths(call, count, blocks, "array_of_blocklengths");
        Numbers displacements = numbers(call, count, places, "array_of_displacements");
        *made = handle_of(TypeBuilder::hindexed(sizes, displacements, type),
                          {Combiner::hindexed, integers(count, {{blocks, count}}), displacements, {part(type)}});
    });
}

[[gnu::always_inline]] inline int structure(char const* name, int count, int const* blocks, MPI_Aint const* places,
                                            MPI_Datatype const* types, MPI_Datatype* made) {
    return enter(name, given(count, blocks, places, types), [&](Call& call) {
        call.count(count);
        call.pointer(made, "newtype");
        check_lists(call, count, blocks, places);
        if (count > 0) call.pointer(types, "array_of_types");
        Numbers sizes = lengths(call, count, blocks, "array_of_blocklengths");
        Numbers displacements = numbers(call, count, places, "array_of_displacements");
        std::vector<Datatype const*> parts;
        TypeRecipe recipe{Combiner::struct_, integers(count, {{blocks, count}}), displacements, {}};
        for (int i = 0; i < count; ++i) {
            Datatype& type = call.any_type(types[i], "array_of_types");
            parts.push_back(&type);
            recipe.types.push_back(part(type));
        }
        *made = handle_of(TypeBuilder::structure(sizes, displacements, parts), std::move(recipe));
    });
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Type_contiguous)
int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return enter("MPI_Type_contiguous", given(count, oldtype, newtype), [&](Call& call) {
        call.count(count);
        Datatype& type = call.any_type(oldtype, "oldtype");
        call.pointer(newtype, "newtype");
        *newtype = handle_of(TypeBuilder::contiguous(count, type), {Combiner::contiguous, {count}, {}, {part(type)}});
    });
}

TUTTI_FUNCTION(Type_vector)
int PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return enter("MPI_Type_vector", given(count, blocklength, stride, oldtype, newtype), [&](Call& call) {
        call.count(count);
        block_length(blocklength);
        Datatype& type = call.any_type(oldtype, "oldtype");
        call.pointer(newtype, "newtype");
        *newtype = handle_of(TypeBuilder::hvector(count, blocklength, type_product(stride, type.extent()), type),
                             {Combiner::vector, {count, blocklength, stride}, {}, {part(type)}});
    });
}

TUTTI_FUNCTION(Type_create_hvector)
int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return hvector("MPI_Type_create_hvector", count, blocklength, stride, oldtype, newtype);
}

TUTTI_FUNCTION(Type_hvector)
int PMPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return hvector("MPI_Type_hvector", count, blocklength, stride, oldtype, newtype);
}

TUTTI_FUNCTION(Type_indexed)
int PMPI_Type_indexed(int count, int const blocklengths[], int const displacements[], MPI_Datatype oldtype,
                      MPI_Datatype* newtype) {
    return enter("MPI_Type_indexed", given(count, blocklengths, displacements, oldtype, newtype), [&](Call& call) {
        call.count(count);
        Datatype& type = call.any_type(oldtype, "oldtype");
        call.pointer(newtype, "newtype");
        check_lists(call, count, blocklengths, displacements);
        Numbers blocks = lengths(call, count, blocklengths, "array_of_blocklengths");
        Numbers places = numbers(call, count, displacements, "array_of_displacements", type.extent());
        *newtype = handle_of(
            TypeBuilder::hindexed(blocks, places, type),
            {Combiner::indexed, integers(count, {{blocklengths, count}, {displacements, count}}), {}, {part(type)}});
    });
}

TUTTI_FUNCTION(Type_create_hindexed)
int PMPI_Type_create_hindexed(int count, int const blocklengths[], MPI_Aint const displacements[], MPI_Datatype oldtype,
                              MPI_Datatype* newtype) {
    return hindexed("MPI_Type_create_hindexed", count, blocklengths, displacements, oldtype, newtype);
}

TUTTI_FUNCTION(Type_hindexed)
int PMPI_Type_hindexed(int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype oldtype,
                       MPI_Datatype* newtype) {
    return hindexed("MPI_Type_hindexed", count, blocklengths, displacements, oldtype, newtype);
}

TUTTI_FUNCTION(Type_create_indexed_block)
int PMPI_Type_create_indexed_block(int count, int blocklength, int const displacements[], MPI_Datatype oldtype,
                                   MPI_Datatype* newtype) {
    return enter("MPI_Type_create_indexed_block", given(count, blocklength, displacements, oldtype, newtype),
                 [&](Call& call) {
                     call.count(count);
                     block_length(blocklength);
                     Datatype& type = call.any_type(oldtype, "oldtype");
                     call.pointer(newtype, "newtype");
                     Numbers places = numbers(call, count, displacements, "array_of_displacements", type.extent());
                     *newtype = handle_of(TypeBuilder::hindexed_block(blocklength, places, type),
                                          {Combiner::indexed_block,
                                           integers(count, {{&blocklength, 1}, {displacements, count}}),
                                           {},
                                           {part(type)}});
                 });
}

TUTTI_FUNCTION(Type_create_hindexed_block)
int PMPI_Type_create_hindexed_block(int count, int blocklength, MPI_Aint const displacements[], MPI_Datatype oldtype,
                                    MPI_Datatype* newtype) {
    return enter("MPI_Type_create_hindexed_block", given(count, blocklength, displacements, oldtype, newtype),
                 [&](Call& call) {
                     call.count(count);
                     block_length(blocklength);
                     Datatype& type = call.any_type(oldtype, "oldtype");
                     call.pointer(newtype, "newtype");
                     Numbers places = numbers(call, count, displacements, "array_of_displacements");
                     *newtype = handle_of(TypeBuilder::hindexed_block(blocklength, places, type),
                                          {Combiner::hindexed_block, {count, blocklength}, places, {part(type)}});
                 });
}

TUTTI_FUNCTION(Type_create_struct)
int PMPI_Type_create_struct(int count, int const blocklengths[], MPI_Aint const displacements[],
                            MPI_Datatype const types[], MPI_Datatype* newtype) {
    return structure("MPI_Type_create_struct", count, blocklengths, displacements, types, newtype);
}

TUTTI_FUNCTION(Type_struct)
int PMPI_Type_struct(int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype types[],
                     MPI_Datatype* newtype) {
    return structure("MPI_Type_struct", count, blocklengths, displacements, types, newtype);
}

TUTTI_FUNCTION(Type_create_resized)
int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype* newtype) {
    return enter("MPI_Type_create_resized", given(oldtype, lb, extent, newtype), [&](Call& call) {
        Datatype& type = call.any_type(oldtype, "oldtype");
        call.pointer(newtype, "newtype");
        *newtype =
            handle_of(TypeBuilder::resized(type, lb, extent), {Combiner::resized, {}, {lb, extent}, {part(type)}});
    });
}

TUTTI_FUNCTION(Type_dup)
int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
    return enter("MPI_Type_dup", given(oldtype, newtype), [&](Call& call) {
        Datatype& type = call.any_type(oldtype, "oldtype");
        call.pointer(newtype, "newtype");
        Ref<Datatype> made = TypeBuilder::duplicate(type);
        *newtype = MPI_DATATYPE_NULL;   // should a copy callback fail
        type.attributes.copy_to(type, made->attributes);
        *newtype = handle_of(std::move(made), {Combiner::dup, {}, {}, {part(type)}});
    });
}
