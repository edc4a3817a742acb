// SPDX-License-Identifier: BSD-3-Clause
// Windows: attributes (MPI 3.1, 6.7.3; predefined ones are in communicators/attributes.cpp), creation, memory, group,
// name and hints.
#include <cstring>

#include "coll/call/collectives.hpp"
#include "mpi_h/communicators/communicators.hpp"
#include "mpi_h/entry/entry.hpp"
#include "mpi_h/entry/library_state.hpp"
#include "rma/create.hpp"

using namespace tutti;

namespace {
constexpr auto on_win = Keyval::ObjectKind::win;
}

TUTTI_FUNCTION(Win_create_keyval);
int PMPI_Win_create_keyval(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* remove, int* keyval,
                           void* extra_state) {
    return enter(args(copy, remove, keyval, extra_state), [&](Call& call) {
        call.pointer(keyval, "win_keyval");
        *keyval = make_keyval(call, on_win, copy, remove, extra_state);
    });
}

TUTTI_FUNCTION(Win_free_keyval);
int PMPI_Win_free_keyval(int* keyval) {
    return enter(args(keyval), [&](Call& call) { free_keyval(call, on_win, keyval); });
}

TUTTI_FUNCTION(Win_set_attr);
int PMPI_Win_set_attr(MPI_Win win, int keyval, void* value) {
    return enter(args(win, keyval, value), [&](Call& call) {
        set_attribute(call, on_win, win, keyval, {reinterpret_cast<std::intptr_t>(value), AttributeForm::pointer});
    });
}

TUTTI_FUNCTION(Win_get_attr);
int PMPI_Win_get_attr(MPI_Win win, int keyval, void* value, int* flag) {
    return enter(args(win, keyval, value, flag), [&](Call& call) {
        call.pointer(flag, "flag");
        *flag = get_attribute(call, on_win, win, keyval, AttributeForm::pointer, value);
    });
}

TUTTI_FUNCTION(Win_delete_attr);
int PMPI_Win_delete_attr(MPI_Win win, int keyval) {
    return enter(args(win, keyval), [&](Call& call) { delete_attribute(call, on_win, win, keyval); });
}

// Creating and freeing windows, and their memory (MPI 3.1, 11.2; MPI_Win_shared_query for all flavors except dynamic:
// MPI 4.1, 12.2.3). Errors during creation are reported to the communicator's error handler.

namespace tutti {
namespace {

/// Arguments of the calls that create a window with memory.
struct CreateArgs {
    MPI_Aint size;
    int disp_unit;
    MPI_Info info;
    MPI_Comm comm;
};

void check(Call const& call, CreateArgs const& a) {
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

[[gnu::always_inline]] inline int allocate(CreateArgs const& a, void* baseptr, MPI_Win* win, Allocate& allocated,
                                           Function function = __builtin_FUNCTION()) {
    return enter(function, args(a.size, a.disp_unit, a.info, a.comm, baseptr, win), [&](Call& call) {
        Comm& comm = call.intracomm(a.comm);
        check(call, a);
        call.pointer(baseptr, "baseptr");
        call.pointer(win, "win");
        coll::record_call(comm, call.function);
        Ref<rma::Window> window = allocated(comm, a.size, a.disp_unit, hints(call, a.info));
        *static_cast<void**>(baseptr) = window->base;
        *win = handle_of(call, std::move(window));
    });
}

}   // namespace
}   // namespace tutti

using namespace tutti;

TUTTI_FUNCTION(Win_create);
int PMPI_Win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
    return enter(args(base, size, disp_unit, info, comm, win), [&](Call& call) {
        Comm& c = call.intracomm(comm);
        check(call, {size, disp_unit, info, comm});
        if (size > 0) call.pointer(base, "base", ErrorClass::base);
        call.pointer(win, "win");
        coll::record_call(c, call.function);
        *win = handle_of(call, rma::create(c, base, size, disp_unit, hints(call, info)));
    });
}

TUTTI_FUNCTION(Win_allocate);
int PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win) {
    return allocate({size, disp_unit, info, comm}, baseptr, win, rma::allocate);
}

TUTTI_FUNCTION(Win_allocate_shared);
int PMPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win) {
    return allocate({size, disp_unit, info, comm}, baseptr, win, rma::allocate_shared);
}

TUTTI_FUNCTION(Win_create_dynamic);
int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
    return enter(args(info, comm, win), [&](Call& call) {
        Comm& c = call.intracomm(comm);
        call.pointer(win, "win");
        coll::record_call(c, call.function);
        *win = handle_of(call, rma::create_dynamic(c, hints(call, info)));
    });
}

