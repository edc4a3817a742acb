// SPDX-License-Identifier: BSD-3-Clause
// What a message of the program carries besides its data under --check (Note): which call has sent it, where, and what
// its sender knew then.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "p2p/check/order.hpp"
#include "p2p/matching/operation.hpp"

namespace tutti::p2p {

struct SentNote {
    std::int32_t rank = 0;      ///< the sender, of MPI_COMM_WORLD
    std::uint32_t number = 0;   ///< of the send among its events
    bool synchronous = false;   ///< the program itself waits for the receive: what it sends later knows of it
    bool uncertain = false;     ///< as Order has it
    std::uint64_t site = 0;     ///< return address in the sender
    std::string call;           ///< "MPI_Isend"
    Order::Clock clock;         ///< of the sender, this send included

    Note to_bytes() const;
    /// `note`: of a message of the program; not null.
    static SentNote from_bytes(Note const& note);
};

}   // namespace tutti::p2p
