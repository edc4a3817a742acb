// SPDX-License-Identifier: BSD-3-Clause
// The environment: everything an algorithm may do. An algorithm is a coroutine template over an environment and acts
// only through it, so the same text runs between the processes of a node (shm_env.hpp) and between the threads of a
// test. Algorithms that use messages only (messages.hpp) also run between nodes, in an environment that has only ranks,
// trees and counting of what is declared here (net_env.hpp).
//
// Rules of use:
//  - Every flag has one writer: publish, ready, ack, sent, consumed and signal write this rank's own flags; `notify`
//    writes a flag beside its reader that no other rank writes. The exceptions are counters (count_up) and the words of
//    shared work: many ranks change them. The until_… functions wait for flags of other ranks. Steps of one operation
//    count up from 1. A rank that has seen a step also sees everything written before it.
//  - A slot holds slot_bytes() bytes per rank and operation. It becomes free again without an explicit release (see
//    area.hpp).
//  - Staging memory and exposed buffers belong to this rank for one operation: an algorithm that uses them returns only
//    after every reader has confirmed (ack, consumed) that it has finished reading.
//  - Bytes that an algorithm lets peers read are kept in PooledBytes: see "When memory runs out" in README.md.
//  - Algorithms can run one after the other in one operation, each in a phase of its own (begin_phase).
//  - co_await never appears inside a condition or an argument list; it stands alone or on the right of one assignment.
//  - Every byte moved is counted: by load, store, stage, copy, fetch, put, PeerBuffer and Reducer; code that moves
//    bytes in another way calls count. Each slot(peer), staging(peer), fetch, put and get counts as one message from or
//    to that peer.
#pragma once

#include <algorithm>
#include <coroutine>
#include <span>

#include "coll/env/area.hpp"
#include "coll/env/arguments.hpp"
#include "coll/env/peer_buffer.hpp"
#include "coll/env/plans.hpp"
#include "coll/env/trees.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/memory/shared_copy.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll {

/// The part that both environments within one node share. `Memory` provides the rest, as ShmMemory does: Awaiters
/// until(word, value, peer) and until_any(events, peer), wake_waiters(word) (called after every publication), access to
/// large buffers (access_path, kernel_path, reach, fetch, put, fetch_segments, put_segments, can_load_peers,
/// may_attach, loading_agreed), staging memory, plans(), frames(), traffic(), locality(peer).
template <class Memory>
class Environment : public Memory {
public:
    template <class... A>
    Environment(Area const& area, Trees const& trees, int rank, std::uint64_t op, A&&... rest)
        : Memory(std::forward<A>(rest)...), area_(area), trees_(&trees), rank_(rank), op_(op),
          own_channel_(&area.channel(rank, op)) {}

    /// Continues with the next operation of the same kind; for operations that are repeated.
    void restart(std::uint64_t op) {
        op_ = op;
        phase_ = 0;
        kernel_only_ = false;
        own_channel_ = &area_.channel(rank_, op);
    }

    // --- Phases ------------------------------------------------------------------------------------------------------
    /// Begins another phase of the operation, in which steps count from 1 again; at most max_phases. All ranks must
    /// begin the same phases. A rank must not begin one before every peer has read what the rank exposes and stages in
    /// the present one (after Messages::close(), for example). A peer that is still in an earlier phase reads max_step
    /// from the counters of this rank that have steps in a later one. The words of shared work (below) must be used in
    /// one phase only, and for nothing else.
    void begin_phase() { phase_ += phase_steps, refused_for_ = -1, kernel_only_ = false; }
    /// The same; the next algorithm uses other trees.
    void begin_phase(Trees const& trees) { begin_phase(), trees_ = &trees; }

