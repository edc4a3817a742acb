// SPDX-License-Identifier: BSD-3-Clause
// The pages of the other MPI error classes (arguments, attributes, infos, windows, the system), and of MPI_Abort.
#include "launcher/diagnosis/explanations/explanations.hpp"

namespace tutti::launcher {
namespace {

constexpr Explanation object_pages[] = {
    {"MPI_ERR_ARG", "an argument is not usable", R"(
An argument is not valid for its function; the message names it. Examples are a null pointer for a result, an array
without a length, or a handle of another kind.

Wrong:

    MPI_Comm_rank(MPI_COMM_WORLD, NULL);

Right: the address of a variable.

    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

If no status is needed, pass MPI_STATUS_IGNORE (or MPI_STATUSES_IGNORE for an array), which is not NULL.
)",
     "compare the argument that the message names with the function's page in the standard"},
    {"MPI_ERR_OTHER", "an error that has no class of its own", R"(
The message describes the error. Often the order of calls is wrong: most MPI functions may be called only between
MPI_Init and MPI_Finalize, and each of these two only once. MPI_Initialized and MPI_Finalized may be called at any
time.

Wrong:

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Init(&argc, &argv);

Right:

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ...
    MPI_Finalize();
    return 0;

Destructors of global objects run after main, and therefore after MPI_Finalize. Errors of user-defined classes
(MPI_Add_error_class) are also reported under this name.
)",
     ""},
    {"MPI_Abort", "the program has ended the job", R"(
This is not an MPI error: the program has called MPI_Abort, which ends all ranks. mpiexec exits with the code passed
to it. Usually the program prints the reason before.

    if (!file) {
        fprintf(stderr, "no input\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
)",
     ""},
    {"MPI_ERR_NO_MEM", "there is no more memory", R"(
The system has not provided the memory that the call needs, or the job has used all of its share.

Remedies: fewer ranks per node, a smaller problem, a larger limit (ulimit -v, the memory requested for a batch job,
the size of /dev/shm in a container). `mpiexec --stats` shows how much of it ranks have used.
)",
     "make the problem smaller, start fewer ranks on a node, or allow the job more memory"},
    {"MPI_ERR_INTERN", "an error inside the MPI library", R"(
The library is in an inconsistent state. Either this is an error in the library, or the program has overwritten its
memory: first run the program under a memory checker (-fsanitize=address, valgrind).

If it finds nothing, please report the error with its message and the smallest program that causes it.
)",
     "look for overwritten memory with -fsanitize=address; if there is none, please report it"},
    {"MPI_ERR_UNKNOWN", "an error that has no name", R"(
A callback of the program, such as one that copies an attribute, has returned an unknown error code. Callbacks must
return MPI_SUCCESS or a code of MPI_Add_error_code.
)",
     "let callbacks return MPI_SUCCESS or a code created by MPI_Add_error_code"},
    {"MPI_ERR_UNSUPPORTED_OPERATION", "the operation is not supported", R"(
MPI allows the call, but this library does not support it, or not with these arguments. The message names what is not
supported and usually an alternative.
)",
     ""},
    {"MPI_ERR_KEYVAL", "the key value is not usable", R"(
The key of an attribute was never created, has been freed, or belongs to another kind of object: keys of
communicators, windows and datatypes are created by MPI_Comm_create_keyval, MPI_Win_create_keyval and
MPI_Type_create_keyval.

Wrong:

    int key;   /* never created */
    MPI_Comm_set_attr(comm, key, value);

Right:

    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, value);
)",
     "create the key for the same kind of object, and free it only after its last use"},
    {"MPI_ERR_INFO", "the info is not usable", R"(
The info object is MPI_INFO_NULL where one is required, was never created, or has been freed.

Wrong:

    MPI_Info_set(MPI_INFO_NULL, "same_size", "true");

Right:

    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "same_size", "true");
    MPI_Win_allocate(bytes, 1, info, comm, &base, &win);
    MPI_Info_free(&info);
)",
     "create it with MPI_Info_create, and free it after its last use"},
    {"MPI_ERR_INFO_KEY", "the info key is not usable", R"(
A key of an info object has 1 to MPI_MAX_INFO_KEY - 1 characters.

Wrong:

    MPI_Info_set(info, "", "true");

Right:

    MPI_Info_set(info, "same_size", "true");
)",
     "keys have 1 to MPI_MAX_INFO_KEY - 1 characters"},
    {"MPI_ERR_INFO_VALUE", "the info value is not usable", R"(
A value of an info object must have 1 to MPI_MAX_INFO_VAL - 1 characters, and be valid for its key.

Wrong:

    MPI_Info_set(info, "same_size", "");

Right:

    MPI_Info_set(info, "same_size", "true");
)",
     "values are texts of 1 to MPI_MAX_INFO_VAL - 1 characters"},
    {"MPI_ERR_INFO_NOKEY", "the info has no such key", R"(
The key passed to MPI_Info_delete does not exist in the info object. The flag of MPI_Info_get shows whether a key
exists.

Wrong:

    MPI_Info_delete(info, "same_size");

Right:

    MPI_Info_get(info, "same_size", 9, value, &there);
    if (there) MPI_Info_delete(info, "same_size");
)",
     "call MPI_Info_get first: its flag shows whether the key exists"},
    {"MPI_ERR_NAME", "the service's name is not known", R"(
No process has published the name passed to MPI_Lookup_name. Tutti does not have this function: the code was passed to
an error handler by the program.

Wrong:

    MPI_Lookup_name("ocean", MPI_INFO_NULL, port);

Right:

    MPI_Publish_name("ocean", MPI_INFO_NULL, port);   /* the other program, before */
)",
     "publish the name by MPI_Publish_name before it is looked up"},
    {"MPI_ERR_WIN", "the window is not usable", R"(
The window is MPI_WIN_NULL, was never created, or has been freed.

Wrong:

    MPI_Win_free(&win);
    MPI_Win_fence(0, win);

Right: all ranks create it together, and free it together after the last access.

    MPI_Win_create(base, bytes, sizeof(int), MPI_INFO_NULL, comm, &win);
    ...
    MPI_Win_free(&win);
)",
     "use a window only between its creation and MPI_Win_free, on all of its ranks"},
    {"MPI_ERR_RMA_SYNC", "the window is not synchronised for this access", R"(
Memory of another rank may be accessed only within an epoch, which one synchronization call opens and another one
closes. Epochs of different kinds must not be open at the same time, and only an open epoch can be closed.

Wrong:

    MPI_Put(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, win);

Right: all ranks of the window call the fences,

    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Put(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);

or the accessing rank locks the window: MPI_Win_lock, MPI_Put, MPI_Win_unlock.
)",
     "put the access between two MPI_Win_fence, or between MPI_Win_lock and MPI_Win_unlock"},
    {"MPI_ERR_RMA_RANGE", "the target memory is not part of the window", R"(
The access extends beyond the memory of the target's part of the window. Displacements are in units of the disp_unit
that the *target* specified when it created the window, not in bytes or elements of the datatype.

Wrong: the unit is sizeof(double), and the program counts bytes.

    MPI_Put(&x, 1, MPI_DOUBLE, 1, i * sizeof(double), 1, MPI_DOUBLE, win);

Right:

    MPI_Put(&x, 1, MPI_DOUBLE, 1, i, 1, MPI_DOUBLE, win);
)",
     "displacements are in units of the target's disp_unit; check the size of its part of the window"},
    {"MPI_ERR_RMA_CONFLICT", "accesses to the window conflict", R"(
Two operations access the same memory in one epoch, and one of them writes: the result is undefined. Several ranks may
use MPI_Accumulate at the same time, but not MPI_Put.

Wrong:

    MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);   /* on all ranks */

