// SPDX-License-Identifier: BSD-3-Clause
// Active messages of one window, for members that cannot load and store in each other's memory. As an origin, this
// process sends commands to its targets; as a target, it executes the commands of others whenever any thread polls.
// active-messages.md describes the protocol.
//
// All functions must be called with the rank's lock held. A function that begins an operation may wait while too many
// previous ones are in progress, and for nothing else. `rank` is a rank of the window; the caller has checked epochs
// and bounds.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "rma/accumulate.hpp"
#include "rma/am_protocol.hpp"
#include "rma/am_service.hpp"
#include "rma/window.hpp"
#include "runtime/base/error.hpp"
#include "runtime/datatype/layout.hpp"
#include "runtime/objects/request.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::rma {

class ActiveMessages final : public LayerState {
public:
    explicit ActiveMessages(Window& window);
    /// Waits until all answers of this process have been sent. All epochs of all members must be closed.
    ~ActiveMessages() override;

    // --- Operations. `offset`: of the elements' origin in the target's part, in bytes --------------------------------
    void put(Local const& from, Remote const& to, std::int64_t offset, Ref<Request>* request);
    void get(Local const& to, Remote const& from, std::int64_t offset, Ref<Request>* request);
    /// `result`: receives the previous content; may be null. `from` is not read for MPI_NO_OP. `done`: packed bytes
    /// that were combined before.
    void accumulate(Local const& from, Local const* result, Remote const& to, std::int64_t offset,
                    Accumulation const& how, Ref<Request>* request, std::size_t done = 0);
    void compare_and_swap(void const* origin, void const* compare, void* result, Datatype const& type, int rank,
                          std::int64_t offset);

    // --- Completion --------------------------------------------------------------------------------------------------
    /// Return when all operations begun towards the target (all targets) are complete there.
    void flush(int rank, char const* call);
    void flush_all(char const* call);
    /// Return when the buffers of these operations may be reused.
    void flush_local(int rank, char const* call);
    void flush_local_all(char const* call);

    // --- Locks of targets on other nodes: requested with the first operation, or before another lock -----------------
    void lock(int rank, bool exclusive);
    /// Acquires all locks that are deferred or requested; returns when this process holds them.
    void acquire_deferred_locks(char const* call);
    /// Also flushes.
    void unlock(int rank, char const* call);

    // --- Locks of all parts: for each other node, its first member holds the lock for this process -------------------
    /// Requests the nodes' locks that are not held; from then on this process waits for them. Returns true if it holds
    /// all.
    bool try_nodes(char const* call);
    /// Must be called after a refusal and step_back(): returns when this process holds the lock of a node that refused
    /// it.
    void await_node(char const* call);
    /// Releases the nodes' locks that are held; this process still waits for all of them.
    void step_back();
    /// Releases all nodes' locks and stops waiting for them. Does not throw.
    void release_nodes();

    // --- Epochs between groups: posts and completes to and from members of other nodes -------------------------------
    /// Must be preceded by prepare_post(), so that no memory is missing.
    void post(int rank);
    /// Allocate the memory for the next post for this member, and for an access epoch towards it. Throw std::bad_alloc.
    void prepare_post(int rank) { reserve_command(peer(rank), 0); }
    void prepare_start(int rank) { peer(rank); }
    /// Sends the close of the access epoch to those of `ranks` that are on other nodes, behind all their operations;
    /// operations towards the others are complete on return. Returns when the buffers may be reused.
    void complete(std::vector<int> const& ranks, char const* call);
    /// The n-th epoch started towards a member matches its n-th post for this one; the same holds for completes.
    void start(int rank) { ++peer(rank).posts_used; }
    void await_post(int rank, char const* call);
    bool has_completed(int rank) { return peer(rank).completes > peer(rank).completes_used; }
    void await_complete(int rank, char const* call);
    void end_exposure(int rank) { ++peer(rank).completes_used; }

    // --- Called by Service -------------------------------------------------------------------------------------------
    /// Executes or queues a command. `data`: command.length bytes, valid during the call. Throws std::bad_alloc without
    /// effect.
    void execute_or_queue(int origin, Command const& command, std::byte const* data);
    /// Sends commands that were held back too long, and retries commands that wait for locks or memory. Returns true if
    /// there was progress.
    bool poll();
    /// As Pollable::describe: adds the ranks whose actions let this process continue with the commands that origins
    /// wait for.
    void describe(BlockedCall& blocked) const;
    bool is_quiescent() const { return open_messages_ == 0 && waiting_locks_ == 0 && !short_of_memory_; }

    /// Number of messages of each sort that this process has sent, over all its windows.
    struct Sent {
        std::uint64_t commands, answers, data;
    };
    Sent sent() const { return {service_.messages_sent, service_.answers_sent, service_.data_sent}; }

private:
    class OperationRequest;
    struct Answer;
    struct OutgoingData;
    struct Reply;
    struct IncomingData;