    // --- Refusal -----------------------------------------------------------------------------------------------------
    /// Called by an algorithm that cannot run as described because peers cannot access the buffers of rank `owner` as
    /// its record requires (requires_loadable_buffers, requires_copyable_buffers). It must then return. All ranks must
    /// refuse the operation, with the same owner, before any of them has moved data, and when all peers have read what
    /// they expose; another algorithm then runs in the next phase.
    void refuse(int owner) { refused_for_ = owner; }
    /// The rank whose buffers are the reason for the refusal in this phase; −1: none.
    int refused_for() const { return refused_for_; }

    int rank() const { return rank_; }
    int size() const { return area_.members(); }
    Area const& area() const { return area_; }
    std::uint64_t number() const { return op_; }   ///< of the operation
    /// True if the node has more ranks than cores for them. The same at every rank.
    bool oversubscribed() const { return Memory::oversubscribed(); }
    /// True if a member reported that it cannot continue this operation. A rank whose wait can no longer succeed then
    /// stops waiting.
    bool failed() const { return area_.failed(op_); }
    /// Returns one of the members that reported a failure; valid only if failed().
    int failed_rank() const { return area_.failed_rank(op_); }
    /// The levels of the machine (or those that the user named), and one team of all ranks in rank order.
    topo::Hierarchy const& hierarchy() const { return trees_->hierarchy; }
    topo::Hierarchy const& one_team() const { return trees_->one_team; }
    /// The ranks by node: by the outermost level of the hierarchy.
    Partition const& nodes() const { return trees_->nodes; }
    Trees const& trees() const { return *trees_; }

    /// Waits for any of several events. `peer`: the rank that causes one of them, for reports.
    auto until_any(Events const& events, int peer) { return Memory::until_any(events, peer); }

    // --- Small messages: one slot per rank and operation -------------------------------------------------------------
    std::size_t slot_bytes() const { return area_.slot_bytes(); }
    /// Where this rank writes `bytes` bytes before it publishes. Up to 56 bytes are stored on the flag's cache line, up
    /// to 512 beside the small slots of other members. The reader must pass the same size.
    std::byte* slot(std::size_t bytes) const {
        return bytes <= Cell::inline_bytes ? own_channel_->cell.payload : area_.slot(rank_, op_, bytes);
    }
    /// Where `peer` wrote `bytes` bytes; valid after until(peer, …).
    std::byte const* slot(int peer, std::size_t bytes) {
        count_message(peer);
        return peek(peer, bytes);
    }
    /// Returns the slot of `peer` if `peer` has published exactly this step, else null.
    std::byte const* slot_at(int peer, std::uint64_t step, std::size_t bytes) {
        Channel const& there = channel(peer);
        if (there.cell.stamp.load(std::memory_order_acquire) != stamp(op_, phase_ + step)) [[unlikely]]
            return nullptr;
        count_message(peer);
        return bytes <= Cell::inline_bytes ? there.cell.payload : area_.slot(peer, op_, bytes);
    }
    /// The slots of all ranks for messages of `bytes` bytes, at equal distances. Counts no message.
    struct SlotRow {
        std::byte* first;
        std::size_t distance;
        std::byte* operator[](int peer) const { return first + static_cast<std::size_t>(peer) * distance; }
    };
    SlotRow slots(std::size_t bytes) const {
        if (bytes <= Cell::inline_bytes) return {channel(0).cell.payload, area_.member_distance()};
        return {area_.slot(0, op_, bytes), area_.slot_distance(bytes)};
    }
    /// Returns the slot of `peer` without counting a message; for control information, which is not data.
    std::byte const* peek(int peer, std::size_t bytes) const { return slot_of(peer, bytes); }
    /// Returns a peer's slot to combine into, where the algorithm lets several ranks write one slot. Counts no message.
    std::byte* slot_of(int peer, std::size_t bytes) const {
        return bytes <= Cell::inline_bytes ? channel(peer).cell.payload : area_.slot(peer, op_, bytes);
    }
    void publish(std::uint64_t step = 1) { store({own_channel_->cell.stamp, op_}, step); }
    /// Called after the last publish of a rank that does not wait for its readers: moves the slot towards the shared
    /// cache, where they read it sooner.
    void demote_slot(std::size_t bytes) {
        demote(&own_channel_->cell, sizeof(Cell));
        if (bytes > Cell::inline_bytes) demote(area_.slot(rank_, op_, bytes), bytes);
    }
    auto until(int peer, std::uint64_t step = 1) { return until({channel(peer).cell.stamp, op_}, step, peer); }
    /// Returns the step that `peer` has published in this operation (0: none yet). The step may encode what the slot
    /// contains.
    std::uint64_t published(int peer) const { return step_of({channel(peer).cell.stamp, op_}); }

