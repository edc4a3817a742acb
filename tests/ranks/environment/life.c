// SPDX-License-Identifier: BSD-3-Clause
// Initialization and finalization: the calls that are allowed before, between and after; versions, names and clocks;
// memory from MPI_Alloc_mem.
// ranks: 1 2 4
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "tests/ranks/check.h"

static int deleted_at;

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra) {
    int finalized = 1;
    MPI_Finalized(&finalized);
    CHECK(!finalized, "MPI is finalized inside a delete callback of MPI_COMM_SELF");
    CHECK(comm == MPI_COMM_SELF && value == &deleted_at, "the callback got another object or value");
    deleted_at = 1;
    return MPI_SUCCESS;
}

static void ask_any_time(int expect_initialized, int expect_finalized) {
    int initialized = -1, finalized = -1, version = 0, subversion = 0, length = 0;
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    CHECK(initialized == expect_initialized, "MPI_Initialized returned %d", initialized);
    CHECK(finalized == expect_finalized, "MPI_Finalized returned %d", finalized);
    MPI_Get_version(&version, &subversion);
    CHECK(version == 3 && subversion == 1, "version %d.%d", version, subversion);
    MPI_Get_library_version(text, &length);
    int major = -1, minor = -1, patch = -1, parts = sscanf(text, "Tutti Version: %d.%d.%d", &major, &minor, &patch);
    CHECK(parts == 3 && major * 10000 + minor * 100 + patch == TUTTI_NUMVERSION, "'%s'", text);
    CHECK(strstr(text, "ABI: MPICH") && length == (int)strlen(text), "'%s', length %d", text, length);
}

static void ask_name_and_time(void) {
    char name[MPI_MAX_PROCESSOR_NAME], host[MPI_MAX_PROCESSOR_NAME];
    int length = -1;
    memset(name, 'x', sizeof name);
    MPI_Get_processor_name(name, &length);
    gethostname(host, sizeof host);
    /* Pretended nodes have the names that mpiexec was given, which are addresses. */
    int const pretended = strncmp(name, "127.", 4) == 0;
    CHECK(pretended || strcmp(name, host) == 0, "'%s' is not '%s'", name, host);
    CHECK(length == (int)strlen(name), "'%s', length %d", name, length);

    double before = MPI_Wtime();
    usleep(20000);
    double passed = MPI_Wtime() - before;
    CHECK(passed >= 0.0199, "20 ms took %g s", passed);
    CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1e-3, "tick %g", MPI_Wtick());
    int *global, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &global, &flag);
    CHECK(flag, "MPI_WTIME_IS_GLOBAL is not there");
}

static void use_memory(void) {
    char *memory = NULL;
    MPI_Alloc_mem(1000000, MPI_INFO_NULL, &memory);
    CHECK(memory && (uintptr_t)memory % 64 == 0, "memory at %p", (void *)memory);
    memset(memory, 1, 1000000);
    MPI_Free_mem(memory);
    memory = (char *)1;
    MPI_Alloc_mem(0, MPI_INFO_NULL, &memory);
    MPI_Free_mem(memory);

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int class, code = MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_ARG, "a negative size gives class %d", class);
#ifndef __SANITIZE_ADDRESS__   // which ends the program instead of returning an error
    code = MPI_Alloc_mem((MPI_Aint)1 << 62, MPI_INFO_NULL, &memory);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_NO_MEM, "too much memory gives class %d", class);
#endif
}

int main(int argc, char **argv) {
    ask_any_time(0, 0);
    CHECK(MPI_Wtime() > 0, "the clock before MPI_Init");
    MPI_Init(&argc, &argv);
    ask_any_time(1, 0);
    ask_name_and_time();
    use_memory();
    CHECK(MPI_Pcontrol(1, "anything", 2) == MPI_SUCCESS, "MPI_Pcontrol");
    int code = MPI_Init(&argc, &argv);
    CHECK(code != MPI_SUCCESS, "a second MPI_Init");

    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &deleted_at);
    MPI_Comm_free_keyval(&key);
    MPI_Finalize();
    CHECK(deleted_at == 1, "the attribute of MPI_COMM_SELF was not deleted at the end");
    ask_any_time(1, 1);
    return 0;
}
