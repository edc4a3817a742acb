// SPDX-License-Identifier: BSD-3-Clause
// Error handlers of communicators (MPI 3.1, 8.3), with their names of MPI-1 (15.1).
#include "mpi_h/entry/entry.hpp"
#include "mpi_h/entry/errors.hpp"

namespace tutti {
namespace {

void create(Call& call, MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler) {
    call.function(function, "comm_errhandler_fn");
    call.pointer(errhandler, "errhandler");
    auto* made = new Errhandler;
    made->kind = Errhandler::Kind::user;
    made->call = [function](Object* on, int code) {
        MPI_Comm comm = on ? static_cast<MPI_Comm>(on->handle) : MPI_COMM_NULL;
        function(&comm, &code);
    };
    *errhandler = library().tables.errhandlers.add(made);
}

void set(Call& call, MPI_Comm comm, MPI_Errhandler errhandler) {
    Comm& c = call.any_comm(comm);
    c.errhandler = Ref<Errhandler>::share(&call.errhandler(errhandler));
}

/// The user may compare what he gets with what he set, so a handler that still has a handle gives that one again.
void get(Call& call, MPI_Comm comm, MPI_Errhandler* errhandler) {
    Comm& c = call.any_comm(comm);
    call.pointer(errhandler, "errhandler");
    Errhandler* e = c.errhandler.get();
    if (e->handle == 0) {
        ++e->references;
        library().tables.errhandlers.add(e);
    } else if (!e->predefined) {
        ++e->more_handles;
    }
    *errhandler = static_cast<MPI_Errhandler>(e->handle);
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Comm_create_errhandler)
int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler) {
    return enter<When::any_time>("MPI_Comm_create_errhandler", [&](Call& call) { create(call, function, errhandler); });
}

TUTTI_FUNCTION(Errhandler_create)
int PMPI_Errhandler_create(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler) {
    return enter<When::any_time>("MPI_Errhandler_create", [&](Call& call) { create(call, function, errhandler); });
}

TUTTI_FUNCTION(Comm_set_errhandler)
int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
    return enter("MPI_Comm_set_errhandler", [&](Call& call) { set(call, comm, errhandler); });
}

TUTTI_FUNCTION(Errhandler_set)
int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) {
    return enter("MPI_Errhandler_set", [&](Call& call) { set(call, comm, errhandler); });
}

TUTTI_FUNCTION(Comm_get_errhandler)
int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
    return enter("MPI_Comm_get_errhandler", [&](Call& call) { get(call, comm, errhandler); });
}

TUTTI_FUNCTION(Errhandler_get)
int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler) {
    return enter("MPI_Errhandler_get", [&](Call& call) { get(call, comm, errhandler); });
}

TUTTI_FUNCTION(Errhandler_free)
int PMPI_Errhandler_free(MPI_Errhandler* errhandler) {
    return enter<When::any_time>("MPI_Errhandler_free", [&](Call& call) {
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
    return enter("MPI_Comm_call_errhandler", [&](Call& call) {
        Comm& c = call.any_comm(comm);
        std::string text = error_text(errorcode);
        Errhandler const& handler = *c.errhandler;
        if (handler.kind == Errhandler::Kind::fatal)
            abort_job(errorcode & 0x7f, join("MPI_Comm_call_errhandler: ", text));
        if (handler.kind == Errhandler::Kind::user) handler.call(&c, errorcode);
    });
}