    // --- Counters of a level: how far this rank's data is ready, how far it has read its peers' data -----------------
    void ready(int level, std::uint64_t step) { store(area_.ready(rank_, op_, level), step); }
    auto until_ready(int peer, int level, std::uint64_t step) {
        return until(area_.ready(peer, op_, level), step, peer);
    }
    /// Returns the step that `peer` is ready for (0: none yet).
    std::uint64_t ready_of(int peer, int level) const { return step_of(area_.ready(peer, op_, level)); }
    void ack(int level, std::uint64_t step) { store(area_.ack(rank_, op_, level), step); }
    auto until_ack(int peer, int level, std::uint64_t step) { return until(area_.ack(peer, op_, level), step, peer); }
    /// Returns the step that `peer` has acknowledged in this operation (0: none yet).
    std::uint64_t acked(int peer, int level) const { return step_of(area_.ack(peer, op_, level)); }

    // --- Counters of a pair: what this rank has staged for a peer, what it has consumed from it ----------------------
    void sent(int peer, std::uint64_t step) { store(area_.sent(rank_, op_, peer), step); }
    auto until_sent(int peer, std::uint64_t step) { return until(area_.sent(peer, op_, rank_), step, peer); }
    std::uint64_t sent_by(int peer) const { return step_of(area_.sent(peer, op_, rank_)); }
    void consumed(int peer, std::uint64_t step) { store(area_.consumed(rank_, op_, peer), step); }
    auto until_consumed(int peer, std::uint64_t step) { return until(area_.consumed(peer, op_, rank_), step, peer); }
    std::uint64_t consumed_by(int peer) const { return step_of(area_.consumed(peer, op_, rank_)); }

    // --- One word per reader: alternatives to a single leader flag that a whole team reads ---------------------------
    /// Writes word `k` of this rank, 0 … size − 1, eight on a line. These are the words of `sent`: an algorithm that
    /// uses both must use different words.
    void signal(int k, std::uint64_t step) { store(area_.sent(rank_, op_, k), step); }
    auto until_signalled(int peer, int k, std::uint64_t step) { return until(area_.sent(peer, op_, k), step, peer); }
    std::uint64_t signalled_by(int peer, int k) const { return step_of(area_.sent(peer, op_, k)); }
    /// Writes a word beside the reader, on a line of its own. In one operation only one rank may write it. The writer
    /// of the next operation on this channel starts only after this operation is `done`, so the word has one writer at
    /// a time and only grows, as if one rank had written it throughout.
    void notify(int peer, std::uint64_t step) { store(area_.notified(peer, op_), step); }
    auto until_notified(int peer, std::uint64_t step) { return until(area_.notified(rank_, op_), step, peer); }
    std::uint64_t notified() const { return step_of(area_.notified(rank_, op_)); }

    // --- A counter that several ranks write, by atomic addition ------------------------------------------------------
    /// Sets the counter of `owner`, its word of `notify`, to 0, before this rank publishes that others may count it up.
    void begin_count(int owner) { notify(owner, 0); }
    void count_up(int owner, std::uint64_t by) {
        Area::Word const word = area_.notified(owner, op_);
        word.value.fetch_add(by, std::memory_order_release);
        Memory::wake_waiters(word.value);
    }
    auto until_count(int owner, std::uint64_t sum) { return until(area_.notified(owner, op_), sum, any_peer); }

