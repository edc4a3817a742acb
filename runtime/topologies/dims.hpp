// SPDX-License-Identifier: BSD-3-Clause
// Balanced grid sizes (MPI 3.1, 7.5.2; J. L. Träff, F. D. Lübbe, "Specification guideline violations by
// MPI_Dims_create", EuroMPI 2015: what "as close as possible" should mean, and that it is quickly computed).
#pragma once

#include <span>

namespace tutti {

/// Fills in the dimensions that are 0 so that the product of all becomes `nodes`: in non-increasing order, with the
/// least possible difference between the largest and the smallest; then with the greatest last, last but one, ….
/// Throws Error when a dimension is negative or the product cannot be had.
void balance_dims(int nodes, std::span<int> dims);

}   // namespace tutti
