// SPDX-License-Identifier: BSD-3-Clause
// Attributes of windows (MPI 3.1, 6.7.3); those that they have from the start are communicators/predefined_attributes.
#include "mpi_h/communicators/keyval.hpp"

using namespace tutti;

namespace {
constexpr auto on_win = Keyval::On::win;
}

TUTTI_FUNCTION(Win_create_keyval)
int PMPI_Win_create_keyval(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* remove, int* keyval,
                           void* extra_state) {
    return enter("MPI_Win_create_keyval", given(copy, remove, keyval, extra_state), [&](Call& call) {
        call.pointer(keyval, "win_keyval");
        *keyval = make_keyval(call, on_win, copy, remove, extra_state);
    });
}

TUTTI_FUNCTION(Win_free_keyval)
int PMPI_Win_free_keyval(int* keyval) {
    return enter("MPI_Win_free_keyval", given(keyval), [&](Call& call) { free_keyval(call, on_win, keyval); });
}

TUTTI_FUNCTION(Win_set_attr)
int PMPI_Win_set_attr(MPI_Win win, int keyval, void* value) {
    return enter("MPI_Win_set_attr", given(win, keyval, value), [&](Call& call) {
        set_attribute(call, on_win, win, keyval, {reinterpret_cast<std::intptr_t>(value), GivenAs::pointer});
    });
}

TUTTI_FUNCTION(Win_get_attr)
int PMPI_Win_get_attr(MPI_Win win, int keyval, void* value, int* flag) {
    return enter("MPI_Win_get_attr", given(win, keyval, value, flag), [&](Call& call) {
        call.pointer(flag, "flag");
        *flag = get_attribute(call, on_win, win, keyval, GivenAs::pointer, value);
    });
}

TUTTI_FUNCTION(Win_delete_attr)
int PMPI_Win_delete_attr(MPI_Win win, int keyval) {
    return enter("MPI_Win_delete_attr", given(win, keyval),
                 [&](Call& call) { delete_attribute(call, on_win, win, keyval); });
}