    // --- Work that ranks share, in operations that suspend: a rank that waits works for those that compute, too ------
    /// True if this operation suspends where a blocking call would wait. The same at all ranks of the operation.
    bool suspends() const { return Memory::suspends(); }
    /// When awaited, leaves the rest of the coroutine to the call that waits for or tests the operation, instead of the
    /// call that starts it. Has no effect in a blocking call.
    auto defer() { return Memory::defer(); }
    /// The state of a copy from rank `from` to rank `to` that both of them make: the word of `sent` of that pair, which
    /// the operation must use for nothing else. `to` must have seen that `from` has begun the operation.
    Area::Word copy_of_pair(int from, int to) const { return area_.sent(from, op_, to); }
    /// The state of the work of `owner`, in which every rank may help: the word of `notify`, with the same rules.
    Area::Word work_of(int owner) const { return area_.notified(owner, op_); }
    /// Does the unclaimed pieces of this work by copy(begin, bytes), from one end, until it meets the other side.
    /// Returns true if all pieces are done: no rank accesses the buffers for this work any more.
    template <class Copy>
    bool share(Area::Word work, CopyPieces const& pieces, CopyFrom end, Copy copy) {
        SharedCopy shared(work.value, work.op, pieces.count);
        shared.copy_from(end, [&](std::uint32_t k) {
            if (pieces.size(k) != 0) copy(pieces.begin(k), pieces.size(k));
            return true;
        });
        if (!shared.is_done()) return false;
        Memory::wake_waiters(work.value);
        return true;
    }
    /// Waits until all pieces are done. `peer`: the only other rank that does any, or any_peer.
    auto until_done(Area::Word work, CopyPieces const& pieces, int peer) {
        bool const done = SharedCopy(work.value, work.op, pieces.count).is_done();   // perhaps by this rank
        return Memory::until(work.value, stamp(work.op, SharedCopy::done_count(pieces.count)), done ? any_peer : peer);
    }

