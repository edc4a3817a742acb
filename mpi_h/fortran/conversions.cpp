// SPDX-License-Identifier: BSD-3-Clause
// Handles and statuses between C and Fortran (MPI 3.1, 17.2.4 and 17.2.5). mpi.h has macros for the handles; these
// functions are for whoever takes their address or declares them himself, as configure scripts do.
#include <cstring>

#include "mpi_h/entry/entry.hpp"

#undef MPI_Comm_c2f
#undef MPI_Comm_f2c
#undef MPI_Type_c2f
#undef MPI_Type_f2c
#undef MPI_Group_c2f
#undef MPI_Group_f2c
#undef MPI_Op_c2f
#undef MPI_Op_f2c
#undef MPI_Request_c2f
#undef MPI_Request_f2c
#undef MPI_Info_c2f
#undef MPI_Info_f2c
#undef MPI_Errhandler_c2f
#undef MPI_Errhandler_f2c
#undef MPI_Message_c2f
#undef MPI_Message_f2c
#undef MPI_Win_c2f
#undef MPI_Win_f2c

using namespace tutti;

TUTTI_FUNCTION(Comm_c2f)
MPI_Fint PMPI_Comm_c2f(MPI_Comm comm) { return comm; }

TUTTI_FUNCTION(Comm_f2c)
MPI_Comm PMPI_Comm_f2c(MPI_Fint comm) { return comm; }

TUTTI_FUNCTION(Type_c2f)
MPI_Fint PMPI_Type_c2f(MPI_Datatype datatype) { return datatype; }

TUTTI_FUNCTION(Type_f2c)
MPI_Datatype PMPI_Type_f2c(MPI_Fint datatype) { return datatype; }

TUTTI_FUNCTION(Group_c2f)
MPI_Fint PMPI_Group_c2f(MPI_Group group) { return group; }

TUTTI_FUNCTION(Group_f2c)
MPI_Group PMPI_Group_f2c(MPI_Fint group) { return group; }

TUTTI_FUNCTION(Op_c2f)
MPI_Fint PMPI_Op_c2f(MPI_Op op) { return op; }

TUTTI_FUNCTION(Op_f2c)
MPI_Op PMPI_Op_f2c(MPI_Fint op) { return op; }

TUTTI_FUNCTION(Request_c2f)
MPI_Fint PMPI_Request_c2f(MPI_Request request) { return request; }

TUTTI_FUNCTION(Request_f2c)
MPI_Request PMPI_Request_f2c(MPI_Fint request) { return request; }

TUTTI_FUNCTION(Info_c2f)
MPI_Fint PMPI_Info_c2f(MPI_Info info) { return info; }

TUTTI_FUNCTION(Info_f2c)
MPI_Info PMPI_Info_f2c(MPI_Fint info) { return info; }

TUTTI_FUNCTION(Errhandler_c2f)
MPI_Fint PMPI_Errhandler_c2f(MPI_Errhandler errhandler) { return errhandler; }

TUTTI_FUNCTION(Errhandler_f2c)
MPI_Errhandler PMPI_Errhandler_f2c(MPI_Fint errhandler) { return errhandler; }

TUTTI_FUNCTION(Message_c2f)
MPI_Fint PMPI_Message_c2f(MPI_Message message) { return message; }

TUTTI_FUNCTION(Message_f2c)
MPI_Message PMPI_Message_f2c(MPI_Fint message) { return message; }

TUTTI_FUNCTION(Win_c2f)
MPI_Fint PMPI_Win_c2f(MPI_Win win) { return win; }

TUTTI_FUNCTION(Win_f2c)
MPI_Win PMPI_Win_f2c(MPI_Fint win) { return win; }

static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint), "a status in Fortran is the same integers");

TUTTI_FUNCTION(Status_c2f)
int PMPI_Status_c2f(MPI_Status const* c_status, MPI_Fint* f_status) {
    return enter<When::any_time>("MPI_Status_c2f", given(c_status, f_status), [&](Call& call) {
        call.pointer(c_status, "c_status");
        call.pointer(f_status, "f_status");
        if (f_status == MPI_F_STATUS_IGNORE) fail(ErrorClass::arg, "f_status is MPI_F_STATUS_IGNORE, no status");
        std::memcpy(f_status, c_status, sizeof *c_status);
    });
}

TUTTI_FUNCTION(Status_f2c)
int PMPI_Status_f2c(MPI_Fint const* f_status, MPI_Status* c_status) {
    return enter<When::any_time>("MPI_Status_f2c", given(f_status, c_status), [&](Call& call) {
        call.pointer(c_status, "c_status");
        call.pointer(f_status, "f_status");
        if (f_status == MPI_F_STATUS_IGNORE) fail(ErrorClass::arg, "f_status is MPI_F_STATUS_IGNORE, no status");
        std::memcpy(c_status, f_status, sizeof *c_status);
    });
}
