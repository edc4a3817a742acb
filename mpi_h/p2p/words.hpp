// SPDX-License-Identifier: BSD-3-Clause
// The arguments of calls that send and receive in the program's words, right ones and wrong ones.
#pragma once

#include <string>

#include "mpi_h/abi/abi.hpp"

namespace tutti {

/// "1 MPI_INT to rank 7, tag 0, MPI_COMM_WORLD"; `direction`: "to", "from".
std::string message_words(int count, MPI_Datatype datatype, char const* direction, int rank, int tag, MPI_Comm comm);

}   // namespace tutti
