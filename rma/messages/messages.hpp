// SPDX-License-Identifier: BSD-3-Clause
// A window's members that cannot load and store in each other's memory: this process asks its targets to do what it
// wants (as an origin), and does what others ask for (as a target), whenever anything polls. See README.md for the
// protocol.
//
// Everything is called inside the rank's lock. What begins an operation may wait while much of what was begun before is
// still under way, but for nothing else. `rank` is of the window; the caller has checked epochs and bounds.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "rma/messages/protocol.hpp"
#include "rma/messages/service.hpp"
#include "rma/node/accumulation.hpp"
#include "rma/window/elements.hpp"
#include "rma/window/window.hpp"
#include "runtime/datatype/layout/remote.hpp"
#include "runtime/objects/request.hpp"

namespace tutti::rma {

class Messages final : public Extension {
public:
    explicit Messages(Window& window);
    /// Waits until what this process has answered has left it. All epochs of all members are over.
    ~Messages() override;

    // --- Operations; `origin_of`: bytes from the beginning of the target's part to the origin of its elements. -------
    void put(Local const& from, Remote const& to, std::int64_t origin_of, Ref<Request>* request);
    void get(Local const& to, Remote const& from, std::int64_t origin_of, Ref<Request>* request);
    /// `result`: null, or where goes what was there. `from` is not looked at with MPI_NO_OP. The first `done` packed
    /// bytes have been combined already.
    void accumulate(Local const& from, Local const* result, Remote const& to, std::int64_t origin_of,
                    Accumulation const& how, Ref<Request>* request, std::size_t done = 0);
    void compare_and_swap(void const* origin, void const* compare, void* result, Datatype const& type, int rank,
                          std::int64_t origin_of);

    // --- Completion --------------------------------------------------------------------------------------------------
    /// All that was begun towards the target (all targets) is done there.
    void flush(int rank, char const* call);
    void flush_all(char const* call);
    /// The buffers of it may be used again.
    void flush_local(int rank, char const* call);
    void flush_local_all(char const* call);

    // --- Locks of targets on other nodes: asked for with the first operation, or before another lock is taken. -------
    void lock(int rank, bool exclusive);
    /// Takes those that are wanted or asked for, and returns when this process holds them.
    void take_locks(char const* call);
    /// Also a flush.
    void unlock(int rank, char const* call);

    // --- Locks of all: the other nodes' parts, which their first members hold for this process (rma/node/lock.hpp). --
    /// Tries to take those that are not held; from then on this process waits for them. True: it holds all.
    bool try_nodes(char const* call);
    /// After a refusal, and a step back: returns when this process holds one of them.
    void await_node(char const* call);
    /// Gives back what is held, and goes on waiting.
    void step_back();
    /// Neither holds nor awaits any. Throws nothing.
    void leave_nodes();

    // --- Groups: what is told to and by members of other nodes. ------------------------------------------------------
    void post(int rank);
    /// Takes the memory for the next post for this member, and for an access epoch towards it. Throws std::bad_alloc.
    void prepare_post(int rank) { make_room(peer(rank), 0); }
    void prepare_start(int rank) { peer(rank); }
    /// To those of them on other nodes, behind all that was begun; waits until the buffers may be used again. What was
    /// begun towards the others is done.
    void complete(std::vector<int> const& ranks, char const* call);
    /// The n-th epoch started towards a member belongs to its n-th post for this one; likewise of completes.
    void start(int rank) { ++peer(rank).posts_used; }
    void await_post(int rank, char const* call);
    bool has_completed(int rank) { return peer(rank).completes > peer(rank).completes_used; }
    void await_complete(int rank, char const* call);
    void end_exposure(int rank) { ++peer(rank).completes_used; }

    // --- The service's -----------------------------------------------------------------------------------------------
    /// `data`: command.length bytes, if it has any; valid during the call. Throws std::bad_alloc: nothing has happened.
    void asked(int origin, Command const& command, std::byte const* data);
    /// Sends what was kept back for long, tries again what waits for locks or memory; true when anything moved.
    bool poll();
    /// As Pollable::tell: whose acts let this process go on with what origins wait for.
    void tell(Blockage& blockage) const;
    bool at_rest() const { return open_ == 0 && locks_wanted_ == 0 && !short_of_memory_; }

    /// How many messages of each sort this process has sent, of all its windows.
    struct Sent {
        std::uint64_t commands, answers, data;
    };
    Sent sent() const { return {service_.messages_sent, service_.answers_sent, service_.data_sent}; }

private:
    class OperationRequest;
    struct Answer;
    struct DataOut;
    struct Reply;
    struct DataIn;

    /// Of a target, by this process as its origin. `asked`: the command was written; `held`: the target has answered
    /// something behind it.
    enum class Lock : std::uint8_t { none, wanted, asked, held };
    /// Of all parts of a node. `leaving`: not given back yet, for want of memory.
    enum class NodeLock : std::uint8_t { none, waiting, held, leaving };

    /// A command that waits for those before it, or for its data.
    struct Waiting {
        Command command;
        std::vector<std::byte> data;
        bool coming = false, here = false;   ///< data in a message of its own: is asked for, has come
    };

