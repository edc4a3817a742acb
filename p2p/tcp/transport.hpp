// SPDX-License-Identifier: BSD-3-Clause
// Messages to and from ranks of other nodes. Messages up to TUTTI_EAGER_NETWORK, and dense ready ones up to 1 MiB, are
// sent immediately if the receiver has memory for unexpected messages (Credit). All others are offered, and their data
// is sent in pieces when the receiver has granted it. Offers, answers and small messages are sent between the pieces of
// large ones.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "p2p/matching/matching.hpp"
#include "p2p/matching/transport.hpp"
#include "p2p/tcp/network.hpp"

namespace tutti::p2p {

// Identifiers of operations for other nodes, which must not see addresses. Each identifier that a frame contains is
// looked up; one that was never issued or is no longer valid finds nothing.

/// An identifier consists of the index in the table and a use count of that index, so old identifiers are not found.
template <class T>
class IdTable {
public:
    /// Allocates the memory that the next call of add needs.
    void reserve() {
        if (free_ != none) return;
        entries_.emplace_back();
        free_ = static_cast<std::uint32_t>(entries_.size() - 1);
    }
    /// Returns a new identifier, never 0. `rank`: the only rank that may use it.
    std::uint64_t add(T& item, int rank) {
        reserve();
        std::uint32_t const index = free_;
        free_ = entries_[index].next;
        Entry& e = entries_[index];
        e.item = &item;
        e.rank = rank;
        if (++e.uses == 0) e.uses = 1;
        return static_cast<std::uint64_t>(e.uses) << 32 | index;
    }
    /// Returns null if the identifier is not valid for `rank`.
    T* find(std::uint64_t id, int rank) const {
        auto const index = static_cast<std::uint32_t>(id);
        if (index >= entries_.size()) return nullptr;
        Entry const& e = entries_[index];
        return e.uses == id >> 32 && e.rank == rank ? e.item : nullptr;
    }
    /// Invalidates an identifier, which must be valid.
    void remove(std::uint64_t id) {
        auto const index = static_cast<std::uint32_t>(id);
        entries_[index].item = nullptr;
        entries_[index].next = free_;
        free_ = index;
    }
    /// Returns all operations of that rank.
    std::vector<T*> items_of(int rank) const {
        std::vector<T*> all;
        for (Entry const& e : entries_)
            if (e.item && e.rank == rank) all.push_back(e.item);
        return all;
    }
    void remove_all(int rank) {
        for (std::uint32_t index = 0; index < entries_.size(); ++index)
            if (entries_[index].item && entries_[index].rank == rank) remove(index);
    }

private:
    static constexpr std::uint32_t none = ~0u;
    struct Entry {
        T* item = nullptr;
        int rank = 0;
        std::uint32_t uses = 0;
        std::uint32_t next = none;
    };
    std::vector<Entry> entries_;
    std::uint32_t free_ = none;
};

/// Accounts for the memory that unexpected eager messages of a sender occupy at a receiver. Both sides count the bytes
/// sent and matched. The receiver sends its count in every frame, and in a frame of its own when it has grown by an
/// eighth of the budget.
class Credit {
public:
    static constexpr std::uint64_t budget = UnexpectedCost::limit;
    static std::uint64_t cost(std::size_t bytes) { return UnexpectedCost::of(bytes); }

    // The sender's side.
    bool suffices(std::size_t bytes) const { return spent_ + cost(bytes) - returned_ <= budget; }
    void spend(std::size_t bytes) { spent_ += cost(bytes); }
    void refund(std::size_t bytes) { spent_ -= cost(bytes); }
    /// Processes the receiver's count in a frame. Returns false if it is larger than what was sent.
    bool update_returned(std::uint32_t count) {
        returned_ += static_cast<std::uint32_t>(count - static_cast<std::uint32_t>(returned_));
        return returned_ <= spent_;
    }

    // The receiver's side.
    /// Returns false if the sender has exceeded its credit.
    bool allows(std::size_t bytes) const { return received_ + cost(bytes) - matched_ <= budget; }
    void received(std::size_t bytes) { received_ += cost(bytes); }
    void matched(std::size_t bytes) { matched_ += cost(bytes); }
    /// Returns true if the count must be sent in a frame of its own.
    bool must_publish() const { return matched_ - published_ >= budget / 8; }
    /// Returns the count for the next frame.
    std::uint32_t publish() { return static_cast<std::uint32_t>(published_ = matched_); }

private:
    std::uint64_t spent_ = 0, returned_ = 0;
    std::uint64_t received_ = 0, matched_ = 0, published_ = 0;
};

class TcpTransport final : public Transport, public tcp::Handler {
public:
    /// Takes ownership of `listeners`, on which other ranks connect.
    TcpTransport(Matching& matching, std::vector<tcp::Socket> listeners);
    ~TcpTransport() override;

