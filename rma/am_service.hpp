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

class ActiveMessages;

/// Any send of this service.
struct PendingSend : p2p::Send {
    PendingSend* next_unsent = nullptr;
};

/// A message of commands that is being filled or sent.
struct OutgoingMessage : PendingSend {
    class Service* service = nullptr;
    std::int64_t since = 0;   ///< now_ns() when it was taken for its first command
    std::size_t used = 0;
    alignas(16) std::byte content[am_message_bytes];
};

/// The active messages of a process. Created by service_of().
class Service final : public LayerState, public Pollable {
public:
    explicit Service(Process& process);
    ~Service() override;

    /// `name`: the context of the window's communicator, by which messages name the window.
    void add(ActiveMessages& window, std::uint64_t name);
    void remove(ActiveMessages& window, std::uint64_t name);

    /// Returns an empty message from the pool. Throws std::bad_alloc.
    OutgoingMessage& acquire_message();
    /// Puts a message that was not sent back into the pool.
    void release_message(OutgoingMessage& message) { unused_.push_back(&message); }
    /// Sends the message, and puts it back into the pool afterwards.
    void send(OutgoingMessage& message, int world_rank);
    /// Begins a send now, or when there is memory for it, in the order of the calls. Does not throw.
    void begin(PendingSend& op);
    /// Number for the tags of a command of this process.
    std::uint32_t next_number() { return next_number_ = next_number_ % max_number + 1; }
    p2p::Key key(int world_source, int tag) const { return {context_, world_source, tag}; }
    int peer(int world_rank) const { return process_.cluster.peer_id(world_rank); }
    int me() const { return process_.rank(); }

    /// As rma::acquire_deferred_locks.
    void acquire_deferred_locks(char const* call);

    bool poll() override;
    void describe(BlockedCall& blocked) const override;
    /// Returns true if no command is held back and none waits for a lock or for memory.
    bool is_quiescent() const override;

    Process& process_;
    std::uint64_t messages_sent = 0, answers_sent = 0, data_sent = 0;

private:
    static constexpr std::uint32_t max_number = 1u << 29;
    static constexpr std::size_t receive_count = 4;

    struct IncomingMessage : p2p::Receive {
        Service* service = nullptr;
        std::size_t done = 0;     ///< bytes that were processed as commands
        bool processed = false;   ///< all of it was processed, or copied to `early_`
        alignas(16) std::byte content[am_message_bytes];
    };
    /// A message that has overtaken others.
    struct EarlyMessage {
        std::vector<std::byte> content;
        std::size_t done = 0;
    };
    void post(IncomingMessage& receive);
    static void on_arrival(p2p::Receive& receive);
    void process_arrived();
    void process(IncomingMessage& receive);
    void process_early(int from);
    void retry();
    void begin_unsent();
    void execute(std::byte const* message, std::size_t bytes, std::size_t& done);

    std::uint64_t const context_;
    std::map<std::uint64_t, ActiveMessages*> windows_;
    std::vector<std::unique_ptr<IncomingMessage>> incoming_;
    std::vector<IncomingMessage*> arrived_;   ///< in order; reserved for all receives
    bool is_processing_ = false;
    bool short_of_memory_ = false;                                  ///< a command or a send waits for memory
    std::vector<std::uint32_t> sent_, received_;                    ///< number of messages to and from each world rank
    std::map<std::pair<int, std::uint32_t>, EarlyMessage> early_;   ///< by rank and number
    std::vector<std::unique_ptr<OutgoingMessage>> all_outgoing_;
    std::vector<OutgoingMessage*> unused_;   ///< reserved for all outgoing messages
    PendingSend *first_unsent_ = nullptr, *last_unsent_ = nullptr;
    std::uint32_t next_number_ = 0;
};

/// Returns the process's service; created by the first call.
Service& service_of(Process& process);

}   // namespace tutti::rma
