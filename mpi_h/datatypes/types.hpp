// SPDX-License-Identifier: BSD-3-Clause
// Helpers that the functions for datatypes share.
#pragma once

#include <vector>

#include "mpi_h/entry/entry.hpp"
#include "runtime/datatype/builder.hpp"
#include "runtime/datatype/datatype.hpp"

namespace tutti {

using Numbers = std::vector<std::int64_t>;

/// Stores the type with its recipe (how it was constructed) and returns its new handle.
inline MPI_Datatype handle_of(Ref<Datatype> type, TypeRecipe recipe) {
    TypeBuilder::set_recipe(*type, std::move(recipe));
    return library().tables.datatypes.add(type.detach());
}

inline Ref<Datatype> share(Datatype& type) { return Ref<Datatype>::share(&type); }

/// Copies an array of counts, lengths or displacements of the program, each multiplied by `unit`.
template <class T>
Numbers numbers(Call const& call, int n, T const* values, char const* argument, std::int64_t unit = 1) {
    if (n > 0) call.pointer(values, argument);
    Numbers all(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = type_product(values[i], unit);
    return all;
}

/// As numbers(), for block lengths, which must not be negative.
Numbers lengths(Call const& call, int n, int const* values, char const* argument);

}   // namespace tutti
