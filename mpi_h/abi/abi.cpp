// SPDX-License-Identifier: BSD-3-Clause
// Error classes and their numbers in the ABI, and the symbols of constants.
#include "mpi_h/abi/abi.hpp"

#include <utility>

namespace tutti::abi {
namespace {

constexpr std::pair<ErrorClass, int> numbers[] = {
    {ErrorClass::success, MPI_SUCCESS},
    {ErrorClass::buffer, MPI_ERR_BUFFER},
    {ErrorClass::count, MPI_ERR_COUNT},
    {ErrorClass::type, MPI_ERR_TYPE},
    {ErrorClass::tag, MPI_ERR_TAG},
    {ErrorClass::comm, MPI_ERR_COMM},
    {ErrorClass::rank, MPI_ERR_RANK},
    {ErrorClass::request, MPI_ERR_REQUEST},
    {ErrorClass::root, MPI_ERR_ROOT},
    {ErrorClass::group, MPI_ERR_GROUP},
    {ErrorClass::op, MPI_ERR_OP},
    {ErrorClass::topology, MPI_ERR_TOPOLOGY},
    {ErrorClass::dims, MPI_ERR_DIMS},
    {ErrorClass::arg, MPI_ERR_ARG},
    {ErrorClass::unknown, MPI_ERR_UNKNOWN},
    {ErrorClass::truncate, MPI_ERR_TRUNCATE},
    {ErrorClass::other, MPI_ERR_OTHER},
    {ErrorClass::intern, MPI_ERR_INTERN},
    {ErrorClass::in_status, MPI_ERR_IN_STATUS},
    {ErrorClass::pending, MPI_ERR_PENDING},
    {ErrorClass::keyval, MPI_ERR_KEYVAL},
    {ErrorClass::no_mem, MPI_ERR_NO_MEM},
    {ErrorClass::info_key, MPI_ERR_INFO_KEY},
    {ErrorClass::info_value, MPI_ERR_INFO_VALUE},
    {ErrorClass::info_nokey, MPI_ERR_INFO_NOKEY},
    {ErrorClass::info, MPI_ERR_INFO},
    {ErrorClass::name, MPI_ERR_NAME},
    {ErrorClass::errhandler, MPI_ERR_ARG},
    {ErrorClass::unsupported, MPI_ERR_UNSUPPORTED_OPERATION},
    {ErrorClass::win, MPI_ERR_WIN},
    {ErrorClass::base, MPI_ERR_BASE},
    {ErrorClass::size, MPI_ERR_SIZE},
    {ErrorClass::disp, MPI_ERR_DISP},
    {ErrorClass::locktype, MPI_ERR_LOCKTYPE},
    {ErrorClass::assertion, MPI_ERR_ASSERT},
    {ErrorClass::rma_conflict, MPI_ERR_RMA_CONFLICT},
    {ErrorClass::rma_sync, MPI_ERR_RMA_SYNC},
    {ErrorClass::rma_range, MPI_ERR_RMA_RANGE},
    {ErrorClass::rma_attach, MPI_ERR_RMA_ATTACH},
    {ErrorClass::rma_shared, MPI_ERR_RMA_SHARED},
    {ErrorClass::rma_flavor, MPI_ERR_RMA_FLAVOR},
};

}   // namespace

int class_number(ErrorClass error_class) {
    for (auto [name, number] : numbers)
        if (name == error_class) return number;
    return MPI_ERR_UNKNOWN;
}

}   // namespace tutti::abi

// The symbols of constants in mpi.h and in MPICH's Fortran interface. Their addresses matter, not their values; at its
// start, libmpichfort.so.12 stores the addresses of Fortran's special arguments in the MPI_F_ symbols.

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
