// SPDX-License-Identifier: BSD-3-Clause
// The status that a call gives back, also when it ends with an error such as truncation.
#pragma once

#include "mpi_h/abi/abi.hpp"

namespace tutti {

class StatusOut {
public:
    explicit StatusOut(MPI_Status* to) : to_(to) { status.ignored = to == MPI_STATUS_IGNORE; }
    ~StatusOut() { abi::store(to_, status); }
    StatusOut(StatusOut const&) = delete;
    StatusOut& operator=(StatusOut const&) = delete;

    Status status;

private:
    MPI_Status* to_;
};

}   // namespace tutti
