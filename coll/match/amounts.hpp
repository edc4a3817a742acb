// SPDX-License-Identifier: BSD-3-Clause
// What one rank sends another in a collective must be what that one expects, in amount and types (MPI 4.1, 6.1). What
// this rank sends to itself is compared always, as it costs nothing; under --check ranks exchange, before they begin a
// v or w form, what they will send each other.
#pragma once

#include <string>

#include "coll/env/arguments.hpp"
#include "coll/env/env.hpp"
#include "runtime/objects/comm.hpp"

namespace tutti::coll {

/// Of data that moves between two ranks. Plain bytes, to be exchanged.
struct Amount {
    std::uint64_t bytes = 0;
    std::uint64_t signature = 0;   ///< of its types in order; 0: of anything, as MPI_BYTE, or nothing

    static Amount of(ConstBuffer const& data);
    bool matches(Amount const& other) const {
        return bytes == other.bytes && (signature == other.signature || signature == 0 || other.signature == 0);
    }
};

/// "4 MPI_INT", "24 bytes of a derived datatype"
std::string in_words(ConstBuffer const& data);

/// "rank 1 sends 12 bytes and rank 0 expects 4"; ranks of the communicator.
std::string difference_in_words(int sender, Amount const& sent, int receiver, Amount const& expected);

/// What a call on `comm` sends from this rank to itself, in words, if it expects something else; empty if that matches,
/// or there is no such part.
std::string own_part_mismatch(Comm const& comm, Collective collective, RootedArgs const& args);
std::string own_part_mismatch(Comm const& comm, Collective, AllgatherArgs const& args);
std::string own_part_mismatch(Comm const& comm, Collective, AlltoallArgs const& args);
template <class Args>
std::string own_part_mismatch(Comm const&, Collective, Args const&) {
    return {};
}

}   // namespace tutti::coll
