// SPDX-License-Identifier: BSD-3-Clause
// Every constructor of datatypes (MPI 3.1, 4.1). Counts and lengths must not be negative, which mpi_h/ checks;
// displacements and strides are in bytes and may be anything. New types hold what they need of the old ones, so old
// ones may go. A type is not committed when it is made.
#pragma once

#include <span>

#include "runtime/datatype/datatype.hpp"
#include "runtime/datatype/recipe.hpp"
#include "runtime/datatype/signature.hpp"

namespace tutti {

/// How one dimension of an array is spread over processes (MPI_Type_create_darray).
struct Distribution {
    enum class Kind { none, block, cyclic };

    std::int64_t size = 1;   ///< of the whole array in this dimension
    Kind kind = Kind::none;
    std::int64_t argument = 0;   ///< block length; 0: MPI_DISTRIBUTE_DFLT_DARG
    std::int64_t processes = 1, coordinate = 0;
};

class TypeBuilder {
public:
    using Type = Ref<Datatype>;
    using Numbers = std::span<std::int64_t const>;

    /// A type as MPI predefines it, of one elementary datum; its alignment is that of its parts. mpi_h/, which
    /// gives it a handle, also marks it as one that cannot be freed.
    static Type predefined(char const* name, Basic kind, Elementary unit);
    /// The same by kind alone, with the usual C representation; for the layers below mpi_h/ and their tests.
    static Type predefined(Basic kind);
    /// A predefined pair type, laid out as C lays out struct { first; second; }.
    static Type pair(char const* name, Basic kind, Elementary first, Elementary second);
    /// MPI_LB and MPI_UB.
    static Type marker(char const* name, bool upper);

    static Type contiguous(std::int64_t count, Datatype const& old);
    static Type hvector(std::int64_t count, std::int64_t block, std::int64_t stride, Datatype const& old);
    static Type hindexed(Numbers blocks, Numbers displacements, Datatype const& old);
    static Type hindexed_block(std::int64_t block, Numbers displacements, Datatype const& old);
    static Type structure(Numbers blocks, Numbers displacements, std::span<Datatype const* const> types);
    /// Dimensions from the slowest to the fastest in memory (the order of C).
    static Type subarray(Numbers sizes, Numbers subsizes, Numbers starts, Datatype const& old);
    static Type darray(std::span<Distribution const> dimensions, Datatype const& old);
    static Type resized(Datatype const& old, std::int64_t lb, std::int64_t extent);
    /// Everything but name and attributes, which mpi_h/ treats by their own rules.
    static Type duplicate(Datatype const& old);

    static void remember(Datatype& type, TypeRecipe recipe);

private:
    class Assembly;
    static void set_bounds(Datatype& type, std::int64_t lb, std::int64_t ub);
};

/// The usual representation of a kind that is no pair.
Elementary elementary(Basic kind);

}   // namespace tutti
