// SPDX-License-Identifier: BSD-3-Clause
// The memory that all ranks of the node share.
#include "shared_page.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace bench {
namespace {

[[noreturn]] void abort_job(MPI_Comm comm, char const* what) {
    std::fprintf(stderr, "tutti-bench: the ranks cannot share memory (%s: %s); are they all on one node?\n", what,
                 std::strerror(errno));
    MPI_Abort(comm, 3);
    _exit(3);
}

}   // namespace

SharedMemory::SharedMemory(MPI_Comm comm, std::size_t bytes) : bytes_(bytes) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    struct stat info {};
    long file_id[3] = {long(getpid()), -1, 0};
    if (rank == 0) {
        file_id[1] = memfd_create("tutti-bench", MFD_CLOEXEC);
        if (file_id[1] < 0 || fchmod(int(file_id[1]), 0600) != 0 || ftruncate(int(file_id[1]), off_t(bytes)) != 0 ||
            fstat(int(file_id[1]), &info) != 0)
            abort_job(comm, "memfd_create");
        file_id[2] = long(info.st_ino);
    }
    MPI_Bcast(file_id, 3, MPI_LONG, 0, comm);
    int file = int(file_id[1]);
    if (rank != 0) {
        std::string name = "/proc/" + std::to_string(file_id[0]) + "/fd/" + std::to_string(file_id[1]);
        file = open(name.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (file < 0) abort_job(comm, name.c_str());
        // In another pid namespace, this process id may belong to another process.
        errno = ENOENT;
        if (fstat(file, &info) != 0 || long(info.st_ino) != file_id[2] || info.st_nlink != 0)
            abort_job(comm, name.c_str());
    }
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory_ == MAP_FAILED) abort_job(comm, "mmap");
    MPI_Barrier(comm);   // rank 0 keeps its file open until all have opened it
    close(file);
}

SharedMemory::~SharedMemory() { munmap(memory_, bytes_); }

namespace {

int rank_in(MPI_Comm comm) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

int ranks_of(MPI_Comm comm) {
    int ranks;
    MPI_Comm_size(comm, &ranks);
    return ranks;
}

/// Counts the cores of all ranks together: if each rank is bound to its own core, there are enough.
bool fewer_cores_than(int ranks, MPI_Comm comm) {
    cpu_set_t mine, all;
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) CPU_ZERO(&mine);
    MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, comm);
    return CPU_COUNT(&all) < ranks;
}

}   // namespace

SharedPage::SharedPage(MPI_Comm comm)
    : rank_(rank_in(comm)), ranks_(ranks_of(comm)), oversubscribed_(fewer_cores_than(ranks_, comm)),
      memory_(comm, sizeof(Line) * std::size_t(ranks_)), lines_(static_cast<Line*>(memory_.data())) {}

}   // namespace bench
