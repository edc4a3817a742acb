// SPDX-License-Identifier: BSD-3-Clause
// The shared page is a memfd of rank 0 that the others open through /proc: no name in a file system, no /dev/shm.
#include "shared_page.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace bench {
namespace {

[[noreturn]] void give_up(MPI_Comm comm, const char *what)
{
    std::fprintf(stderr, "tutti-bench: the ranks cannot share a page (%s: %s); are they all on one node?\n", what,
                 std::strerror(errno));
    MPI_Abort(comm, 3);
    _exit(3);
}

} // namespace

SharedPage::SharedPage(MPI_Comm comm)
{
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &ranks_);
    cpu_set_t cores;
    crowded_ = sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) < ranks_;
    std::size_t bytes = sizeof(Line) * ranks_;
    int place[2] = {int(getpid()), -1};
    if (rank_ == 0) {
        place[1] = memfd_create("tutti-bench", MFD_CLOEXEC);
        if (place[1] < 0 || ftruncate(place[1], off_t(bytes)) != 0)
            give_up(comm, "memfd_create");
    }
    MPI_Bcast(place, 2, MPI_INT, 0, comm);
    int file = place[1];
    if (rank_ != 0) {
        std::string name = "/proc/" + std::to_string(place[0]) + "/fd/" + std::to_string(place[1]);
        file = open(name.c_str(), O_RDWR | O_CLOEXEC);
        if (file < 0)
            give_up(comm, name.c_str());
    }
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        give_up(comm, "mmap");
    lines_ = static_cast<Line *>(memory);
    MPI_Barrier(comm); // rank 0 keeps its file open until all have opened it
    close(file);
}

SharedPage::~SharedPage() { munmap(lines_, sizeof(Line) * ranks_); }

void SharedPage::barrier()
{
    lines_[rank_].arrived.store(++count_, std::memory_order_release);
    for (int rank = 0; rank < ranks_; ++rank)
        for (int polls = 0; lines_[rank].arrived.load(std::memory_order_acquire) < count_; ++polls)
            if (crowded_ || polls > 1000)
                sched_yield();
}

} // namespace bench