    bool reaches(int peer) const override;
    bool try_send_small(int, Key const&, Data const&) override { return false; }
    void begin(Send& op) override;
    void cancel(Send& op) override;
    void reserve(Unexpected const& message) override;
    void receive_unexpected(Receive& op, Unexpected& message) override;

    bool poll() override { return network_.poll(); }
    bool poll_from(int peer) override { return network_.poll(peer - local_ranks_); }
    int polls_in_a_row() const override { return 1; }
    bool idle() const override { return incomplete_grants_ == 0 && network_.idle(); }

    void start_shutdown() override { network_.start_shutdown(); }
    bool is_shut_down() const override { return network_.is_shut_down(); }
    void add_open_peers(std::vector<int>& ranks) const override { network_.add_open_peers(ranks); }
    void count_bytes(Segment const& segment, NetworkBytes& bytes) const override;
    void close() override { network_.close(); }

private:
    /// Granted sends, which take turns sending a piece each; linked by Send::next.
    struct SendQueue {
        Send* first = nullptr;
        Send* last = nullptr;

        void push(Send& op) {
            op.next = nullptr;
            (last ? last->next : first) = &op;
            last = &op;
        }
        void pop() {
            first = first->next;
            if (!first) last = nullptr;
        }
    };
    /// State per rank with which messages were exchanged.
    struct Peer {
        Credit credit;
        std::uint64_t sent = 0;   ///< number of messages sent; the number of the next one
        SendQueue granted;
        // The message or piece whose payload is being received.
        tcp::Frame frame;
        Receive* receive = nullptr;
        Unexpected* unexpected = nullptr;
        std::size_t at = 0, end = 0;                         ///< positions in the packed message
        std::shared_ptr<std::vector<std::byte>> piggyback;   ///< piggyback of the next message

        ~Peer() {
            if (unexpected) Unexpected::destroy(unexpected);
        }
    };

    // tcp::Handler
    char const* frame_arrived(int rank, tcp::Frame const& frame) override;
    std::span<std::byte> payload_buffer(int rank) override;
    void payload_arrived(int rank, std::span<std::byte const> piece) override;
    void payload_complete(int rank) override;
    void written(void* sender) override;
    bool refill(int rank) override;
    void link_broken(int rank, std::string const& message) override;
    void warn(std::string const& message) override { matching_.process().warn(message); }

    // send.cpp
    void send(int rank, tcp::Frame frame);
    void send_piggyback(int rank, Send& op);
    void release_id(Send& op);
    char const* granted(int rank, tcp::Frame const& frame);
    char const* done(int rank, tcp::Frame const& frame);
    char const* receive_cancel_answer(int rank, tcp::Frame const& frame);

    // receive.cpp
    char const* receive_message(int rank, Peer& from, tcp::Frame const& frame);
    char const* receive_offer(int rank, tcp::Frame const& frame);
    static void begin_piggyback(Peer& from, tcp::Frame const& frame);
    char const* receive_data(int rank, Peer& from, tcp::Frame const& frame);
    void message_complete(int rank, Peer& from);
    Unexpected* make_unexpected(int rank, tcp::Frame const& frame, Unexpected::Kind kind, std::size_t room);
    void start_rendezvous(Receive& op, int rank, std::uint64_t send, std::size_t bytes);
    void matched(int rank, std::size_t bytes);
    void receive_cancel(int rank, tcp::Frame const& frame);
    Peer& peer(int rank);

    Matching& matching_;
    int const local_ranks_;   ///< ranks on this node; ranks of other nodes have peer numbers from local_ranks_ on
    std::size_t const eager_limit_;
    std::vector<std::unique_ptr<Peer>> peers_;   ///< by world rank
    IdTable<Send> sends_;                        ///< sends that frames may refer to, or that fail with their link
    IdTable<Receive> receives_;                  ///< granted
    std::size_t incomplete_grants_ = 0;          ///< granted sends that are not complete
    tcp::Network network_;
};

}   // namespace tutti::p2p
