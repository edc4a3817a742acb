// SPDX-License-Identifier: BSD-3-Clause
// Error handlers of communicators and windows (MPI 3.1, 8.3), including the functions of MPI-1 (16.1).
#include "mpi_h/entry/errors.hpp"

using namespace tutti;

TUTTI_FUNCTION(Comm_create_errhandler);
int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler) {
    return enter<When::any_time>(args(function, errhandler),
                                 [&](Call& call) { create_errhandler(call, function, false, errhandler); });
}

TUTTI_FUNCTION(Errhandler_create);
int PMPI_Errhandler_create(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler) {
    return enter<When::any_time>(args(function, errhandler),
                                 [&](Call& call) { create_errhandler(call, function, false, errhandler); });
}

TUTTI_FUNCTION(Comm_set_errhandler);
int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
    return enter(args(comm, errhandler),
                 [&](Call& call) { set_errhandler(call, call.any_comm(comm), false, errhandler); });
}

TUTTI_FUNCTION(Errhandler_set);
int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) {
    return enter(args(comm, errhandler),
                 [&](Call& call) { set_errhandler(call, call.any_comm(comm), false, errhandler); });
}

TUTTI_FUNCTION(Comm_get_errhandler);
int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
    return enter(args(comm, errhandler), [&](Call& call) { get_errhandler(call, call.any_comm(comm), errhandler); });
}

TUTTI_FUNCTION(Errhandler_get);
int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler) {
    return enter(args(comm, errhandler), [&](Call& call) { get_errhandler(call, call.any_comm(comm), errhandler); });
}

TUTTI_FUNCTION(Errhandler_free);
int PMPI_Errhandler_free(MPI_Errhandler* errhandler) {
    return enter<When::any_time>(args(errhandler), [&](Call& call) {
        call.pointer(errhandler, "errhandler");
        Errhandler& e = call.errhandler(*errhandler);
        // A predefined handler may come from MPI_Comm_get_errhandler, whose result programs free: only the handle is
        // removed.
        if (e.extra_handles > 0) --e.extra_handles;
        else if (!e.predefined) library().tables.errhandlers.remove(*errhandler);
        *errhandler = MPI_ERRHANDLER_NULL;
    });
}

TUTTI_FUNCTION(Comm_call_errhandler);
int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode) {
    return enter(args(comm, errorcode), [&](Call& call) { call_errhandler(call, call.any_comm(comm), errorcode); });
}

// Error handlers of windows (MPI 3.1, 8.3.2).

using namespace tutti;

TUTTI_FUNCTION(Win_create_errhandler);
int PMPI_Win_create_errhandler(MPI_Win_errhandler_function* function, MPI_Errhandler* errhandler) {
    return enter<When::any_time>(args(function, errhandler),
                                 [&](Call& call) { create_errhandler(call, function, true, errhandler); });
}

TUTTI_FUNCTION(Win_set_errhandler);
int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler) {
    return enter(args(win, errhandler), [&](Call& call) { set_errhandler(call, call.win(win), true, errhandler); });
}

TUTTI_FUNCTION(Win_get_errhandler);
int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler* errhandler) {
    return enter(args(win, errhandler), [&](Call& call) { get_errhandler(call, call.win(win), errhandler); });
}

TUTTI_FUNCTION(Win_call_errhandler);
int PMPI_Win_call_errhandler(MPI_Win win, int errorcode) {
    return enter(args(win, errorcode), [&](Call& call) { call_errhandler(call, call.win(win), errorcode); });
}
