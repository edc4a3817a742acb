// SPDX-License-Identifier: BSD-3-Clause
// C++ exceptions inside a call, thrown here by a callback of the program, become MPI errors whose class names the
// missing resource. The library stays usable.
// ranks: 1 2
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "tests/ranks/check.h"

static int kind;

static int copy(MPI_Comm, int, void*, void*, void*, int*) {
    switch (kind) {
    case 0: throw std::bad_alloc();
    case 1: throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again), "a thread");
    case 2: throw std::system_error(std::make_error_code(std::errc::too_many_files_open), "a file");
    case 3: throw std::system_error(std::make_error_code(std::errc::permission_denied), "a door");
    default: throw std::runtime_error("a callback went wrong");
    }
}

int main(int argc, char** argv) {
    int provided, key;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    int const classes[] = {MPI_ERR_NO_MEM, MPI_ERR_NO_MEM, MPI_ERR_NO_MEM, MPI_ERR_OTHER, MPI_ERR_INTERN};
    char const* const words[] = {"memory", "a thread", "a file", "a door", "a callback went wrong"};
    for (kind = 0; kind < 5; ++kind) {
        MPI_Comm made = MPI_COMM_NULL;
        int const code = MPI_Comm_dup(MPI_COMM_SELF, &made);
        int error_class = MPI_SUCCESS, length;
        char text[MPI_MAX_ERROR_STRING];
        MPI_Error_class(code, &error_class);
        MPI_Error_string(code, text, &length);
        CHECK(error_class == classes[kind], "exception %d gives class %d: %s", kind, error_class, text);
        CHECK(std::strstr(text, words[kind]) && std::strstr(text, "MPI_Comm_dup"), "exception %d: '%s'", kind, text);
        MPI_Barrier(MPI_COMM_WORLD);   // communication still works
    }
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    MPI_Comm_free_keyval(&key);
    MPI_Finalize();
}
