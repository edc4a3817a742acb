// SPDX-License-Identifier: BSD-3-Clause
// What a process keeps for all its windows whose members ask each other by messages: the receives that always wait for
// commands, and the order of what they bring.
//
// Order: messages of commands between two processes are numbered, and looked at in that order. They come so as a rule,
// for they are short and leave at once; one that had to be offered (p2p/README.md) may be overtaken, and then those
// that came before it wait here. All that happens in here happens inside the rank's lock, in whichever thread polls.
//
// Memory: a command for which there is none now has changed nothing. It stays where it came, its receive is not posted
// again, and each poll tries again; so nothing is lost or done twice, and p2p holds its senders back. What this process
// sends takes its memory before anything is changed; what p2p has none to begin with stays in a list, in order.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "p2p/engine.hpp"
#include "rma/messages/protocol.hpp"
#include "runtime/process.hpp"

namespace tutti::rma {

class Messages;

/// Any send of this service.
struct Sending : p2p::Send {
    Sending* next_unsent = nullptr;
};

/// A message of commands on its way out.
struct Outgoing : Sending {
    class Service* service = nullptr;
    std::int64_t since = 0;   ///< when its first command was written
    std::size_t used = 0;
    alignas(16) std::byte content[message_bytes];
};

class Service final : public Extension, public Pollable {
public:
    explicit Service(Process& process);
    ~Service() override;

    void add(Messages& window, std::uint64_t name);
    void remove(Messages& window, std::uint64_t name);

    Outgoing& make();
    /// Takes one back that has not been sent.
    void give_back(Outgoing& message) { unused_.push_back(&message); }
    /// Sends it, and takes it back when it has left.
    void send(Outgoing& message, int world_rank);
    /// Begins a send, now or when there is memory for it, but behind those begun before. Throws nothing.
    void begin(Sending& op);
    /// For tags of this process's commands.
    std::uint32_t next_number() { return next_number_ = next_number_ % most_numbers + 1; }
    p2p::Key key(int world_source, int tag) const { return {context_, world_source, tag}; }
    int peer(int world_rank) const { return process_.cluster.peer_of(world_rank); }
    int me() const { return process_.rank(); }

    /// As rma::hold_locks.
    void hold_locks(char const* call);

    bool poll() override;
    void tell(Blockage& blockage) const override;
    /// Nothing is kept back, and nothing waits for a lock or for memory.
    bool at_rest() const override;

    Process& process_;
    std::uint64_t messages_sent = 0, answers_sent = 0, data_sent = 0;

private:
    static constexpr std::uint32_t most_numbers = 1u << 29;
    static constexpr std::size_t receives = 4;

    struct Incoming : p2p::Receive {
        Service* service = nullptr;
        std::size_t done = 0;   ///< bytes that were read as commands
        bool taken = false;     ///< all of it was, or is in `ahead_`
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
    std::vector<Incoming*> arrived_;   ///< in order, with room for all
    bool inside_ = false;
    bool short_of_memory_ = false;                           ///< something waits for memory
    std::vector<std::uint32_t> sent_, looked_at_;            ///< messages to and from each rank of the world
    std::map<std::pair<int, std::uint32_t>, Early> ahead_;   ///< by rank and number
    std::vector<std::unique_ptr<Outgoing>> all_outgoing_;
    std::vector<Outgoing*> unused_;   ///< with room for all
    Sending *first_unsent_ = nullptr, *last_unsent_ = nullptr;
    std::uint32_t next_number_ = 0;
};

/// The process's; made when first asked for.
Service& service_of(Process& process);

}   // namespace tutti::rma