    /// State of a target's lock, with this process as the origin. `deferred`: not requested yet; `requested`: the
    /// command was written; `held`: the target has answered a later command.
    enum class Lock : std::uint8_t { none, deferred, requested, held };
    /// State of the lock of all parts of a node. `releasing`: not released yet, because memory is missing.
    enum class NodeLock : std::uint8_t { none, waiting, held, releasing };

    /// A command that waits for previous ones, or for its data.
    struct WaitingCommand {
        Command command;
        std::vector<std::byte> data;
        bool receive_begun = false, arrived = false;   ///< of data in a separate message
    };

    /// State of this process towards one member: as its origin and as its target.
    struct Peer {
        int rank = 0, world_rank = 0;
        bool on_this_node = true;   ///< used for data only
        // As its origin:
        OutgoingMessage* open_message = nullptr;   ///< commands that have not been sent
        Answer* gathered_answer = nullptr;         ///< the answer to some of them, in one message; null: none
        std::size_t last_gathered = 0;             ///< offset in `open_message` of the last one of those
        unsigned in_flight = 0;                    ///< sends of data, and answers that have not arrived
        bool unconfirmed = false;                  ///< some operations may not be complete at the target
        Lock lock = Lock::none;
        bool exclusive = false;                       ///< kind of the lock; valid unless lock is none
        NodeLock node = NodeLock::none;               ///< of the node whose first member this is
        bool node_granted = false;                    ///< the last answer of that member to lock_node
        std::string const* failure = nullptr;         ///< set: the connection is lost, no operation is possible
        std::vector<Ref<Datatype>> described_types;   ///< to it; index: number − 1
        std::size_t oldest_type = 0;
        // As its target:
        std::deque<WaitingCommand> waiting;   ///< in order
        bool advancing = false;
        unsigned incoming_data = 0;       ///< receives of data into the window that are in progress
        unsigned outgoing_answers = 0;    ///< answers that are being sent from the window's memory
        std::vector<std::byte> answers;   ///< gathered
        std::vector<std::shared_ptr<RemoteType const>> remote_types;   ///< index: number − 1
        NodeLock locked_node = NodeLock::none;                         ///< of this node, held by the origin
        std::int64_t refused_since = 0;                                ///< its exclusive lock, in ns; 0: not refused
        std::uint64_t posts = 0, completes = 0, posts_used = 0, completes_used = 0;
    };

    Peer& peer(int rank);
    /// Calls `act` for each peer that exists. Polling in `act` may create peers for origins, so `existing_peers_` may
    /// grow.
    template <class Action>
    void for_each_peer(Action const& act) {
        for (std::size_t i = 0; i < existing_peers_.size(); ++i) act(*existing_peers_[i]);
    }
    void check(Peer const& to) const;

    // am_origin.cpp
    void locate(Peer& to, Remote const& elements, std::int64_t offset, Command& command);
    std::uint32_t number_of(Peer& to, Datatype const& type);
    void reserve_command(Peer& to, std::size_t length);
    std::byte* write(Peer& to, Command const& command);
    /// Parts of a command other than the bytes behind it; positions and lengths are those of the command.
    struct Attachments {
        p2p::Data const* out = nullptr;    ///< the data, in a separate message
        p2p::Data const* into = nullptr;   ///< destination of the answer; null: no answer
        OperationRequest* request = nullptr;
    };
    std::byte* add(Peer& to, Command& command, Attachments const& attachments);
    void dispatch(Peer& to);
    std::unique_ptr<OutgoingData> make_data(Peer& to, Command const& command, p2p::Data const& from);
    void send_data(Peer& to, Command const& command, std::unique_ptr<OutgoingData> op, OperationRequest* request);
    std::unique_ptr<Answer> make_answer(Peer& from);
    void begin(Answer& answer);
    void close_gathered_answer(Peer& from);
    void finish_request(Peer& to, OperationRequest* request);
    void limit_in_flight(Peer& to, char const* call);

    // am_epochs.cpp
    void set_lock(Peer& to, Lock lock);
    void request_lock(Peer& to);
    void request_node(Peer& to, bool waits);
    void send_node_command(Peer& to, Opcode opcode, NodeLock then);
    void send_node_releases();
    void confirm(Peer& to, Opcode by);
    void await_in_flight(Peer& to, char const* call);
    template <class Condition>
    void await_notification(Peer& of, char const* call, Condition condition);