    // --- Large messages ----------------------------------------------------------------------------------------------
    /// Restricts this phase to copies by the kernel (CMA): this rank neither loads and stores in its peers' own memory
    /// nor offers that. All ranks must do so, before they expose anything.
    void copy_by_kernel_only() { kernel_only_ = true; }
    /// Returns the best access path for peers to these bytes of this rank; if the system refuses it later, fetch and
    /// put report that.
    AccessPath access_path(void const* address, std::size_t bytes) const {
        return kernel_only_ ? Memory::kernel_path() : Memory::access_path(address, bytes);
    }
    /// Returns AccessPath::cma if peers can let the kernel copy from and to memory of this rank, else `staged`.
    AccessPath kernel_path() const { return Memory::kernel_path(); }
    /// Exposes a buffer to the peers (before publish); they reach it by fetch or reach unless the access path is
    /// `staged`. Returns the access path.
    AccessPath expose(void const* address, std::size_t bytes) {
        own_channel_->exposure = {reinterpret_cast<std::uint64_t>(address), Memory::staging_offset(), bytes,
                                  Exposure::contiguous, access_path(address, bytes)};
        return own_channel_->exposure.access;
    }
    /// What this rank exposes, for the functions of exposing.hpp, which expose buffers with gaps and several buffers.
    Exposure& own_exposure() { return own_channel_->exposure; }
    /// Exposes staging memory only; for data that is not contiguous.
    AccessPath expose_staged() {
        own_channel_->exposure = {0, Memory::staging_offset(), 0, Exposure::contiguous, AccessPath::staged};
        return AccessPath::staged;
    }
    /// False if this rank cannot map its peers' arenas, although it may; if it exposes no memory as AccessPath::attach.
    bool can_load_peers() { return Memory::can_load_peers(); }
    bool may_attach() const { return Memory::may_attach(); }
    /// The first operation in which all members agreed that they can_load_peers() and none may_attach(); 0: none yet.
    std::uint64_t& loading_agreed() { return Memory::loading_agreed(area_); }
    /// Exposes staging memory in addition; other exposed fields, which peers may be reading, remain unchanged.
    void add_staging() { own_channel_->exposure.staging = Memory::staging_offset(); }
    /// Returns what `peer` exposes; valid after until(peer, …).
    Exposure const& exposure(int peer) const { return channel(peer).exposure; }
    /// Returns where this rank can load and store bytes of a peer's own memory, or null. Never null if in this
    /// operation both have determined AccessPath::load_store for memory of their own, the peer for this address.
    std::byte* reach(int peer, std::uint64_t address, std::size_t bytes) {
        return kernel_only_ ? nullptr : Memory::reach(peer, address, bytes);
    }
    /// Copies between memories that this rank can load and store; `working_set` as in Copier::copy.
    void copy(void* to, void const* from, std::size_t bytes, std::size_t working_set,
              CopyMode mode = CopyMode::adaptive) {
        count(bytes, bytes);
        if (Memory::copier().copy(mode, to, from, bytes, working_set)) traffic().past_cache.add(bytes);
    }
    /// True if a copy with this working set bypasses the cache.
    bool streams(std::size_t working_set) const { return Memory::copier().streams(working_set); }
    /// True if a reduction should bypass the cache when it writes results that this rank does not read (see Copier).
    bool exceeds_private_cache(std::size_t bytes) const { return Memory::copier().exceeds_private_cache(bytes); }
    /// Returns the buffer that `peer` exposes if this rank can load and store there, else an empty one; valid after
    /// until(peer, …).
    PeerBuffer<Environment> buffer_of(int peer) {
        Exposure const& e = exposure(peer);
        if (e.access == AccessPath::staged) return {};
        if (e.layout == Exposure::contiguous) return {*this, peer, e.address, e.bytes};
        return {*this, peer, e.address, e.bytes, layout_of(peer, e.layout)};
    }
    /// Returns what `peer` has written at this distance from its exposed staging memory to describe a layout. The
    /// distance may lead to memory that the peer has taken in addition (more_staging).
    std::byte* layout_of(int peer, std::uint64_t distance) {
        return Memory::staging_at(channel(peer).exposure.staging + distance);
    }
    /// Copies from a peer's own memory. Returns false if the system refuses: the bytes must come through its staging.
    bool fetch(int peer, std::uint64_t address, void* to, std::size_t bytes) {
        if (kernel_only_)
            return fetch_segments(peer, ContiguousMemory(address, bytes), ContiguousMemory(to, bytes), 0, bytes);
        return counted(Memory::fetch(peer, address, to, bytes), peer, bytes);
    }
    /// The opposite direction, with the same rules: the peer must have exposed the address in this operation.
    bool put(int peer, std::uint64_t address, void const* from, std::size_t bytes) {
        if (kernel_only_)
            return put_segments(peer, ContiguousMemory(address, bytes), ContiguousMemory(from, bytes), 0, bytes);
        return counted(Memory::put(peer, address, from, bytes), peer, bytes);
    }
    /// Lets the kernel copy packed bytes [position, position + bytes) of a peer's own memory, of any layout, to the
    /// same positions of this rank's memory: as many segments on both sides as the system takes in one call. The
    /// addresses of `there` are the peer's. Returns false if the system refuses; some bytes may have been copied.
    bool fetch_segments(int peer, TypedMemory const& there, TypedMemory const& here, std::size_t position,
                        std::size_t bytes) {
        return counted(Memory::fetch_segments(peer, there, here, position, bytes), peer, bytes);
    }
    /// The opposite direction.
    bool put_segments(int peer, TypedMemory const& there, TypedMemory const& here, std::size_t position,
                      std::size_t bytes) {
        return counted(Memory::put_segments(peer, there, here, position, bytes), peer, bytes);
    }
    /// This rank's staging memory, and a peer's, valid after until(peer, …) if it exposed anything.
    std::byte* staging() { return Memory::staging(); }
    std::byte* staging(int peer) {
        count_message(peer);
        return staging_of(peer);
    }
    /// Takes `bytes` bytes more for this operation, or throws Error(no_mem). Peers need the offset (shared_memory).
    StagingMemory more_staging(std::size_t bytes) { return Memory::more_staging(bytes); }
    std::byte* shared_memory(std::uint64_t offset) { return Memory::staging_at(offset); }
    /// Returns a peer's staging memory without counting a message.
    std::byte* staging_of(int peer) { return Memory::staging_at(channel(peer).exposure.staging); }

