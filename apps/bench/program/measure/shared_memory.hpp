// SPDX-License-Identifier: BSD-3-Clause
// Memory that all ranks of the node map: a memfd of rank 0 that the others open through /proc. No name in a file
// system, no /dev/shm, and nothing of the MPI library's but a broadcast of 8 bytes, so it is the same under every MPI.
#pragma once

#include <cstddef>
#include <mpi.h>

namespace bench {

class SharedMemory {
public:
    SharedMemory(MPI_Comm comm, std::size_t bytes); // collective; zeroes; ends the job where ranks cannot share
    ~SharedMemory();
    SharedMemory(const SharedMemory &) = delete;
    SharedMemory &operator=(const SharedMemory &) = delete;

    void *data() const { return memory_; }

private:
    void *memory_;
    std::size_t bytes_;
};

} // namespace bench
