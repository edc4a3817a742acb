// SPDX-License-Identifier: BSD-3-Clause
// The attributes that communicators have from the start (MPI 3.1, 8.1.2 and 10.5). As in MPICH a C program gets a
// pointer to an int, and any communicator answers for MPI_COMM_WORLD.
#include <climits>
#include <cstdlib>

#include "mpi_h/communicators/keyval.hpp"

namespace tutti {
namespace {

constexpr int first_key = MPI_TAG_UB, last_key = MPI_APPNUM + 1;

/// The place of this program among those that the launcher was given; another launcher may not tell.
int const* application_number() {
    static char const* const text = std::getenv("PMI_APPNUM");
    static int const number = text ? std::atoi(text) : 0;
    return text ? &number : nullptr;
}

int const* universe_size() {
    static int const size = library().process->size();
    return &size;
}

}   // namespace

bool is_predefined_key(int keyval) { return keyval >= first_key && keyval <= last_key; }

int const* predefined_attribute(int keyval) {
    static constexpr int largest_tag = INT_MAX, no_host = MPI_PROC_NULL, any_rank = MPI_ANY_SOURCE, yes = 1, no = 0;
    switch (keyval - (keyval % 2 == 0 ? 1 : 0)) {   // Fortran's keys are the even numbers after C's
    case MPI_TAG_UB: return &largest_tag;
    case MPI_HOST: return &no_host;
    case MPI_IO: return &any_rank;
    // The ranks of a node read the same clock; those of several nodes have never been compared.
    case MPI_WTIME_IS_GLOBAL: return library().process->cluster.alone() ? &yes : &no;
    case MPI_UNIVERSE_SIZE: return universe_size();
    case MPI_LASTUSEDCODE: return &library().last_used_code;
    case MPI_APPNUM: return application_number();
    }
    return nullptr;
}

}   // namespace tutti