    /// What this process knows of a member, as its origin and as its target.
    struct Peer {
        int rank = 0, world = 0;
        bool here = true;   ///< on this node: asked for data alone
        // Its origin:
        Outgoing* open = nullptr;        ///< commands that have not left
        Answer* gathering = nullptr;     ///< to some of them, in one message; null: none
        std::size_t last_answered = 0;   ///< where in `open` the last of those begins
        unsigned under_way = 0;          ///< sends of data, and answers that are awaited
        bool unconfirmed = false;        ///< it may not have done all yet
        Lock lock = Lock::none;
        bool exclusive = false;                 ///< what is locked, valid unless lock is none
        NodeLock node = NodeLock::none;         ///< of the node whose first member this is,
        bool granted = false;                   ///< and what that has answered last
        std::string const* failure = nullptr;   ///< nothing can be done any more
        std::vector<Ref<Datatype>> types;       ///< that it knows, by number − 1
        std::size_t oldest_type = 0;
        // Its target:
        std::deque<Waiting> waiting;   ///< in order
        bool advancing = false;
        unsigned arriving = 0;                                      ///< data on its way into the window
        unsigned leaving = 0;                                       ///< answers on their way out of the window
        std::vector<std::byte> answers;                             ///< that are gathered
        std::vector<std::shared_ptr<RemoteType const>> described;   ///< by number − 1
        NodeLock locked_node = NodeLock::none;                      ///< of this node, by the origin
        std::int64_t refused_since = 0;                             ///< its exclusive lock; 0: it was not
        std::uint64_t posts = 0, completes = 0, posts_used = 0, completes_used = 0;
    };

    Peer& peer(int rank);
    /// Calls `act` with each peer that there is. What `act` polls may make peers of origins, so that `used_` grows.
    template <class Action>
    void for_each_peer(Action const& act) {
        for (std::size_t i = 0; i < used_.size(); ++i) act(*used_[i]);
    }
    void check(Peer const& to) const;

    // origin.cpp
    void locate(Peer& to, Remote const& elements, std::int64_t origin_of, Command& command);
    std::uint32_t number_of(Peer& to, Datatype const& type);
    void make_room(Peer& to, std::size_t length);
    std::byte* write(Peer& to, Command const& command);
    /// What belongs to a command besides the bytes behind it; positions and lengths are the command's.
    struct Beside {
        p2p::Data const* out = nullptr;    ///< its data, in a message of its own
        p2p::Data const* into = nullptr;   ///< where its answer goes; null: it has none
        OperationRequest* request = nullptr;
    };
    std::byte* add(Peer& to, Command& command, Beside const& beside);
    void dispatch(Peer& to);
    std::unique_ptr<DataOut> make_data(Peer& to, Command const& command, p2p::Data const& from);
    void send_data(Peer& to, Command const& command, std::unique_ptr<DataOut> op, OperationRequest* request);
    std::unique_ptr<Answer> make_answer(Peer& from);
    void begin(Answer& answer);
    void end_gathering(Peer& from);
    void settle(Peer& to, OperationRequest* request);
    void not_too_much(Peer& to, char const* call);

    // epochs.cpp
    void set_lock(Peer& to, Lock lock);
    void ask_for_lock(Peer& to);
    void ask_for_node(Peer& to, bool waits);
    void command_node(Peer& to, Act act, NodeLock then);
    void send_leaves();
    void confirm(Peer& to, Act by);
    void await_quiet(Peer& to, char const* call);
    template <class Condition>
    void await_word(Peer& of, char const* call, Condition condition);

    // target.cpp
    void advance(Peer& from);
    void fetch_ahead(Peer& from);
    bool retry_locks();
    bool carry_out(Peer& from, Command const& command, std::byte const* data);
    bool carry_out_epoch(Peer& from, Command const& command);
    void put_here(Peer& from, Command const& command, std::byte const* data);
    void put_from_message(Peer& from, Command const& command);
    void describe_here(Peer& from, Command const& command, std::byte const* data);
    void answer_get(Peer& from, Command const& command);
    void accumulate_here(Peer& from, Command const& command, std::byte const* data);
    void compare_and_swap_here(Peer& from, Command const& command, std::byte const* data);
    bool lock_here(Peer& from, Command const& command);
    void unlock_here(Command const& command);
    bool lock_node_here(Peer& from, Command const& command);
    void leave_node_here(Peer& from, NodeLock then);
    std::unique_ptr<Reply> make_reply(Peer& to, Command const& command);
    void reply(Peer& to, Command const& command, std::unique_ptr<Reply> op, p2p::Data const& data,
               std::vector<std::byte> own);
    template <class Operation>
    void begin(std::unique_ptr<Operation> op);
    bool try_again();
    SharedMemory memory_at(std::uint64_t address, std::size_t bytes) const;
    static TypedMemory elements(Peer const& from, Command const& command);

    Window& window_;
    Service& service_;
    std::vector<std::unique_ptr<Peer>> peers_;   ///< by rank
    std::vector<Peer*> used_;                    ///< those that there are: see for_each_peer
    unsigned open_ = 0;                          ///< peers with commands that have not left
    unsigned locks_wanted_ = 0;                  ///< by origins, of this process's part
    unsigned replies_ = 0;                       ///< that have not left
    bool short_of_memory_ = false;               ///< some peer's commands, or what is said to one, wait for memory
    unsigned unheld_ = 0;                        ///< peers of which the lock is wanted or asked for
    std::vector<int> first_members_;             ///< of the other nodes
};

/// Of a window that has them.
inline Messages& messages(Window& window) { return static_cast<Messages&>(*window.messages); }

/// Before a lock of any window is taken: this process holds those that the program has taken before, of all windows. So
/// that programs that take them in an order lest they wait in a circle do not.
inline void hold_locks(Process& process, char const* call) {
    if (process.one_sided) [[unlikely]]
        service_of(process).hold_locks(call);
}

/// By all members, while a window is made: from now on this process does what it is asked for. Before anybody may ask,
/// all have come so far.
void make_messages(Window& window);
/// The last thing of making it: lets a thread serve while the program computes, unless there is one. From then on it
/// may poll.
void start_serving(Window& window);

}   // namespace tutti::rma
