// SPDX-License-Identifier: BSD-3-Clause
// Requests that the program has freed while they were active. MPI allows it where the program learns by other means
// that the operation is complete (MPI 4.1, 3.7.3):
//
//  * Of a receive nothing can tell that: its buffer cannot be read. MPI_Finalize always reports it, unless it was
//    cancelled.
//  * Of a send the receiver's answer can, or a collective, and in the end MPI_Finalize itself, as in the standard's
//    example of MPI_Isend, MPI_Request_free, MPI_Finalize. A program that frees the request as soon as the send has
//    begun means that. One that keeps the request, hears from other ranks, and frees it where MPI_Wait is due takes
//    MPI_Request_free for a completion. MPI_Finalize reports it if no message that this rank has received meanwhile
//    came from a rank that knew of anything this rank has done since the send began (Order), and no collective
//    followed. That does not depend on whether the send was complete in this run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "p2p/check/order.hpp"
#include "runtime/process.hpp"

namespace tutti::p2p {

class GivenUp {
public:
    GivenUp(Process& process, Order const& order) : process_(process), order_(order) {}

    /// When an operation begins, to be handed in when it is given up.
    struct Beginning {
        std::uint32_t event = 0;     ///< of this rank, or the last one before
        std::uint64_t lessons = 0;   ///< Order::lessons
    };
    Beginning beginning() const { return {order_.now(), order_.lessons()}; }

    /// The present call frees an active request, which `call` has begun at `site`.
    void add(bool receives, Beginning const& begun, std::string call, std::uint64_t site);
    /// MPI_Finalize: warns of those of which it is never known that they are complete.
    void finish();

private:
    struct One {
        bool receives;
        std::uint32_t event;
        std::string call;
        std::uint64_t site, freed_at;
        int times;
    };
    static constexpr std::size_t most = 1024;   ///< different ones, so that a loop takes no memory without bounds

    Process& process_;
    Order const& order_;
    std::vector<One> all_;
};

}   // namespace tutti::p2p