/// Returns a dynamic window, to which this process attaches memory or from which it detaches it.
static rma::Window& dynamic(Call& call, MPI_Win win) {
    rma::Window& w = call.win(win);
    if (w.flavor != rma::Flavor::dynamic)
        fail(ErrorClass::rma_flavor,
             "win was not created by MPI_Win_create_dynamic, so no memory can be attached or detached");
    return w;
}

TUTTI_FUNCTION(Win_attach);
int PMPI_Win_attach(MPI_Win win, void* base, MPI_Aint size) {
    return enter(args(win, base, size), [&](Call& call) {
        rma::Window& w = dynamic(call, win);
        if (size < 0) fail(ErrorClass::size, "size is ", size, " but must be at least 0");
        if (size > 0) call.pointer(base, "base", ErrorClass::base);
        rma::attach(w, base, size);
    });
}

TUTTI_FUNCTION(Win_detach);
int PMPI_Win_detach(MPI_Win win, void const* base) {
    return enter(args(win, base), [&](Call& call) { rma::detach(dynamic(call, win), base); });
}

TUTTI_FUNCTION(Win_shared_query);
int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint* size, int* disp_unit, void* baseptr) {
    return enter(args(win, rank, size, disp_unit, baseptr), [&](Call& call) {
        rma::Window& w = call.win(win);
        call.target(w, rank, "rank");
        call.pointer(size, "size");
        call.pointer(disp_unit, "disp_unit");
        call.pointer(baseptr, "baseptr");
        rma::WindowPart const part = rma::shared_query(w, abi::rank_in(rank));
        *size = part.bytes;
        *disp_unit = part.disp_unit;
        *static_cast<void**>(baseptr) = part.base;
    });
}

/// Deletes the attributes first, while callbacks may still use the window.
TUTTI_FUNCTION(Win_free);
int PMPI_Win_free(MPI_Win* win) {
    return enter(args(win), [&](Call& call) {
        call.pointer(win, "win");
        rma::Window& w = call.win(*win);
        rma::check_closed(w, "win is freed");
        w.attributes.clear(w);
        call.error_object = nullptr;   // its error handler is freed with it
        call.library_state().tables.wins.forget(*win);
        w.handle = 0;
        *win = MPI_WIN_NULL;
        rma::free(Ref<rma::Window>::adopt(&w));
    });
}

// Windows: group, name and hints (MPI 3.1, 11.2.6, 11.2.7 and 6.8).

using namespace tutti;

TUTTI_FUNCTION(Win_get_group);
int PMPI_Win_get_group(MPI_Win win, MPI_Group* group) {
    return enter(args(win, group), [&](Call& call) {
        rma::Window& w = call.win(win);
        call.pointer(group, "group");
        *group = handle_of(w.comm->group);
    });
}

/// Also sets the description of the window's communicator, which reports of blocked ranks use.
TUTTI_FUNCTION(Win_set_name);
int PMPI_Win_set_name(MPI_Win win, char const* name) {
    return enter(args(win, name), [&](Call& call) {
        rma::Window& w = call.win(win);
        call.pointer(name, "win_name");
        w.name.assign(name, strnlen(name, MPI_MAX_OBJECT_NAME - 1));
        coll::rename(*w.comm, w.name);
        w.comm->report_name = w.description();
        if (w.recording) w.recording->clear_cache();
    });
}

TUTTI_FUNCTION(Win_get_name);
int PMPI_Win_get_name(MPI_Win win, char* name, int* length) {
    return enter(args(win, name, length), [&](Call& call) {
        rma::Window const* const w = win == MPI_WIN_NULL ? nullptr : &call.win(win);
        call.pointer(name, "win_name");
        call.pointer(length, "resultlen");
        *length = copy_text(w ? w->name : "MPI_WIN_NULL", name, MPI_MAX_OBJECT_NAME);
    });
}

/// Hints that are not in `info` are unchanged.
TUTTI_FUNCTION(Win_set_info);
int PMPI_Win_set_info(MPI_Win win, MPI_Info info) {
    return enter(args(win, info), [&](Call& call) {
        rma::Window& w = call.win(win);
        rma::set_info(w, call.info(info));
    });
}

TUTTI_FUNCTION(Win_get_info);
int PMPI_Win_get_info(MPI_Win win, MPI_Info* info) {
    return enter(args(win, info), [&](Call& call) {
        rma::Window& w = call.win(win);
        call.pointer(info, "info_used");
        *info = info_used(w.info.get());
    });
}
