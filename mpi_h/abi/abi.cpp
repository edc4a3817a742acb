// SPDX-License-Identifier: BSD-3-Clause
// Error classes and their numbers in the ABI.
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

ErrorClass class_of(int number) {
    for (auto [name, value] : numbers)
        if (value == number) return name;
    return ErrorClass::unknown;
}

}   // namespace tutti::abi