Right:

    MPI_Accumulate(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
)",
     "put a synchronization between the two accesses, or use MPI_Accumulate"},
    {"MPI_ERR_RMA_ATTACH", "the memory cannot be attached", R"(
MPI_Win_attach requires a window of MPI_Win_create_dynamic, and memory that is not attached to it yet; MPI_Win_detach
requires the address with which it was attached.

Wrong:

    MPI_Win_create(a, bytes, 1, MPI_INFO_NULL, comm, &win);
    MPI_Win_attach(win, b, bytes);

Right:

    MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
    MPI_Win_attach(win, b, bytes);
)",
     "attach memory once, to a window of MPI_Win_create_dynamic"},
    {"MPI_ERR_RMA_SHARED", "the memory cannot be shared", R"(
MPI_Win_allocate_shared requires a communicator of ranks that can share memory: those of one node.

Wrong:

    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);   /* on two nodes */

Right:

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, node, &base, &win);
)",
     "use the communicator of a node: MPI_Comm_split_type with MPI_COMM_TYPE_SHARED"},
    {"MPI_ERR_RMA_FLAVOR", "the window is of the wrong flavour", R"(
The call requires a window created by another function: MPI_Win_attach and MPI_Win_detach are for windows of
MPI_Win_create_dynamic, MPI_Win_shared_query for all others.

Wrong:

    MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
    MPI_Win_shared_query(win, 0, &size, &unit, &of_rank_0);

Right:

    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, node, &base, &win);
    MPI_Win_shared_query(win, 0, &size, &unit, &of_rank_0);
)",
     "create the window by the function that the call requires"},
    {"MPI_ERR_BASE", "the window's base is not usable", R"(
There is no memory at the address passed for a window, or the memory cannot be freed: MPI_Free_mem requires an address
that MPI_Alloc_mem returned.

Wrong:

    double* a = malloc(bytes);
    MPI_Free_mem(a);

Right:

    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &a);
    MPI_Free_mem(a);
)",
     "check that the memory is allocated, and freed once by the corresponding function"},
    {"MPI_ERR_SIZE", "the size is not usable", R"(
The number of bytes of a window, or of memory, is negative or more than can be addressed.

Wrong:

    MPI_Win_allocate(n * n * n * 8, 8, MPI_INFO_NULL, comm, &base, &win);   /* an int has overflowed */

Right:

    MPI_Win_allocate((MPI_Aint)n * n * n * 8, 8, MPI_INFO_NULL, comm, &base, &win);
)",
     "sizes are in bytes, at least 0: check how the number is computed"},
    {"MPI_ERR_DISP", "the displacement is not usable", R"(
The unit of displacements (disp_unit) of a window must be at least 1: usually 1, or the size of an element. A
displacement is a number of units of the target, from 0.

Wrong:

    MPI_Win_create(a, bytes, 0, MPI_INFO_NULL, comm, &win);

Right:

    MPI_Win_create(a, bytes, sizeof(a[0]), MPI_INFO_NULL, comm, &win);
)",
     "disp_unit is at least 1, and displacements are counted in it from 0"},
    {"MPI_ERR_LOCKTYPE", "there is no such type of lock", R"(
MPI_Win_lock takes MPI_LOCK_SHARED, for several ranks at a time, or MPI_LOCK_EXCLUSIVE, for one alone.

Wrong:

    MPI_Win_lock(0, 1, 0, win);

Right:

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
)",
     "the lock is MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE"},
    {"MPI_ERR_ASSERT", "the assertion is not usable", R"(
The assertion of a synchronization call is 0, or a bitwise OR of the MPI_MODE_... constants that the function allows.
0 is always valid.

Wrong:

    MPI_Win_fence(MPI_MODE_NOCHECK, win);   /* for locks and posts only */

Right:

    MPI_Win_fence(0, win);
)",
     "pass 0, which is always valid"},
};

}   // namespace

std::span<Explanation const> errors_of_objects() { return object_pages; }

}   // namespace tutti::launcher
