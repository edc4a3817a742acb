// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_h/p2p/words.hpp"

#include "mpi_h/entry/library_state.hpp"
#include "runtime/base/error.hpp"

namespace tutti {
namespace {

std::string type_words(MPI_Datatype handle) {
    if (handle == MPI_DATATYPE_NULL) return "MPI_DATATYPE_NULL";
    Datatype const* const type = library().tables.datatypes.find(handle);
    return !type ? "of no datatype" : type->name.empty() ? "of a datatype of the program" : type->name;
}

std::string comm_words(MPI_Comm handle) {
    if (handle == MPI_COMM_NULL) return "MPI_COMM_NULL";
    Comm const* const comm = library().tables.comms.find(handle);
    return comm ? comm->words() : "no communicator";
}

std::string peer_words(int rank) {
    switch (rank) {
    case MPI_PROC_NULL: return "MPI_PROC_NULL";
    case MPI_ANY_SOURCE: return "any source";
    case MPI_ROOT: return "MPI_ROOT";
    default: return join("rank ", rank);
    }
}

}   // namespace

std::string message_words(int count, MPI_Datatype datatype, char const* direction, int rank, int tag, MPI_Comm comm) {
    return join(count, " ", type_words(datatype), " ", direction, " ", peer_words(rank), ", ",
                tag == MPI_ANY_TAG ? "any tag" : join("tag ", tag), ", ", comm_words(comm));
}

}   // namespace tutti