    // --- Counting ----------------------------------------------------------------------------------------------------
    Traffic& traffic() { return Memory::traffic(); }
    /// Counts bytes that this rank has loaded and stored.
    void count(std::size_t loaded, std::size_t stored) {
        traffic().loaded.add(loaded);
        traffic().stored.add(stored);
    }
    void count_message(int peer) {
        if (peer != rank_) traffic().messages[static_cast<int>(Memory::locality(peer))].add(1);
    }

    // --- Data in the user's layout -----------------------------------------------------------------------------------
    /// Packs bytes [position, position + bytes) of `from` into `to`, or copies them if the data is contiguous.
    void load(void* to, ConstBuffer const& from, std::size_t position, std::size_t bytes) {
        if (bytes == 0) return;
        count(bytes, bytes);
        if (from.type->dense(from.count))
            copy_bytes(to, static_cast<std::byte const*>(from.address) + from.type->true_lb() + position, bytes);
        else from.type->pack(from.address, from.count, position, to, bytes);
    }
    /// Like load, into this rank's staging memory, for peers; counted as staged.
    void stage(void* to, ConstBuffer const& from, std::size_t position, std::size_t bytes) {
        load(to, from, position, bytes);
        Memory::count_staged(bytes);
    }
    /// The same, for data that peers read next. Contiguous data is copied as `mode` says.
    void stage(void* to, ConstBuffer const& from, std::size_t position, std::size_t bytes, CopyMode mode) {
        from.type->dense(from.count) ? copy(to, first_byte(from) + position, bytes, 0, mode)
                                     : load(to, from, position, bytes);
        Memory::count_staged(bytes);
    }
    /// Unpacks `from` into packed bytes [position, position + bytes) of `to`, or copies it if `to` is contiguous.
    void store(Buffer const& to, std::size_t position, void const* from, std::size_t bytes) {
        if (bytes == 0) return;
        count(bytes, bytes);
        if (to.type->dense(to.count))
            copy_bytes(static_cast<std::byte*>(to.address) + to.type->true_lb() + position, from, bytes);
        else to.type->unpack(to.address, to.count, position, from, bytes);
    }

private:
    Channel& channel(int peer) const { return area_.channel(peer, op_); }
    bool counted(bool done, int peer, std::size_t bytes) {
        if (done) count(bytes, bytes), count_message(peer);
        return done;
    }
    void store(Area::Word word, std::uint64_t step) {
        word.value.store(stamp(word.op, phase_ + step), std::memory_order_release);
        Memory::wake_waiters(word.value);
    }
    auto until(Area::Word word, std::uint64_t step, int peer) {
        return Memory::until(word.value, stamp(word.op, phase_ + step), peer);
    }
    std::uint64_t step_of(Area::Word word) const {
        auto const step =
            static_cast<std::int64_t>(word.value.load(std::memory_order_acquire) - stamp(word.op, phase_));
        return step < 0 ? 0 : std::min(static_cast<std::uint64_t>(step), max_step);
    }

    Area const& area_;
    Trees const* trees_;
    int const rank_;
    std::uint64_t op_, phase_ = 0;   ///< phase_: the steps before those of this phase
    int refused_for_ = -1;
    bool kernel_only_ = false;   ///< see copy_by_kernel_only
    Channel* own_channel_;
};

}   // namespace tutti::coll
