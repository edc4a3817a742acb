// SPDX-License-Identifier: BSD-3-Clause
// How a datatype was made, for MPI_Type_get_envelope and MPI_Type_get_contents (MPI 3.1, 4.1.13).
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/datatype/datatype.hpp"

namespace tutti {

/// In the standard's order; the ABI's numbers are in mpi_h/.
enum class Combiner {
    named,
    dup,
    contiguous,
    vector,
    hvector,
    indexed,
    hindexed,
    indexed_block,
    hindexed_block,
    struct_,
    subarray,
    darray,
    f90_real,
    f90_complex,
    f90_integer,
    resized
};

/// The arguments of the constructor, in the order in which MPI_Type_get_contents returns them.
struct TypeRecipe {
    Combiner combiner = Combiner::named;
    std::vector<int> integers;
    std::vector<std::int64_t> addresses;
    std::vector<Ref<Datatype>> types;
};

}   // namespace tutti
