// SPDX-License-Identifier: BSD-3-Clause
// Attributes of communicators, with the names of MPI 2 and of MPI 1 (MPI 3.1, 6.7 and 15.1).
#include "mpi_h/communicators/keyval.hpp"

using namespace tutti;

namespace {

constexpr auto on_comm = Keyval::On::comm;

[[gnu::always_inline]] inline int create(char const* name, CopyFunction* copy, DeleteFunction* remove, int* keyval,
                                         void* extra_state) {
    return enter(name, given(copy, remove, keyval, extra_state), [&](Call& call) {
        call.pointer(keyval, "keyval");
        *keyval = make_keyval(call, on_comm, copy, remove, extra_state);
    });
}

[[gnu::always_inline]] inline int release(char const* name, int* keyval) {
    return enter(name, given(keyval), [&](Call& call) { free_keyval(call, on_comm, keyval); });
}

[[gnu::always_inline]] inline int set(char const* name, MPI_Comm comm, int keyval, void* value) {
    return enter(name, given(comm, keyval, value), [&](Call& call) {
        set_attribute(call, on_comm, comm, keyval, {reinterpret_cast<std::intptr_t>(value), GivenAs::pointer});
    });
}

[[gnu::always_inline]] inline int get(char const* name, MPI_Comm comm, int keyval, void* value, int* flag) {
    return enter(name, given(comm, keyval, value, flag), [&](Call& call) {
        call.pointer(flag, "flag");
        *flag = get_attribute(call, on_comm, comm, keyval, GivenAs::pointer, value);
    });
}

[[gnu::always_inline]] inline int erase(char const* name, MPI_Comm comm, int keyval) {
    return enter(name, given(comm, keyval), [&](Call& call) { delete_attribute(call, on_comm, comm, keyval); });
}

}   // namespace

TUTTI_FUNCTION(Comm_create_keyval)
int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove, int* keyval,
                            void* extra_state) {
    return create("MPI_Comm_create_keyval", copy, remove, keyval, extra_state);
}

TUTTI_FUNCTION(Comm_free_keyval)
int PMPI_Comm_free_keyval(int* keyval) { return release("MPI_Comm_free_keyval", keyval); }

TUTTI_FUNCTION(Comm_set_attr)
int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value) { return set("MPI_Comm_set_attr", comm, keyval, value); }

TUTTI_FUNCTION(Comm_get_attr)
int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag) {
    return get("MPI_Comm_get_attr", comm, keyval, value, flag);
}

TUTTI_FUNCTION(Comm_delete_attr)
int PMPI_Comm_delete_attr(MPI_Comm comm, int keyval) { return erase("MPI_Comm_delete_attr", comm, keyval); }

TUTTI_FUNCTION(Keyval_create)
int PMPI_Keyval_create(MPI_Copy_function* copy, MPI_Delete_function* remove, int* keyval, void* extra_state) {
    return create("MPI_Keyval_create", copy, remove, keyval, extra_state);
}

TUTTI_FUNCTION(Keyval_free)
int PMPI_Keyval_free(int* keyval) { return release("MPI_Keyval_free", keyval); }

TUTTI_FUNCTION(Attr_put)
int PMPI_Attr_put(MPI_Comm comm, int keyval, void* value) { return set("MPI_Attr_put", comm, keyval, value); }

TUTTI_FUNCTION(Attr_get)
int PMPI_Attr_get(MPI_Comm comm, int keyval, void* value, int* flag) {
    return get("MPI_Attr_get", comm, keyval, value, flag);
}

TUTTI_FUNCTION(Attr_delete)
int PMPI_Attr_delete(MPI_Comm comm, int keyval) { return erase("MPI_Attr_delete", comm, keyval); }
