// SPDX-License-Identifier: BSD-3-Clause
// The size of a received message in a status (MPI 3.1, 3.2.5 and 4.1.11), and address arithmetic (4.1.5).
#include <climits>

#include "mpi_h/entry/entry.hpp"

namespace tutti {
namespace {

std::size_t bytes_in(Call& call, MPI_Status const* status) {
    call.pointer(status, "status");
    return abi::status_bytes(*status);
}

std::int64_t elements_in(Call& call, MPI_Status const* status, MPI_Datatype datatype) {
    return call.type(datatype).elements(bytes_in(call, status));
}

[[gnu::always_inline]] inline int address_of(void const* location, MPI_Aint* address,
                                             Function function = __builtin_FUNCTION()) {
    return enter(function, args(location, address), [&](Call& call) {
        call.pointer(address, "address");
        *address = reinterpret_cast<MPI_Aint>(location);
    });
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Get_count);
int PMPI_Get_count(MPI_Status const* status, MPI_Datatype datatype, int* count) {
    return enter(args(status, datatype, count), [&](Call& call) {
        auto const bytes = static_cast<std::int64_t>(bytes_in(call, status)), size = call.type(datatype).size();
        call.pointer(count, "count");
        bool const whole = size == 0 ? bytes == 0 : bytes % size == 0 && bytes / size <= INT_MAX;
        *count = !whole ? MPI_UNDEFINED : size == 0 ? 0 : static_cast<int>(bytes / size);
    });
}

TUTTI_FUNCTION(Get_elements);
int PMPI_Get_elements(MPI_Status const* status, MPI_Datatype datatype, int* count) {
    return enter(args(status, datatype, count), [&](Call& call) {
        std::int64_t n = elements_in(call, status, datatype);
        call.pointer(count, "count");
        *count = n < 0 || n > INT_MAX ? MPI_UNDEFINED : static_cast<int>(n);
    });
}

TUTTI_FUNCTION(Get_elements_x);
int PMPI_Get_elements_x(MPI_Status const* status, MPI_Datatype datatype, MPI_Count* count) {
    return enter(args(status, datatype, count), [&](Call& call) {
        std::int64_t n = elements_in(call, status, datatype);
        call.pointer(count, "count");
        *count = n < 0 ? MPI_UNDEFINED : n;
    });
}

TUTTI_FUNCTION(Get_address);
int PMPI_Get_address(void const* location, MPI_Aint* address) { return address_of(location, address); }

TUTTI_FUNCTION(Address);
int PMPI_Address(void* location, MPI_Aint* address) { return address_of(location, address); }

// Addresses wrap like unsigned numbers: a difference may exceed the range of signed ones.

TUTTI_FUNCTION(Aint_add);
MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp) {
    return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(disp));
}

TUTTI_FUNCTION(Aint_diff);
MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2) {
    return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(addr1) - static_cast<std::uintptr_t>(addr2));
}

// Access to the public fields of a status by functions (MPI 4.1, 3.2.5), for languages that cannot access the
// structure. May be called at any time, from any thread; they use only the status.

namespace tutti {
namespace {

int get(MPI_Status const* status, int MPI_Status::*field, int* value, char const* argument,
        Function function = __builtin_FUNCTION()) {
    return enter<When::any_time>(function, args(status, value), [&](Call& call) {
        call.pointer(status, "status");
        call.pointer(value, argument);
        *value = status->*field;
    });
}

int set(MPI_Status* status, int MPI_Status::*field, int value, Function function = __builtin_FUNCTION()) {
    return enter<When::any_time>(function, args(status, value), [&](Call& call) {
        call.pointer(status, "status");
        status->*field = value;
    });
}

}   // namespace
}   // namespace tutti

TUTTI_FUNCTION(Status_get_source);
int PMPI_Status_get_source(const MPI_Status* status, int* source) {
    return tutti::get(status, &MPI_Status::MPI_SOURCE, source, "source");
}

TUTTI_FUNCTION(Status_get_tag);
int PMPI_Status_get_tag(const MPI_Status* status, int* tag) {
    return tutti::get(status, &MPI_Status::MPI_TAG, tag, "tag");
}

TUTTI_FUNCTION(Status_get_error);
int PMPI_Status_get_error(const MPI_Status* status, int* error) {
    return tutti::get(status, &MPI_Status::MPI_ERROR, error, "error");
}

TUTTI_FUNCTION(Status_set_source);
int PMPI_Status_set_source(MPI_Status* status, int source) {
    return tutti::set(status, &MPI_Status::MPI_SOURCE, source);
}

TUTTI_FUNCTION(Status_set_tag);
int PMPI_Status_set_tag(MPI_Status* status, int tag) { return tutti::set(status, &MPI_Status::MPI_TAG, tag); }

TUTTI_FUNCTION(Status_set_error);
int PMPI_Status_set_error(MPI_Status* status, int error) { return tutti::set(status, &MPI_Status::MPI_ERROR, error); }
