// SPDX-License-Identifier: BSD-3-Clause
// The request of a nonblocking or persistent collective. It is numbered when it is issued (so members agree), begins
// when its channel is free, and is moved on by the progress engine or by whoever waits for it. A large one goes in
// fragments, each an operation of its own with its own number, several in operation (coll/call/fragments.hpp).
//
// A persistent one is made once: what runs, its arguments and fragments, its sequence, its environments and the memory
// of its coroutines, which are laid out in it anew at each start. A start takes numbers, chooses nothing and asks the
// system for no memory, but what an algorithm asks for while it runs (staging memory comes from the process's pool).
// What is over before its start returns is never known to the progress engine.
#pragma once

#include "coll/call/running_operation.hpp"
#include "p2p/check/operation_buffers.hpp"
#include "runtime/objects/request.hpp"

namespace tutti::coll {

class CollectiveRequest : public Request {
public:
    ~CollectiveRequest() override;

    void start() override;
    /// Collective, before the first start. From now on its starts need not come in the order of other calls (where no
    /// memory is left for that, which all members find out together, they must), and its coroutines have memory of
    /// their own, which the first start takes and the others use again.
    void make_persistent();
    /// --check: these are the program's buffers of each start. Before the first start.
    void watch(std::unique_ptr<p2p::OperationBuffers> buffers) {
        buffers_ = std::move(buffers);
        special = true;
    }
    /// How often its coroutines have had to take memory from the system: as often after its last start as after its
    /// first. 0 where they take it from the process's pool.
    std::size_t frames_made() const { return own_frames_ ? own_frames_->made() : 0; }
    void advance() override { move(); }
    void settle() override;
    void tell(Blockage& blockage) const override;
    /// Adds whose acts move it on now; false: nobody can tell.
    bool tell_peers(std::vector<RankRange>& peers) const;

    // Requests come and go with every call: their memory is pooled per process.
    static void* operator new(std::size_t bytes, Process& process) { return process.frames.get(bytes); }
    static void operator delete(void* memory) { FramePool::put(memory); }
    static void operator delete(void* memory, Process&) { FramePool::put(memory); }

protected:
    /// `fragments` operations, of which at most `window` are in operation at once.
    CollectiveRequest(Comm& on, unsigned fragments, unsigned window);

    /// Makes the running operation of a fragment in place `at` of the window and begins it; its number is first() +
    /// fragment. What it throws comes before the running operation has begun.
    virtual RunningOperation& begin(unsigned at, unsigned fragment) = 0;
    /// The fragment at that place is done.
    virtual void leave(unsigned at) = 0;
    /// All of it is done.
    virtual void finished() {}
    /// It has its numbers, of this start; asked only between nodes, where the nodes' parts number, too.
    virtual void numbered() {}

    std::uint64_t first() const { return first_; }
    OperationSequence& sequence() const { return *sequence_; }
    /// Of a persistent request; else null.
    FramePool* frames() const { return own_frames_.get(); }
    /// Where it runs: the communicator, or one of its own with the same members.
    Comm const& home() const { return own_comm_ ? *own_comm_ : *comm; }
    unsigned const fragments_, window_;
    bool is_of_program_ = false;   ///< not a part of another call

private:
    friend class Progress;

    void use_own_sequence();
    p2p::Checks* checks() const;

    bool move();
    bool may_begin_next();
    void begin_next();
    void end_fragment(unsigned at);
    void note(std::exception_ptr const& error);
    void wait_in_line();
    void leave_line();
    void end();
    void over();

    static constexpr unsigned most_in_flight = 4;

    OperationSequence* sequence_;   ///< the communicator's, or its own
    std::unique_ptr<OperationSequence> own_sequence_;
    Ref<Comm> own_comm_;   ///< on several nodes its own sequences are those of a communicator of its own
    std::unique_ptr<FramePool> own_frames_;
    std::unique_ptr<p2p::OperationBuffers> buffers_;   ///< null: not watched

    std::uint64_t first_ = 0;          ///< the number of the first fragment
    unsigned begun_ = 0, ended_ = 0;   ///< fragments
    RunningOperation* running_[most_in_flight] = {};
    bool in_line_ = false, in_progress_ = false;
    CollectiveRequest *previous_ = nullptr, *next_ = nullptr;   ///< in the progress engine
    CollectiveRequest* behind_ = nullptr;                       ///< in the communicator's queue
};

}   // namespace tutti::coll
