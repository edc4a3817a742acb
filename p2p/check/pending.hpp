// SPDX-License-Identifier: BSD-3-Clause
// The nonblocking operations of the program that it has not completed yet: sends and receives by their requests, and
// all of them by the memory that is theirs until then.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "p2p/check/given_up.hpp"
#include "p2p/matching/operation.hpp"

namespace tutti::p2p {

/// Where a message lies until its buffer may have it.
class Aside {
public:
    std::byte* make(std::size_t bytes) {
        is_made_ = true;
        if (bytes > near_.size()) far_.reset(new std::byte[bytes]);
        return get();
    }
    void reset() {
        is_made_ = false;
        far_.reset();
    }
    /// Null: nowhere.
    std::byte* get() { return !is_made_ ? nullptr : far_ ? far_.get() : near_.data(); }

private:
    bool is_made_ = false;
    std::unique_ptr<std::byte[]> far_;   ///< null: it is small
    std::array<std::byte, 64> near_{};
};

class OperationBuffers;

struct Pending {
    Request const* request;   ///< null: one buffer of an operation that may have several
    bool receives;
    Data data;                             ///< the program's memory
    std::optional<std::uint64_t> digest;   ///< of it in the beginning; none: not known
    char const* call;                      ///< that began it
    std::uint64_t site;                    ///< and where that is
    char const* given_up = nullptr;        ///< the call that has freed its communicator meanwhile; null: none has,
    std::uint64_t given_up_at = 0;         ///< and where that is
    bool forgotten = false;                ///< by MPI_Request_free; it goes when its message is there
    GivenUp::Beginning begun{};
    bool is_cancelled = false;               ///< MPI_Cancel was called, whatever came of it
    Aside aside{};                           ///< where a message goes first; nowhere: straight to `data`
    OperationBuffers* operation = nullptr;   ///< whose buffer this is; null: of a send or receive

    /// "MPI_Isend(4 MPI_INT to rank 1, tag 8, MPI_COMM_WORLD)"
    std::string words() const;
    /// What it is to the operation: "send".
    char const* role() const;
    /// Until when it is: "MPI_Wait or MPI_Test says that the send is complete".
    char const* end() const;
    /// Calls that complete it: "MPI_Wait".
    char const* completion() const;
};

class PendingOperations {
    // Operations come and go with every message: what the tree and the table take for one is used again.
    using ByAddress = std::multimap<std::uintptr_t, Pending>;

public:
    using Part = ByAddress::iterator;

    /// Replaces one of the same request. The memory of what has gaps is nobody's: others may use the gaps. It stays
    /// where it is until it is removed.
    Pending& add(Pending&& operation);
    Pending* find(Request const& request);
    void remove(Request const& request);
    /// One buffer of an operation, which stays as it is until it is removed.
    Part add_part(Pending&& part);
    void remove_part(Part part);
    /// One whose memory `data` shares; null: none, or `data` has gaps. `also_sends`: not only receives.
    Pending const* overlapping(Data const& data, bool also_sends) const;
    /// Those on this communicator.
    std::vector<Pending*> on(Comm const& comm);
    /// Those whose communicator has been freed.
    std::vector<Pending const*> given_up() const;

private:
    struct Entry {
        Request const* request = nullptr;   ///< null: none
        ByAddress::iterator at;
    };

    std::size_t home_of(Request const* request) const;
    std::size_t next(std::size_t place) const { return (place + 1) & (table_.size() - 1); }
    std::size_t place_of(Request const* request) const;
    void grow();
    void close_gap(std::size_t gap);

    ByAddress all_;   ///< by where their memory begins
    std::vector<ByAddress::node_type> spare_;
    std::vector<Entry> table_ = std::vector<Entry>(64);   ///< by request, in the first free place from its home on; a
                                                          ///< power of two, and half of it is free
    std::size_t longest_ = 0;                             ///< bytes of any of them, ever
};

}   // namespace tutti::p2p
