// SPDX-License-Identifier: BSD-3-Clause
// How windows come and go, and where their memory is (MPI 3.1, 11.2; MPI_Win_shared_query on all flavours but dynamic:
// MPI 4.1, 12.2.3). Errors in making one are the communicator's.
#include "rma/making/making.hpp"
#include "coll/call/collectives.hpp"
#include "mpi_h/entry/entry.hpp"

namespace tutti {
namespace {

/// Arguments of the calls that make a window with memory.
struct Wanted {
    MPI_Aint size;
    int disp_unit;
    MPI_Info info;
    MPI_Comm comm;
};

void check(Call const& call, Wanted const& a) {
    if (!call.library_state().check_arguments) return;
    if (a.size < 0) fail(ErrorClass::size, "size is ", a.size, " but must be at least 0");
    if (a.disp_unit <= 0) fail(ErrorClass::disp, "disp_unit is ", a.disp_unit, " but must be at least 1");
}

rma::Hints hints(Call& call, MPI_Info info) { return info == MPI_INFO_NULL ? nullptr : &call.info(info); }

MPI_Win handle_of(Call const& call, Ref<rma::Window> window) {
    abi::Tables& tables = call.library_state().tables;
    window->errhandler = Ref<Errhandler>::share(tables.errhandlers.find(MPI_ERRORS_ARE_FATAL));
    return tables.wins.add(window.detach());
}

using Allocate = Ref<rma::Window>(Comm&, std::int64_t, int, rma::Hints);

[[gnu::always_inline]] inline int allocate(char const* name, Wanted const& a, void* baseptr, MPI_Win* win,
                                           Allocate& allocated) {
    return enter(name, [&](Call& call) {
        Comm& comm = call.intracomm(a.comm);
        check(call, a);
        call.pointer(baseptr, "baseptr");
        call.pointer(win, "win");
        coll::note(comm, call.name);
        Ref<rma::Window> window = allocated(comm, a.size, a.disp_unit, hints(call, a.info));
        *static_cast<void**>(baseptr) = window->base;
        *win = handle_of(call, std::move(window));
    });
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Win_create)
int PMPI_Win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
    return enter("MPI_Win_create", [&](Call& call) {
        Comm& c = call.intracomm(comm);
        check(call, {size, disp_unit, info, comm});
        if (size > 0) call.pointer(base, "base", ErrorClass::base);
        call.pointer(win, "win");
        coll::note(c, call.name);
        *win = handle_of(call, rma::create(c, base, size, disp_unit, hints(call, info)));
    });
}

TUTTI_FUNCTION(Win_allocate)
int PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win) {
    return allocate("MPI_Win_allocate", {size, disp_unit, info, comm}, baseptr, win, rma::allocate);
}

TUTTI_FUNCTION(Win_allocate_shared)
int PMPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win) {
    return allocate("MPI_Win_allocate_shared", {size, disp_unit, info, comm}, baseptr, win, rma::allocate_shared);
}

TUTTI_FUNCTION(Win_create_dynamic)
int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
    return enter("MPI_Win_create_dynamic", [&](Call& call) {
        Comm& c = call.intracomm(comm);
        call.pointer(win, "win");
        coll::note(c, call.name);
        *win = handle_of(call, rma::create_dynamic(c, hints(call, info)));
    });
}

/// A window of whose memory this process attaches or detaches a part.
static rma::Window& dynamic(Call& call, MPI_Win win) {
    rma::Window& w = call.win(win);
    if (w.flavor != rma::Flavor::dynamic)
        fail(ErrorClass::rma_flavor, "win has memory of its own; only that of MPI_Win_create_dynamic is attached to");
    return w;
}

TUTTI_FUNCTION(Win_attach)
int PMPI_Win_attach(MPI_Win win, void* base, MPI_Aint size) {
    return enter("MPI_Win_attach", [&](Call& call) {
        rma::Window& w = dynamic(call, win);
        if (size < 0) fail(ErrorClass::size, "size is ", size, " but must be at least 0");
        if (size > 0) call.pointer(base, "base", ErrorClass::base);
        rma::attach(w, base, size);
    });
}

TUTTI_FUNCTION(Win_detach)
int PMPI_Win_detach(MPI_Win win, void const* base) {
    return enter("MPI_Win_detach", [&](Call& call) { rma::detach(dynamic(call, win), base); });
}

TUTTI_FUNCTION(Win_shared_query)
int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint* size, int* disp_unit, void* baseptr) {
    return enter("MPI_Win_shared_query", [&](Call& call) {
        rma::Window& w = call.win(win);
        call.target(w, rank, "rank");
        call.pointer(size, "size");
        call.pointer(disp_unit, "disp_unit");
        call.pointer(baseptr, "baseptr");
        rma::Part const part = rma::shared_query(w, abi::rank_in(rank));
        *size = part.bytes;
        *disp_unit = part.disp_unit;
        *static_cast<void**>(baseptr) = part.base;
    });
}

/// Deletes the attributes while callbacks may still use the window.
TUTTI_FUNCTION(Win_free)
int PMPI_Win_free(MPI_Win* win) {
    return enter("MPI_Win_free", [&](Call& call) {
        call.pointer(win, "win");
        rma::Window& w = call.win(*win);
        rma::check_closed(w, "win is freed");
        w.attributes.clear(w);
        call.on = nullptr;   // its errors end with it
        call.library_state().tables.wins.forget(*win);
        call.library_state().forget_windows();
        w.handle = 0;
        *win = MPI_WIN_NULL;
        coll::forget_order(*w.comm);
        rma::free(Ref<rma::Window>::adopt(&w));
    });
}
