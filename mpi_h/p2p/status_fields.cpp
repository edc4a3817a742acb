// SPDX-License-Identifier: BSD-3-Clause
// The public fields of a status by functions (MPI 4.1, 3.2.5), for languages that see no structure. They may be called
// at any time, from any thread, and touch nothing but the status.
#include "mpi_h/entry/entry.hpp"

namespace tutti {
namespace {

int get(char const* name, MPI_Status const* status, int MPI_Status::*field, int* value, char const* argument) {
    return enter<When::any_time>(name, given(status, value), [&](Call& call) {
        call.pointer(status, "status");
        call.pointer(value, argument);
        *value = status->*field;
    });
}

int set(char const* name, MPI_Status* status, int MPI_Status::*field, int value) {
    return enter<When::any_time>(name, given(status, value), [&](Call& call) {
        call.pointer(status, "status");
        status->*field = value;
    });
}

}   // namespace
}   // namespace tutti

TUTTI_FUNCTION(Status_get_source)
int PMPI_Status_get_source(const MPI_Status* status, int* source) {
    return tutti::get("MPI_Status_get_source", status, &MPI_Status::MPI_SOURCE, source, "source");
}

TUTTI_FUNCTION(Status_get_tag)
int PMPI_Status_get_tag(const MPI_Status* status, int* tag) {
    return tutti::get("MPI_Status_get_tag", status, &MPI_Status::MPI_TAG, tag, "tag");
}

TUTTI_FUNCTION(Status_get_error)
int PMPI_Status_get_error(const MPI_Status* status, int* error) {
    return tutti::get("MPI_Status_get_error", status, &MPI_Status::MPI_ERROR, error, "error");
}

TUTTI_FUNCTION(Status_set_source)
int PMPI_Status_set_source(MPI_Status* status, int source) {
    return tutti::set("MPI_Status_set_source", status, &MPI_Status::MPI_SOURCE, source);
}

TUTTI_FUNCTION(Status_set_tag)
int PMPI_Status_set_tag(MPI_Status* status, int tag) {
    return tutti::set("MPI_Status_set_tag", status, &MPI_Status::MPI_TAG, tag);
}

TUTTI_FUNCTION(Status_set_error)
int PMPI_Status_set_error(MPI_Status* status, int error) {
    return tutti::set("MPI_Status_set_error", status, &MPI_Status::MPI_ERROR, error);
}
