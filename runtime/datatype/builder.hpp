// SPDX-License-Identifier: BSD-3-Clause
// The constructors of datatypes (MPI 3.1, 4.1). Counts and lengths must not be negative, which mpi_h/ checks;
// displacements and strides are in bytes and may have any value. A new type holds references to what it needs of the
// old ones, which may therefore be freed. New types are not committed, except for predefined ones and duplicates of
// committed ones.
#pragma once

#include <span>

#include "runtime/datatype/datatype.hpp"
#include "runtime/datatype/signature.hpp"

namespace tutti {

/// Distribution of one dimension of an array over processes (MPI_Type_create_darray).
struct Distribution {
    enum class Kind { none, block, cyclic };

    std::int64_t size = 1;   ///< elements of the whole array in this dimension
    Kind kind = Kind::none;
    std::int64_t argument = 0;                    ///< block length; 0: MPI_DISTRIBUTE_DFLT_DARG
    std::int64_t processes = 1, coordinate = 0;   ///< size of the process grid, and this process's position in it
};

class TypeBuilder {
public:
    using Type = Ref<Datatype>;
    using Numbers = std::span<std::int64_t const>;

    /// Creates a predefined type of one elementary datum; its alignment is that of the datum's parts. mpi_h/, which
    /// assigns the handle, also marks the type as one that cannot be freed.
    static Type predefined(char const* name, Basic kind, Elementary unit);
    /// As above, with the usual C representation of `kind`; for the layers below mpi_h/ and their tests.
    static Type predefined(Basic kind);
    /// Creates a predefined pair type with the memory layout of the C struct { first; second; }.
    static Type pair(char const* name, Basic kind, Elementary first, Elementary second);
    /// Creates MPI_LB or MPI_UB.
    static Type marker(char const* name, bool upper);

    static Type contiguous(std::int64_t count, Datatype const& old);
    static Type hvector(std::int64_t count, std::int64_t block, std::int64_t stride, Datatype const& old);
    static Type hindexed(Numbers blocks, Numbers displacements, Datatype const& old);
    static Type hindexed_block(std::int64_t block, Numbers displacements, Datatype const& old);
    /// Pads the extent as C pads a struct, unless a bound was set explicitly.
    static Type structure(Numbers blocks, Numbers displacements, std::span<Datatype const* const> types);
    /// Sizes and starts count elements of `old`. Dimensions are ordered from the slowest to the fastest in memory (C
    /// order), also in darray.
    static Type subarray(Numbers sizes, Numbers subsizes, Numbers starts, Datatype const& old);
    static Type darray(std::span<Distribution const> dimensions, Datatype const& old);
    static Type resized(Datatype const& old, std::int64_t lb, std::int64_t extent);
    /// Copies everything except the name, the attributes and the recipe, for which mpi_h/ applies the standard's rules.
    static Type duplicate(Datatype const& old);

    /// Stores the arguments with which the program constructed the type, for MPI_Type_get_contents.
    static void set_recipe(Datatype& type, TypeRecipe recipe);

private:
    class Assembly;
    static void set_bounds(Datatype& type, std::int64_t lb, std::int64_t ub);
};

/// Returns the usual C representation of a kind that is not a pair.
Elementary elementary(Basic kind);

}   // namespace tutti
