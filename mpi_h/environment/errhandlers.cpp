// SPDX-License-Identifier: BSD-3-Clause
// Error handlers of communicators (MPI 3.1, 8.3), with their names of MPI-1 (15.1).
#include "mpi_h/entry/errhandlers.hpp"

using namespace tutti;

TUTTI_FUNCTION(Comm_create_errhandler)
int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler) {
    return enter<When::any_time>("MPI_Comm_create_errhandler", given(function, errhandler),
                                 [&](Call& call) { create_errhandler(call, function, false, errhandler); });
}

TUTTI_FUNCTION(Errhandler_create)
int PMPI_Errhandler_create(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler) {
    return enter<When::any_time>("MPI_Errhandler_create", given(function, errhandler),
                                 [&](Call& call) { create_errhandler(call, function, false, errhandler); });
}

TUTTI_FUNCTION(Comm_set_errhandler)
int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
    return enter("MPI_Comm_set_errhandler", given(comm, errhandler),
                 [&](Call& call) { set_errhandler(call, call.any_comm(comm), false, errhandler); });
}

TUTTI_FUNCTION(Errhandler_set)
int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) {
    return enter("MPI_Errhandler_set", given(comm, errhandler),
                 [&](Call& call) { set_errhandler(call, call.any_comm(comm), false, errhandler); });
}

TUTTI_FUNCTION(Comm_get_errhandler)
int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
    return enter("MPI_Comm_get_errhandler", given(comm, errhandler),
                 [&](Call& call) { get_errhandler(call, call.any_comm(comm), errhandler); });
}

TUTTI_FUNCTION(Errhandler_get)
int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler) {
    return enter("MPI_Errhandler_get", given(comm, errhandler),
                 [&](Call& call) { get_errhandler(call, call.any_comm(comm), errhandler); });
}

TUTTI_FUNCTION(Errhandler_free)
int PMPI_Errhandler_free(MPI_Errhandler* errhandler) {
    return enter<When::any_time>("MPI_Errhandler_free", given(errhandler), [&](Call& call) {
        call.pointer(errhandler, "errhandler");
        Errhandler& e = call.errhandler(*errhandler);
        // A predefined one may come from MPI_Comm_get_errhandler, whose result users free: only their handle goes.
        if (e.more_handles > 0) --e.more_handles;
        else if (!e.predefined) library().tables.errhandlers.remove(*errhandler);
        *errhandler = MPI_ERRHANDLER_NULL;
    });
}

TUTTI_FUNCTION(Comm_call_errhandler)
int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode) {
    return enter("MPI_Comm_call_errhandler", given(comm, errorcode),
                 [&](Call& call) { call_errhandler(call, call.any_comm(comm), errorcode); });
}
