// SPDX-License-Identifier: BSD-3-Clause
// Which calls a trace leaves out, or merges, by their names.
#pragma once

#include <algorithm>
#include <string_view>

namespace tutti {

/// A call that only asks or describes something at its own rank: there are many, and they take no time.
inline bool is_local(std::string_view call) {
    constexpr std::string_view beginnings[] = {
        "MPI_Type_",       "MPI_Group_",       "MPI_Get_",         "MPI_Info_",        "MPI_Comm_rank",
        "MPI_Comm_size",   "MPI_Comm_get_",    "MPI_Comm_set_",    "MPI_Comm_group",   "MPI_Comm_compare",
        "MPI_Comm_test_",  "MPI_Comm_remote_", "MPI_Comm_compa",   "MPI_Wtime",        "MPI_Wtick",
        "MPI_Initialized", "MPI_Finalized",    "MPI_Query_thread", "MPI_Is_thread_m",  "MPI_Error_",
        "MPI_Errhandler_", "MPI_Op_",          "MPI_Pack",         "MPI_Unpack",       "MPI_Address",
        "MPI_Status_",     "MPI_Attr_",        "MPI_Keyval_",      "MPI_Cart_",        "MPI_Cartdim_get",
        "MPI_Dims_",       "MPI_Topo_test",    "MPI_Win_get_",     "MPI_Win_set_",     "MPI_Free_mem",
        "MPI_Alloc_mem",   "MPI_Pcontrol",     "MPI_Test_cancel",  "MPI_Request_get_", "MPI_Comm_delete_",
        "MPI_Aint_",       "MPI_Comm_free_k",  "MPI_Buffer_",      "MPI_Add_error",    "MPI_Win_call_",
    };
    constexpr std::string_view after_all[] = {"MPI_Get_accumulate", "MPI_Cart_create", "MPI_Cart_sub"};
    if (std::ranges::find(after_all, call) != std::end(after_all)) return false;
    return std::ranges::any_of(beginnings, [call](std::string_view b) { return call.starts_with(b); });
}

/// A call that programs make again and again until it finds something.
inline bool is_polling(std::string_view call) {
    return call.starts_with("MPI_Test") || call == "MPI_Iprobe" || call == "MPI_Improbe" ||
           call == "MPI_Request_get_status" || call == "MPI_Win_test";
}

}   // namespace tutti
