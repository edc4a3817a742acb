// SPDX-License-Identifier: BSD-3-Clause
// The request of a nonblocking or persistent collective. It takes its number when it is issued, so all members agree on
// it; it begins when its channel is free, and is advanced by the progress engine or by a rank that waits for it. A
// large operation runs in fragments, each an operation of its own with its own number, several of them in flight
// (coll/call/running_operation.hpp).
//
// A persistent request is set up once: the algorithm, its arguments and fragments, its operation sequence, its
// environments, and the memory of its coroutines, whose frames are constructed anew in that memory at each start. A
// start takes numbers, chooses nothing, and requests no memory from the system except what an algorithm allocates while
// it runs (staging memory comes from the process's pool). An operation that completes within its start is never added
// to the progress engine.
#pragma once

#include "coll/call/running_operation.hpp"
#include "p2p/check/operation_buffers.hpp"
#include "runtime/objects/request.hpp"

namespace tutti::coll {

class CollectiveRequest : public Request {
public:
    ~CollectiveRequest() override;

    void start() override;
    /// Collective. Must be called before the first start. From then on, the starts of this request need not be in the
    /// same order as other calls at all members. (If there is no memory for this, which all members find out together,
    /// they must be.) Its coroutines get memory of their own, which the first start allocates and later starts reuse.
    void make_persistent();
    /// --check: sets the program's buffers that every start uses. Must be called before the first start.
    void watch_buffers(std::unique_ptr<p2p::OperationBuffers> buffers) {
        buffers_ = std::move(buffers);
        needs_finalize = true;
    }
    /// Returns how often its coroutines had to allocate memory from the system: the number after the last start equals
    /// that after the first. 0 if they use the process's pool.
    std::size_t frame_allocations() const { return own_frames_ ? own_frames_->allocations() : 0; }
    void advance() override { make_progress(); }
    void finalize() override;
    void describe(BlockedCall& blocked) const override;
    /// Adds the ranks whose actions can advance the operation now. Returns false if they are not known.
    bool add_peers(std::vector<RankRange>& peers) const;

    // Requests are created by every call, so their memory is pooled per process.
    static void* operator new(std::size_t bytes, Process& process) { return process.frames.get(bytes); }
    static void operator delete(void* memory) { FramePool::put(memory); }
    static void operator delete(void* memory, Process&) { FramePool::put(memory); }

protected:
    /// `fragments` operations, of which at most `window` are in flight at the same time.
    CollectiveRequest(Comm& on, unsigned fragments, unsigned window);

    /// Creates the running operation of a fragment at index `at` of the window and begins it; its number is
    /// first() + fragment. An exception thrown here means that the running operation has not begun.
    virtual RunningOperation& begin(unsigned at, unsigned fragment) = 0;
    /// Called when the fragment at that index has ended.
    virtual void on_fragment_ended(unsigned at) = 0;
    /// Called when all fragments have ended.
    virtual void on_finished() {}
    /// Called when a start has taken its numbers. Only called between nodes, where the operations on the node take
    /// numbers, too.
    virtual void on_numbered() {}

    std::uint64_t first() const { return first_; }
    OperationSequence& sequence() const { return *sequence_; }
    /// The pool of a persistent request; otherwise null.
    FramePool* frames() const { return own_frames_.get(); }
    /// The communicator on which it runs: the user's, or a private one with the same members.
    Comm const& run_comm() const { return own_comm_ ? *own_comm_ : *comm; }
    unsigned const fragments_, window_;
    bool is_user_call_ = false;   ///< the program's call, not part of another call

private:
    friend class Progress;

    void use_own_sequence();
    p2p::Checks* checks() const;

    bool make_progress();
    bool may_begin_next();
    void begin_next();
    void end_fragment(unsigned at);
    void set_error(std::exception_ptr const& error);
    void enqueue();
    void dequeue();
    void end();
    void complete_operation();

    static constexpr unsigned max_in_flight = 4;

    OperationSequence* sequence_;   ///< the communicator's, or its own
    std::unique_ptr<OperationSequence> own_sequence_;
    Ref<Comm> own_comm_;   ///< on several nodes, its own sequence is that of a private communicator
    std::unique_ptr<FramePool> own_frames_;
    std::unique_ptr<p2p::OperationBuffers> buffers_;   ///< null: not watched

    std::uint64_t first_ = 0;          ///< number of the first fragment
    unsigned begun_ = 0, ended_ = 0;   ///< counts of fragments
    RunningOperation* running_[max_in_flight] = {};
    bool is_queued_ = false, in_progress_ = false;
    CollectiveRequest *previous_ = nullptr, *next_ = nullptr;   ///< in the progress engine
    CollectiveRequest* next_queued_ = nullptr;                  ///< in the communicator's queue
};

}   // namespace tutti::coll
