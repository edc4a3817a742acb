// SPDX-License-Identifier: BSD-3-Clause
// Functions that libmpichfort.so.12, MPICH's Fortran interface, calls besides MPI's own: attributes whose values are
// integers, and keys whose callbacks take their arguments by address.
#include "mpi_h/communicators/keyval.hpp"
#include "mpi_h/p2p/generalized.hpp"

using namespace tutti;

namespace {

[[gnu::always_inline]] inline int get(char const* name, Keyval::On on, int handle, int keyval, void* value, int* flag,
                                      int asked) {
    return enter(name, given(handle, keyval, value, flag), [&](Call& call) {
        call.pointer(flag, "flag");
        *flag = get_attribute(call, on, handle, keyval, attribute_kind_in(asked), value);
    });
}

[[gnu::always_inline]] inline int set(char const* name, Keyval::On on, int handle, int keyval, void* value,
                                      int given_as) {
    return enter(name, given(handle, keyval, value), [&](Call& call) {
        AttributeValue bits{reinterpret_cast<std::intptr_t>(value), attribute_kind_in(given_as)};
        set_attribute(call, on, handle, keyval, bits);
    });
}

}   // namespace

#pragma GCC visibility push(default)
extern "C" {

int MPII_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag, int asked) {
    return get("MPI_Comm_get_attr", Keyval::On::comm, comm, keyval, value, flag, asked);
}

int MPII_Comm_set_attr(MPI_Comm comm, int keyval, void* value, int given) {
    return set("MPI_Comm_set_attr", Keyval::On::comm, comm, keyval, value, given);
}

int MPII_Type_get_attr(MPI_Datatype datatype, int keyval, void* value, int* flag, int asked) {
    return get("MPI_Type_get_attr", Keyval::On::type, datatype, keyval, value, flag, asked);
}

int MPII_Type_set_attr(MPI_Datatype datatype, int keyval, void* value, int given) {
    return set("MPI_Type_set_attr", Keyval::On::type, datatype, keyval, value, given);
}

int MPII_Win_get_attr(MPI_Win win, int keyval, void* value, int* flag, int asked) {
    return get("MPI_Win_get_attr", Keyval::On::win, win, keyval, value, flag, asked);
}

int MPII_Win_set_attr(MPI_Win win, int keyval, void* value, int given) {
    return set("MPI_Win_set_attr", Keyval::On::win, win, keyval, value, given);
}

/// Called right after the key was made; gives it the functions that translate for Fortran.
void MPII_Keyval_set_proxy(int keyval, CopyProxy* copy, DeleteProxy* remove) {
    if (auto* key = static_cast<UserKeyval*>(library().tables.keyvals.find(keyval))) {
        key->copy_proxy = copy;
        key->delete_proxy = remove;
    }
}

/// Called right after the request was made: its callbacks are Fortran's.
void MPII_Grequest_set_lang_f77(MPI_Request request) {
    if (auto* r = generalized(library().tables.requests.find(request))) r->fortran = true;
}
}
#pragma GCC visibility pop
