// SPDX-License-Identifier: BSD-3-Clause
// The pages of the other MPI error classes (arguments, attributes, infos, windows, the system), and of MPI_Abort.
#include "launcher/diagnosis/explanations/pages.hpp"

namespace tutti::launcher {
namespace {

constexpr Explanation object_pages[] = {
    {"MPI_ERR_ARG", "an argument is not usable", R"(
An argument is outside of what its function takes, and the sentence names it: a null pointer for a result,
an array without a length, a handle of another kind.

Wrong:

    MPI_Comm_rank(MPI_COMM_WORLD, NULL);

Right: the address of a variable.

    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

Where no status is wanted it is MPI_STATUS_IGNORE (or MPI_STATUSES_IGNORE for an array), which is not NULL.
)",
     "compare the argument that the sentence names with the function's page in the standard"},
    {"MPI_ERR_OTHER", "an error that has no class of its own", R"(
The sentence says what it is. Often it is the order: most of MPI may be called only between MPI_Init and
MPI_Finalize, and each of these two once. MPI_Initialized and MPI_Finalized say so at any time.

Wrong:

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Init(&argc, &argv);

Right:

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ...
    MPI_Finalize();
    return 0;

Destructors of global objects run after main, and so after MPI_Finalize. Errors of the classes that a
program adds itself (MPI_Add_error_class) are reported under this name, too.
)",
     ""},
    {"MPI_Abort", "the program has ended the job", R"(
No error of MPI: the program has called MPI_Abort, which ends all ranks. mpiexec ends with the code that it
has given. What the program has found to be wrong it mostly prints itself before.

    if (!file) {
        fprintf(stderr, "no input\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
)",
     ""},
    {"MPI_ERR_NO_MEM", "there is no more memory", R"(
The system has given no memory for what the call needs, or the job's part of it is used up.

What helps: fewer ranks on a node, a smaller problem, a larger limit (ulimit -v, the memory that a batch job
asks for, the size of /dev/shm in a container). `mpiexec --stats=memory` shows what the job takes.
)",
     "make the problem smaller, start fewer ranks on a node, or allow the job more memory"},
    {"MPI_ERR_INTERN", "an error inside the MPI library", R"(
The library has met something that must not happen. It is a mistake of the library's, or memory of the
library's has been overwritten by the program: run the program under a checker of memory
(-fsanitize=address, valgrind) first.

If that finds nothing, please report it, with the sentence and the smallest program that shows it.
)",
     "look for overwritten memory with -fsanitize=address; if there is none, please report it"},
    {"MPI_ERR_UNKNOWN", "an error that has no name", R"(
An error code came from a function of the program's own, such as one that copies an attribute, and is none
that MPI knows. Callbacks give back MPI_SUCCESS or a code of MPI_Add_error_code.
)",
     "let callbacks give back MPI_SUCCESS, or a code that MPI_Add_error_code has made"},
    {"MPI_ERR_UNSUPPORTED_OPERATION", "the operation is not supported", R"(
MPI allows the call, and this library does not do it, or not with these arguments. The sentence says what it
does not do and mostly what to use in its place.
)",
     ""},
    {"MPI_ERR_KEYVAL", "the key value is not usable", R"(
The key of an attribute was never made, has been freed, or belongs to another kind of object: keys of
communicators, windows and datatypes are made by MPI_Comm_create_keyval, MPI_Win_create_keyval and
MPI_Type_create_keyval.

Wrong:

    int key;   /* never created */
    MPI_Comm_set_attr(comm, key, value);

Right:

    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, value);
)",
     "make the key for the same kind of object, and free it only when no call uses it any more"},
    {"MPI_ERR_INFO", "the info is not usable", R"(
The info is MPI_INFO_NULL where one is needed, was never made, or has been freed.

Wrong:

    MPI_Info_set(MPI_INFO_NULL, "same_size", "true");

Right:

    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "same_size", "true");
    MPI_Win_allocate(bytes, 1, info, comm, &base, &win);
    MPI_Info_free(&info);
)",
     "make it with MPI_Info_create, and free it after its last use"},
    {"MPI_ERR_INFO_KEY", "the info key is not usable", R"(
A key of an info is a text of 1 to MPI_MAX_INFO_KEY - 1 characters.

Wrong:

    MPI_Info_set(info, "", "true");

Right:

    MPI_Info_set(info, "same_size", "true");
)",
     "keys have 1 to MPI_MAX_INFO_KEY - 1 characters"},
    {"MPI_ERR_INFO_VALUE", "the info value is not usable", R"(
A value of an info is a text of 1 to MPI_MAX_INFO_VAL - 1 characters, or the key wants another kind of
value.

Wrong:

    MPI_Info_set(info, "same_size", "");

Right:

    MPI_Info_set(info, "same_size", "true");
)",
     "values are texts of 1 to MPI_MAX_INFO_VAL - 1 characters"},
    {"MPI_ERR_INFO_NOKEY", "the info has no such key", R"(
MPI_Info_delete has been given a key that the info does not have. The flag of MPI_Info_get says whether it
has one.

Wrong:

    MPI_Info_delete(info, "same_size");

Right:

    MPI_Info_get(info, "same_size", 9, value, &there);
    if (there) MPI_Info_delete(info, "same_size");
)",
     "ask by MPI_Info_get, whose flag says whether the key is there"},
    {"MPI_ERR_NAME", "the service's name is not known", R"(
MPI_Lookup_name has been given a name that no process has published. Tutti has no such function: the code
comes from a call of an error handler.

Wrong:

    MPI_Lookup_name("ocean", MPI_INFO_NULL, port);

Right:

    MPI_Publish_name("ocean", MPI_INFO_NULL, port);   /* the other program, before */
)",
     "publish the name by MPI_Publish_name before it is looked up"},
    {"MPI_ERR_WIN", "the window is not usable", R"(
The window is MPI_WIN_NULL, was never made, or has been freed.

Wrong:

    MPI_Win_free(&win);
    MPI_Win_fence(0, win);

Right: all ranks make it together, and free it together, after the last access.

    MPI_Win_create(base, bytes, sizeof(int), MPI_INFO_NULL, comm, &win);
    ...
    MPI_Win_free(&win);
)",
     "a window is used between the call that makes it and MPI_Win_free, on all of its ranks"},
    {"MPI_ERR_RMA_SYNC", "the window is not synchronised for this access", R"(
Memory of another rank may be accessed within an epoch only, which a synchronization opens and another one
closes. Those of different kinds may not be open at the same time, and what is closed must have been opened.

Wrong:

    MPI_Put(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, win);

Right: all ranks of the window do the fences,

    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Put(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);

or the one that accesses takes a lock: MPI_Win_lock, MPI_Put, MPI_Win_unlock.
)",
     "put the access between two MPI_Win_fence, or between MPI_Win_lock and MPI_Win_unlock"},
    {"MPI_ERR_RMA_RANGE", "the target memory is not part of the window", R"(
The access reaches beyond what the target has put into the window. The displacement counts in units that the
*target* has given when it made the window (disp_unit), not in bytes or in elements of the datatype.

Wrong: the unit is sizeof(double), and the program counts bytes.

    MPI_Put(&x, 1, MPI_DOUBLE, 1, i * sizeof(double), 1, MPI_DOUBLE, win);

Right:

    MPI_Put(&x, 1, MPI_DOUBLE, 1, i, 1, MPI_DOUBLE, win);
)",
     "the displacement counts in the target's disp_unit; see how many of them its part of the window has"},
    {"MPI_ERR_RMA_CONFLICT", "accesses to the window conflict", R"(
Two accesses want the same memory in one epoch, and one of them writes: the result is not defined.
Many ranks may use MPI_Accumulate at the same time, but not MPI_Put.

Wrong:

    MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win);   /* on all ranks */

