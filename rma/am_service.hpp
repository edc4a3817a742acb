// SPDX-License-Identifier: BSD-3-Clause
// Per-process state of active messages, for all windows that use them: the receives that are always posted for
// commands, and the order of these commands.
//
// Order: messages of commands between two processes are numbered and processed in that order. They usually arrive in
// order, because they are short and sent eagerly; one that p2p only offered (flow control, p2p/README.md) may be
// overtaken, and the service then keeps the later ones until it arrives. All functions run with the rank's lock held,
// in any thread that polls.
//
// Memory: a command for which memory is missing has changed nothing. It stays in its receive buffer, which is not
// posted again, and each poll retries it; no command is lost or executed twice, and the flow control of p2p stops the
// senders. Sends of this process allocate their memory before anything is changed; sends for which p2p has no memory
// stay in a list, in order.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "p2p/engine.hpp"
#include "rma/am_protocol.hpp"
#include "runtime/process.hpp"

namespace tutti::rma {

class Messages;

/// Any send of this service.
struct Sending : p2p::Send {
    Sending* next_unsent = nullptr;
};

/// A message of commands that is being filled or sent.
struct Outgoing : Sending {
    class Service* service = nullptr;
    std::int64_t since = 0;   ///< now_ns() when it was taken for its first command
    std::size_t used = 0;
    alignas(16) std::byte content[message_bytes];
};

/// The active messages of a process. Created by service_of().
class Service final : public Extension, public Pollable {
public:
    explicit Service(Process& process);
    ~Service() override;

    /// `name`: the context of the window's communicator, by which messages name the window.
    void add(Messages& window, std::uint64_t name);
    void remove(Messages& window, std::uint64_t name);

    /// Returns an empty message from the pool. Throws std::bad_alloc.
    Outgoing& make();
    /// Puts a message that was not sent back into the pool.
    void give_back(Outgoing& message) { unused_.push_back(&message); }
    /// Sends the message, and puts it back into the pool afterwards.
    void send(Outgoing& message, int world_rank);
    /// Begins a send now, or when there is memory for it, in the order of the calls. Does not throw.
    void begin(Sending& op);
    /// Number for the tags of a command of this process.
    std::uint32_t next_number() { return next_number_ = next_number_ % most_numbers + 1; }
    p2p::Key key(int world_source, int tag) const { return {context_, world_source, tag}; }
    int peer(int world_rank) const { return process_.cluster.peer_of(world_rank); }
    int me() const { return process_.rank(); }

    /// As rma::hold_locks.
    void hold_locks(char const* call);

    bool poll() override;
    void tell(Blockage& blockage) const override;
    /// Returns true if no command is held back and none waits for a lock or for memory.
    bool at_rest() const override;

    Process& process_;
    std::uint64_t messages_sent = 0, answers_sent = 0, data_sent = 0;

private:
    static constexpr std::uint32_t most_numbers = 1u << 29;
    static constexpr std::size_t receives = 4;

    struct Incoming : p2p::Receive {
        Service* service = nullptr;
        std::size_t done = 0;   ///< bytes that were processed as commands
        bool taken = false;     ///< all of it was processed, or copied to `ahead_`
        alignas(16) std::byte content[message_bytes];
    };
    /// A message that has overtaken others.
    struct Early {
        std::vector<std::byte> content;
        std::size_t done = 0;
    };
    void post(Incoming& receive);
    static void arrived(p2p::Receive& receive);
    void take_arrived();
    void take(Incoming& receive);
    void take_early(int from);
    void try_again();
    void begin_unsent();
    void carry_out(std::byte const* message, std::size_t bytes, std::size_t& done);

    std::uint64_t const context_;
    std::map<std::uint64_t, Messages*> windows_;
    std::vector<std::unique_ptr<Incoming>> incoming_;
    std::vector<Incoming*> arrived_;   ///< in order; reserved for all receives
    bool inside_ = false;
    bool short_of_memory_ = false;                           ///< a command or a send waits for memory
    std::vector<std::uint32_t> sent_, looked_at_;            ///< number of messages to and from each world rank
    std::map<std::pair<int, std::uint32_t>, Early> ahead_;   ///< by rank and number
    std::vector<std::unique_ptr<Outgoing>> all_outgoing_;
    std::vector<Outgoing*> unused_;   ///< reserved for all outgoing messages
    Sending *first_unsent_ = nullptr, *last_unsent_ = nullptr;
    std::uint32_t next_number_ = 0;
};

/// Returns the process's service; created by the first call.
Service& service_of(Process& process);

}   // namespace tutti::rma
