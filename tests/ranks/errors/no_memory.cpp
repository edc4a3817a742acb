// SPDX-License-Identifier: BSD-3-Clause
// Each memory allocation of a call fails in turn: no exception leaves an MPI function, errors have a class, and calls
// succeed when memory is available again. With the argument "fatal", the error handler ends the job; with "first", the
// first call of all has no memory.
// ranks: 1 2
#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/ranks/check.h"

static thread_local long left = -1;   // allocations of this thread that succeed; −1: all

void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
    if (left == 0) return nullptr;
    if (left > 0) --left;
    return std::malloc(bytes);
}
void* operator new(std::size_t bytes) {
    if (void* const memory = operator new(bytes, std::nothrow)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

/// Makes the call with this number of successful allocations; returns its error class.
template <class MpiCall>
static int starved(long allowed, MpiCall const& call) {
    int code = MPI_SUCCESS, error_class = MPI_SUCCESS;
    left = allowed;
    try {
        code = call();
    } catch (...) { code = -1; }
    left = -1;
    CHECK(code != -1, "an exception left the call with %ld allocations", allowed);
    MPI_Error_class(code, &error_class);
    return error_class;
}

/// Repeats the call with 0, 1, 2, … allocations, until it has enough. `expected` is the error class then.
template <class MpiCall>
static void starve(int expected, MpiCall const& call) {
    for (long allowed = 0; allowed < 100; ++allowed) {
        int const error_class = starved(allowed, call);
        CHECK(error_class == expected || error_class == MPI_ERR_NO_MEM, "class %d with %ld", error_class, allowed);
    }
}

int main(int argc, char** argv) {
    char const* const word = argc > 1 ? argv[1] : "";
    if (std::strcmp(word, "first") == 0) left = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, nullptr);
    MPI_Init(&argc, &argv);
    int const value = 1;
    if (std::strcmp(word, "fatal") == 0) {
        left = 0;
        MPI_Send(&value, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    starve(MPI_ERR_RANK, [&] { return MPI_Send(&value, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD); });
    starve(MPI_ERR_ARG, [] { return MPI_Comm_size(MPI_COMM_WORLD, nullptr); });
    starve(MPI_SUCCESS, [] {
        MPI_Group group = MPI_GROUP_NULL;
        int const code = MPI_Comm_group(MPI_COMM_WORLD, &group);
        if (group != MPI_GROUP_NULL) MPI_Group_free(&group);
        return code;
    });
    starve(MPI_SUCCESS, [] {
        MPI_Info info = MPI_INFO_NULL;
        int const code = MPI_Info_create(&info);
        if (info != MPI_INFO_NULL) MPI_Info_free(&info);
        return code;
    });
    starve(MPI_SUCCESS, [&] {
        int received = 0;
        return MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &received, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    });
    starve(MPI_SUCCESS, [] {
        int provided;
        return MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    });
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