Right:

    MPI_Accumulate(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
)",
     "put a synchronization between the two accesses, or use MPI_Accumulate"},
    {"MPI_ERR_RMA_ATTACH", "the memory cannot be attached", R"(
MPI_Win_attach is for windows of MPI_Win_create_dynamic, with memory that is not attached to them yet;
MPI_Win_detach wants the address with which it was attached.

Wrong:

    MPI_Win_create(a, bytes, 1, MPI_INFO_NULL, comm, &win);
    MPI_Win_attach(win, b, bytes);

Right:

    MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
    MPI_Win_attach(win, b, bytes);
)",
     "attach memory once, to a window of MPI_Win_create_dynamic"},
    {"MPI_ERR_RMA_SHARED", "the memory cannot be shared", R"(
MPI_Win_allocate_shared needs ranks that can share memory: those of one node.

Wrong:

    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);   /* on two nodes */

Right:

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, node, &base, &win);
)",
     "take the communicator of a node: MPI_Comm_split_type with MPI_COMM_TYPE_SHARED"},
    {"MPI_ERR_RMA_FLAVOR", "the window is of the wrong flavour", R"(
The call is for windows that were made by another function: MPI_Win_attach and MPI_Win_detach for those of
MPI_Win_create_dynamic, MPI_Win_shared_query for all others.

Wrong:

    MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
    MPI_Win_shared_query(win, 0, &size, &unit, &of_rank_0);

Right:

    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, node, &base, &win);
    MPI_Win_shared_query(win, 0, &size, &unit, &of_rank_0);
)",
     "make the window by the function that the call belongs to"},
    {"MPI_ERR_BASE", "the window's base is not usable", R"(
There is no memory at the address that is given for a window, or it cannot be given back: MPI_Free_mem wants
what MPI_Alloc_mem has given.

Wrong:

    double* a = malloc(bytes);
    MPI_Free_mem(a);

Right:

    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &a);
    MPI_Free_mem(a);
)",
     "see that the memory is allocated, and that it is given back once by the same means"},
    {"MPI_ERR_SIZE", "the size is not usable", R"(
The number of bytes of a window, or of memory, is negative or more than can be addressed.

Wrong:

    MPI_Win_allocate(n * n * n * 8, 8, MPI_INFO_NULL, comm, &base, &win);   /* an int has overflowed */

Right:

    MPI_Win_allocate((MPI_Aint)n * n * n * 8, 8, MPI_INFO_NULL, comm, &base, &win);
)",
     "sizes are bytes, at least 0: see where the number is computed"},
    {"MPI_ERR_DISP", "the displacement is not usable", R"(
The unit of displacements (disp_unit) of a window must be at least 1: mostly 1, or the size of an element. A
displacement is counted in units of the target, from 0.

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
The assertion of a synchronization is 0, or an OR of the MPI_MODE_... constants that its function allows. 0
is always right.

Wrong:

    MPI_Win_fence(MPI_MODE_NOCHECK, win);   /* for locks and posts only */

Right:

    MPI_Win_fence(0, win);
)",
     "give 0, which is always right"},
};

}   // namespace

std::span<Explanation const> errors_of_objects() { return object_pages; }

}   // namespace tutti::launcher
