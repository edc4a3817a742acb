// SPDX-License-Identifier: BSD-3-Clause
// Error handlers of windows (MPI 3.1, 8.3.2).
#include "mpi_h/entry/errhandlers.hpp"

using namespace tutti;

TUTTI_FUNCTION(Win_create_errhandler)
int PMPI_Win_create_errhandler(MPI_Win_errhandler_function* function, MPI_Errhandler* errhandler) {
    return enter<When::any_time>("MPI_Win_create_errhandler", given(function, errhandler),
                                 [&](Call& call) { create_errhandler(call, function, true, errhandler); });
}

TUTTI_FUNCTION(Win_set_errhandler)
int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler) {
    return enter("MPI_Win_set_errhandler", given(win, errhandler),
                 [&](Call& call) { set_errhandler(call, call.win(win), true, errhandler); });
}

TUTTI_FUNCTION(Win_get_errhandler)
int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler* errhandler) {
    return enter("MPI_Win_get_errhandler", given(win, errhandler),
                 [&](Call& call) { get_errhandler(call, call.win(win), errhandler); });
}

TUTTI_FUNCTION(Win_call_errhandler)
int PMPI_Win_call_errhandler(MPI_Win win, int errorcode) {
    return enter("MPI_Win_call_errhandler", given(win, errorcode),
                 [&](Call& call) { call_errhandler(call, call.win(win), errorcode); });
}
