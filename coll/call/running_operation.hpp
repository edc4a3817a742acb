// SPDX-License-Identifier: BSD-3-Clause
// A running operation: one numbered operation that suspends where a blocking call would wait. It owns its environment
// and its coroutine, and knows what the coroutine waits for. Its functions never block. Each fragment of a large
// operation is a running operation. A restarted operation keeps its environment and constructs its coroutine anew in
// the memory of the previous one.
#pragma once

#include <optional>

#include "coll/call/drive.hpp"
#include "coll/choice/comm_state.hpp"
#include "coll/choice/decision.hpp"
#include "coll/env/net_env.hpp"

// Fragments: large nonblocking operations are cut, broadcasts by bytes and reductions by elements, so that every rank
// cuts at the same places whatever its datatype. Other collectives are not cut, nor are those of intercommunicators,
// where non-root ranks do not know the size, nor calls whose algorithm cuts messages itself. Between nodes, blocking
// calls run in fragments as well if the algorithm has such a parameter; that algorithm is the one chosen for the whole
// message. The number and size of the fragments in flight follow Cheetah (Gorentla Venkata and others, CLUSTER 2013),
// section VI.

namespace tutti::coll {

inline constexpr std::size_t max_fragments = 1 << 20;   ///< per operation; fragments are made larger if needed

/// Determines where an operation is cut; this general form does not cut. `bytes` is the requested size of a fragment;
/// 0: never cut. cut(args, k) returns the arguments of fragment k; task() returns its coroutine. At most
/// `max_in_flight` fragments are in flight.
template <class Args>
struct Fragments {
    static constexpr std::size_t max_in_flight = 1;
    Fragments(Args const&, std::size_t) {}

    unsigned count() const { return 1; }
    Args cut(Args const& whole, unsigned) const { return whole; }
};

/// Cuts reduce, allreduce, scan and exscan.
template <>
struct Fragments<ReduceArgs> {
    static constexpr std::size_t max_in_flight = 4;

    Fragments(ReduceArgs const& whole, std::size_t bytes) : elements(whole.count) {
        if (bytes == 0 || whole.bytes() <= bytes || whole.first_group_size > 0) return;
        bytes = std::max(bytes, whole.bytes() / max_fragments);
        elements = std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes) / whole.type->size());
        number = static_cast<unsigned>((whole.count + elements - 1) / elements);
    }
    unsigned count() const { return number; }
    ReduceArgs cut(ReduceArgs const& whole, unsigned k) const {
        std::int64_t const first = elements * k;
        return whole.slice(first, std::min(elements, whole.count - first));
    }
    template <class Env>
    Task task(Env& env, Chosen<ReduceArgs> const& chosen, ReduceArgs const&, ReduceArgs const& fragment,
              unsigned) const {
        return run_in(env, chosen, fragment);
    }

    std::int64_t elements;   ///< per fragment; the last one may have fewer
    unsigned number = 1;
};

/// Cuts broadcasts.
template <>
struct Fragments<BcastArgs> {
    static constexpr std::size_t max_in_flight = 4;

    Fragments(BcastArgs const& whole, std::size_t requested) : bytes(whole.data.bytes()) {
        if (requested == 0 || bytes <= requested || whole.first_group_size > 0) return;
        requested = std::max(requested, bytes / max_fragments);
        number = static_cast<unsigned>((bytes + requested - 1) / requested);
        bytes = requested;
    }
    unsigned count() const { return number; }
    /// If the buffer has gaps, the fragment has a size but no address; see task().
    BcastArgs cut(BcastArgs const& whole, unsigned k) const;
    template <class Env>
    Task task(Env& env, Chosen<BcastArgs> const& chosen, BcastArgs const& whole, BcastArgs const& fragment,
              unsigned k) const;

    std::size_t bytes;   ///< per fragment; the last one may have fewer
    unsigned number = 1;
};

/// Returns the value of the parameter of this kind; 0: the algorithm has none.
inline std::size_t value_of(Decision const& decision, ParameterKind kind) {
    std::span<Parameter const> const all = decision.algorithm->parameters;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].kind == kind) return decision.setting->values[i];
    return 0;
}
/// Returns the fragment size in bytes that an algorithm between nodes requests; 0: none.
inline std::size_t fragment_of(Decision const& decision) { return value_of(decision, ParameterKind::fragment); }

/// Runs a blocking call as a request, to completion. Only for Args that can be cut. Throws the error that ended it.
template <class Args>
void run_in_fragments(Comm& comm, Collective collective, Args const& args);

class RunningOperation {
public:
    /// The channel of the operation must be free. The sequence, the trees, the communicator and `frames` (as in
    /// ShmMemory) must stay valid as long as this object.
    RunningOperation(Comm const& comm, OperationSequence& sequence, Trees const& trees, char const* operation,
                     OperationNumbers numbers, FramePool* frames = nullptr)
        : comm_(comm), sequence_(sequence), name_(operation), number_(numbers.operation) {
        if (state_of(comm).multi_node) net_.emplace(comm, trees, operation, numbers, &suspension_, frames);
        else
            shm_.emplace(sequence.area, trees, sequence.rank, number_, comm, operation,
                         state_of(comm).localities.data(), &suspension_, frames);
    }

    Suspension const& suspension() const { return suspension_; }
    char const* name() const { return name_; }

    /// Prepares the same operation for another run, with other numbers.
    void restart(OperationNumbers numbers) {
        number_ = numbers.operation;
        net_ ? net_->restart(numbers) : shm_->restart(number_);
    }

    /// Begins the coroutine that make(environment) returns and runs it until it suspends or ends.
    template <class Make>
    void begin(Make make) {
        if (shm_) task_.emplace(make(*shm_));
        else task_.emplace(make(*net_)), ++sequence_.active;
        task_->resume();
    }
    /// Resumes the coroutine after the event for which it waits has occurred.
    void resume() { suspension_.coroutine.resume(); }
    /// True if the event for which it waits will never occur because a member has failed.
    bool peer_failed() const { return shm_ && !draining_ && sequence_.area.failed(number_); }
    /// Must only be called if peer_failed(). Ends this operation with that member's failure.
    void end_by_peer_failure();

    bool ended() const { return task_->done() || task_->error(); }
    /// The error that ended it; null: none.
    std::exception_ptr const& error() const { return task_->error(); }
    /// Must only be called after an error has ended the operation. Returns true if no member needs memory of this rank
    /// any more. Until then it must be called again whenever the event for which the operation waits has occurred.
    bool drain();
    /// Returns its channel and its other resources.
    void end() {
        if (!shm_) return void(--sequence_.active);
        shm_->end();
        if (draining_) [[unlikely]]
            draining_ = false, shm_->frames().release();
        else sequence_.end(number_);
    }

private:
    Comm const& comm_;
    OperationSequence& sequence_;
    char const* name_;
    std::uint64_t number_;
    Suspension suspension_;
    std::optional<ShmEnv> shm_;   ///< on one node
    std::optional<NetEnv> net_;   ///< on several nodes
    std::optional<Task> task_;
    bool draining_ = false;   ///< failed and returned its channel, while members may still be in the operation
    int drain_member_ = 0;    ///< the lowest member that is not known to have left it
};

}   // namespace tutti::coll
