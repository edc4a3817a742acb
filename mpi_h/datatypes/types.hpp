// SPDX-License-Identifier: BSD-3-Clause
// What the entry points of datatypes share.
#pragma once

#include <vector>

#include "mpi_h/entry/entry.hpp"
#include "runtime/datatype/builder.hpp"
#include "runtime/datatype/bytes.hpp"

namespace tutti {

using Numbers = std::vector<std::int64_t>;

/// The handle of a new type that remembers how it was made.
inline MPI_Datatype handle_of(Ref<Datatype> type, TypeRecipe recipe) {
    TypeBuilder::remember(*type, std::move(recipe));
    return library().tables.datatypes.add(type.detach());
}

inline Ref<Datatype> part(Datatype& type) { return Ref<Datatype>::share(&type); }

/// A user's array of counts, lengths or displacements, each times `unit`.
template <class T>
Numbers numbers(Call const& call, int n, T const* values, char const* argument, std::int64_t unit = 1) {
    if (n > 0) call.pointer(values, argument);
    Numbers all(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = type_product(values[i], unit);
    return all;
}

/// The same for block lengths, which must not be negative.
Numbers lengths(Call const& call, int n, int const* values, char const* argument);

}   // namespace tutti
