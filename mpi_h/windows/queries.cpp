// SPDX-License-Identifier: BSD-3-Clause
// Windows: group, name and hints (MPI 3.1, 11.2.6, 11.2.7 and 6.8).
#include <cstring>

#include "mpi_h/communicators/objects.hpp"
#include "mpi_h/entry/text.hpp"
#include "rma/making/making.hpp"

using namespace tutti;

TUTTI_FUNCTION(Win_get_group)
int PMPI_Win_get_group(MPI_Win win, MPI_Group* group) {
    return enter("MPI_Win_get_group", given(win, group), [&](Call& call) {
        rma::Window& w = call.win(win);
        call.pointer(group, "group");
        *group = handle_of(w.comm->group);
    });
}

/// Whoever says what a rank waits for knows the window by its communicator.
TUTTI_FUNCTION(Win_set_name)
int PMPI_Win_set_name(MPI_Win win, char const* name) {
    return enter("MPI_Win_set_name", given(win, name), [&](Call& call) {
        rma::Window& w = call.win(win);
        call.pointer(name, "win_name");
        w.name.assign(name, strnlen(name, MPI_MAX_OBJECT_NAME - 1));
        coll::rename(*w.comm, w.name);
        w.comm->described_as = w.words();
        if (w.recording) w.recording->forget();
    });
}

TUTTI_FUNCTION(Win_get_name)
int PMPI_Win_get_name(MPI_Win win, char* name, int* length) {
    return enter("MPI_Win_get_name", given(win, name, length), [&](Call& call) {
        rma::Window const* const w = win == MPI_WIN_NULL ? nullptr : &call.win(win);
        call.pointer(name, "win_name");
        call.pointer(length, "resultlen");
        *length = copy_text(w ? w->name : "MPI_WIN_NULL", name, MPI_MAX_OBJECT_NAME);
    });
}

/// Hints that are not in `info` stay as they are.
TUTTI_FUNCTION(Win_set_info)
int PMPI_Win_set_info(MPI_Win win, MPI_Info info) {
    return enter("MPI_Win_set_info", given(win, info), [&](Call& call) {
        rma::Window& w = call.win(win);
        rma::set_info(w, call.info(info));
    });
}

TUTTI_FUNCTION(Win_get_info)
int PMPI_Win_get_info(MPI_Win win, MPI_Info* info) {
    return enter("MPI_Win_get_info", given(win, info), [&](Call& call) {
        rma::Window& w = call.win(win);
        call.pointer(info, "info_used");
        *info = info_used(w.info.get());
    });
}
