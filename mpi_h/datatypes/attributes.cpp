// SPDX-License-Identifier: BSD-3-Clause
// Attributes of datatypes (MPI 3.1, 6.7.4).
#include "mpi_h/communicators/keyval.hpp"

using namespace tutti;

namespace {
constexpr auto on_type = Keyval::On::type;
}

TUTTI_FUNCTION(Type_create_keyval)
int PMPI_Type_create_keyval(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* remove, int* keyval,
                            void* extra_state) {
    return enter("MPI_Type_create_keyval", given(copy, remove, keyval, extra_state), [&](Call& call) {
        call.pointer(keyval, "type_keyval");
        *keyval = make_keyval(call, on_type, copy, remove, extra_state);
    });
}

TUTTI_FUNCTION(Type_free_keyval)
int PMPI_Type_free_keyval(int* keyval) {
    return enter("MPI_Type_free_keyval", given(keyval), [&](Call& call) { free_keyval(call, on_type, keyval); });
}

TUTTI_FUNCTION(Type_set_attr)
int PMPI_Type_set_attr(MPI_Datatype datatype, int keyval, void* value) {
    return enter("MPI_Type_set_attr", given(datatype, keyval, value), [&](Call& call) {
        set_attribute(call, on_type, datatype, keyval, {reinterpret_cast<std::intptr_t>(value), GivenAs::pointer});
    });
}

TUTTI_FUNCTION(Type_get_attr)
int PMPI_Type_get_attr(MPI_Datatype datatype, int keyval, void* value, int* flag) {
    return enter("MPI_Type_get_attr", given(datatype, keyval, value, flag), [&](Call& call) {
        call.pointer(flag, "flag");
        *flag = get_attribute(call, on_type, datatype, keyval, GivenAs::pointer, value);
    });
}

TUTTI_FUNCTION(Type_delete_attr)
int PMPI_Type_delete_attr(MPI_Datatype datatype, int keyval) {
    return enter("MPI_Type_delete_attr", given(datatype, keyval),
                 [&](Call& call) { delete_attribute(call, on_type, datatype, keyval); });
}
