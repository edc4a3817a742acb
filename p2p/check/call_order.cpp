// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/check/call_order.hpp"

#include <algorithm>

namespace tutti::p2p {

bool CallOrder::may_teach(std::string_view call) {
    static constexpr std::string_view local[] = {"MPI_Put",
                                                 "MPI_Get",
                                                 "MPI_Accumulate",
                                                 "MPI_Get_accumulate",
                                                 "MPI_Fetch_and_op",
                                                 "MPI_Compare_and_swap",
                                                 "MPI_Win_lock",
                                                 "MPI_Win_lock_all",
                                                 "MPI_Win_unlock",
                                                 "MPI_Win_unlock_all",
                                                 "MPI_Win_flush",
                                                 "MPI_Win_flush_all",
                                                 "MPI_Win_flush_local",
                                                 "MPI_Win_flush_local_all",
                                                 "MPI_Comm_rank",
                                                 "MPI_Comm_size",
                                                 "MPI_Get_address",
                                                 "MPI_Alloc_mem",
                                                 "MPI_Wtime"};
    static constexpr std::string_view beginnings[] = {"MPI_Type_", "MPI_Group_", "MPI_Info_", "MPI_Aint_"};
    return std::ranges::find(local, call) == std::end(local) &&
           std::ranges::none_of(beginnings, [&](std::string_view one) { return call.starts_with(one); });
}

}   // namespace tutti::p2p
