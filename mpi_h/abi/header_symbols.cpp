// SPDX-License-Identifier: BSD-3-Clause
// The symbols of constants in mpi.h and in MPICH's Fortran interface. Their addresses matter, not their values; at its
// start, libmpichfort.so.12 stores the addresses of Fortran's special arguments in the MPI_F_ symbols.
#include "mpi_h/abi/abi.hpp"

namespace {
int unweighted, weights_empty;
char all_handles;
}   // namespace

extern "C" {

int* const MPI_UNWEIGHTED = &unweighted;
int* const MPI_WEIGHTS_EMPTY = &weights_empty;
MPIR_T_pvar_handle_s* const MPI_T_PVAR_ALL_HANDLES = reinterpret_cast<MPIR_T_pvar_handle_s*>(&all_handles);

MPI_Fint* MPI_F_STATUS_IGNORE = nullptr;
MPI_Fint* MPI_F_STATUSES_IGNORE = nullptr;

MPI_F08_status MPIR_F08_MPI_STATUS_IGNORE_OBJ;
MPI_F08_status MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
int MPIR_F08_MPI_IN_PLACE;
int MPIR_F08_MPI_BOTTOM;

MPI_F08_status* MPI_F08_STATUS_IGNORE = &MPIR_F08_MPI_STATUS_IGNORE_OBJ;
MPI_F08_status* MPI_F08_STATUSES_IGNORE = &MPIR_F08_MPI_STATUSES_IGNORE_OBJ[0];

/// MPI_COMM_DUP_FN and similar functions: the copy has the same value.
int MPIR_Dup_fn(MPI_Comm, int, void*, void* value_in, void* value_out, int* flag) {
    *static_cast<void**>(value_out) = value_in;
    *flag = 1;
    return MPI_SUCCESS;
}
}