    // am_target.cpp
    void advance(Peer& from);
    void prefetch_data(Peer& from);
    bool retry_locks();
    bool execute(Peer& from, Command const& command, std::byte const* data);
    bool execute_synchronization(Peer& from, Command const& command);
    void execute_put(Peer& from, Command const& command, std::byte const* data);
    void receive_put(Peer& from, Command const& command);
    void execute_describe_type(Peer& from, Command const& command, std::byte const* data);
    void execute_get(Peer& from, Command const& command);
    void execute_accumulate(Peer& from, Command const& command, std::byte const* data);
    void execute_compare_and_swap(Peer& from, Command const& command, std::byte const* data);
    bool execute_lock(Peer& from, Command const& command);
    void execute_unlock(Command const& command);
    bool execute_lock_node(Peer& from, Command const& command);
    void change_node_lock(Peer& from, NodeLock then);
    std::unique_ptr<Reply> make_reply(Peer& to, Command const& command);
    void reply(Peer& to, Command const& command, std::unique_ptr<Reply> op, p2p::Data const& data,
               std::vector<std::byte> packed);
    template <class Operation>
    void begin(std::unique_ptr<Operation> op);
    bool retry();
    SharedMemory memory_at(std::uint64_t address, std::size_t bytes) const;
    static TypedMemory elements(Peer const& from, Command const& command);

    Window& window_;
    Service& service_;
    std::vector<std::unique_ptr<Peer>> peers_;   ///< by rank
    std::vector<Peer*> existing_peers_;          ///< those that exist: see for_each_peer
    unsigned open_messages_ = 0;                 ///< number of peers with commands that have not been sent
    unsigned waiting_locks_ = 0;                 ///< number of locks of this process's part that origins wait for
    unsigned replies_ = 0;                       ///< number of replies that have not been sent
    bool short_of_memory_ = false;               ///< commands of a peer, or messages to one, wait for memory
    unsigned pending_locks_ = 0;                 ///< number of peers with Lock::deferred or Lock::requested
    std::vector<int> first_members_;             ///< of the other nodes
};

/// Must not be called for a window without active messages.
inline ActiveMessages& active_messages(Window& window) { return static_cast<ActiveMessages&>(*window.active_messages); }

/// Must be called before a lock of any window is acquired: returns when this process holds all locks, of all windows,
/// that the program acquired before. This preserves the program's locking order, so that a program that avoids cycles
/// by an order does not deadlock.
inline void acquire_deferred_locks(Process& process, char const* call) {
    if (process.one_sided) [[unlikely]]
        service_of(process).acquire_deferred_locks(call);
}

/// Called by all members while a window is created; afterwards this process executes commands. No member may send any
/// before all have returned from this.
void create_active_messages(Window& window);
/// Last step of creating the window: starts a thread that executes commands while the program computes, unless there is
/// one. That thread may poll from then on.
void start_serving(Window& window);

// Operations in progress, of an origin and of a target: operations of p2p that delete themselves when they complete.

/// Request of MPI_Rput and similar calls: complete when all its parts are.
class ActiveMessages::OperationRequest final : public OneSidedRequest {
public:
    explicit OperationRequest(Window& window) : window_(window) { comm = window.comm; }

    void advance() override { p2p::engine(window_.process).poll(); }
    void part_begun() { ++parts_; }
    void part_ended(std::string const* failure) {
        complete = --parts_ == 0;
        if (!failure) return;
        status.error = ErrorClass::other;
        if (!unless_out_of_memory([&] { return error_text = *failure, true; }))
            error_text = "no memory";   // short enough to need no allocation
    }

private:
    Window& window_;
    unsigned parts_ = 1;   ///< includes one for the call that creates it
};

/// Data of an origin, in a separate message.
struct ActiveMessages::OutgoingData final : PendingSend, InPool {
    Peer* to = nullptr;
    Ref<Datatype> type;   ///< keeps the layout alive
    Ref<OperationRequest> request;
    std::vector<std::byte> buffer;
};

/// The answer that an origin waits for: data of one or several commands, or an empty message that confirms completion.
struct ActiveMessages::Answer final : p2p::Receive, InPool {
    struct Part {
        p2p::Data into;
        std::size_t position, bytes;   ///< in the packed elements
        Ref<Datatype> type;            ///< keeps the layout alive
        Ref<OperationRequest> request;
    };
    ActiveMessages* owner = nullptr;
    Peer* from = nullptr;
    std::uint32_t number = 0;
    std::vector<Part> parts;
    std::size_t bytes = 0;
    bool direct = false;             ///< received directly into its destination
    std::vector<std::byte> buffer;   ///< otherwise the answer is received here

    /// Adds one part. Throws std::bad_alloc without effect.
    void add_part(Part part);
};

/// The answer of a target.
struct ActiveMessages::Reply final : PendingSend, InPool {
    ActiveMessages* owner = nullptr;
    Peer* to = nullptr;   ///< counted in `outgoing_answers` of this peer; null: not counted
    std::vector<std::byte> buffer;
};

/// Data that arrives at a target in a separate message.
struct ActiveMessages::IncomingData final : p2p::Receive, InPool {
    ActiveMessages* owner = nullptr;
    Peer* from = nullptr;
    WaitingCommand* waiting = nullptr;   ///< the command that the data belongs to; null: it is put into the window
    TypedMemory elements{};   ///< destination of a piece of a put, received in `buffer`, unless it has no gaps
    std::shared_ptr<RemoteType const> type;
    std::size_t position = 0;
    std::vector<std::byte> buffer;
};

}   // namespace tutti::rma
