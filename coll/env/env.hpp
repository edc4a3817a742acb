// SPDX-License-Identifier: BSD-3-Clause
// The seam: what an algorithm may do. An algorithm is a coroutine template over an environment and does nothing but
// through it, so one text runs between the processes of a node (shm_env.hpp) and between the threads of a test. What is
// made of messages alone (messages.hpp) runs between nodes, too, in an environment that has nothing of what is here but
// ranks, trees and counting (net_env.hpp).
//
// The rules of use:
//  - Every flag has one writer: publish, ready, ack, sent, taken and tell write this rank's own, `hand` one beside its
//    reader that nobody else writes (but `claim`, which all may raise); until_… wait for others'. Steps of one
//    operation count up from 1; what was written before is visible to whoever has seen the step.
//  - A slot holds slot_bytes() bytes per rank and operation and is free again without anybody's doing (see area.hpp).
//  - Staging memory and exposed buffers belong to this rank for one operation: an algorithm that uses them returns only
//    when every reader has said (ack, taken) that it has read.
//  - Bytes of its own that it lets peers read lie in PooledBytes: see "When memory runs out" in README.md.
//  - No awaiting inside a condition or an argument list; co_await stands alone or on the right of one assignment.
//  - Every byte moved is counted: by load, store, stage, copy, fetch, put, PeerBuffer and Reducer; who moves bytes in
//    another way says so by count. Each slot(peer), staging(peer), fetch, put, get counts as one message from or to it.
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstring>
#include <span>

#include "coll/env/area.hpp"
#include "coll/env/arguments.hpp"
#include "coll/env/peer_buffer.hpp"
#include "runtime/memory/segment.hpp"
#include "runtime/wait/task.hpp"
#include "topo/hierarchy/hierarchy.hpp"

namespace tutti::coll {

/// Copies that are mostly a handful of bytes: one word without a call.
inline void copy_bytes(void* to, void const* from, std::size_t n) {
    if (n == 8) std::memcpy(to, from, 8);
    else if (n == 4) std::memcpy(to, from, 4);
    else if (n != 0) std::memcpy(to, from, n);
}

/// How the ranks of a communicator are grouped.
struct Trees {
    explicit Trees(topo::Hierarchy levels)
        : hierarchy(std::move(levels)), one_team(topo::Hierarchy::build(hierarchy.size(), {})) {}
    topo::Hierarchy hierarchy, one_team;
};

/// As the peer that is waited for: any of several may do what has to come.
inline constexpr int anybody = -1;

/// What both environments of one node share. `Memory` provides: Awaiter until(word, value, peer), stored(word) (after
/// every publication), expose/fetch/staging, frames(), traffic(), locality(peer).
template <class Memory>
class Environment : public Memory {
public:
    template <class... A>
    Environment(Area const& area, Trees const& trees, int rank, std::uint64_t op, A&&... rest)
        : Memory(std::forward<A>(rest)...), area_(area), trees_(trees), rank_(rank), op_(op),
          mine_(&area.channel(rank, op)) {}

    /// The next operation of the same kind, for what is done again and again.
    void restart(std::uint64_t op) {
        op_ = op;
        mine_ = &area_.channel(rank_, op);
    }

    int rank() const { return rank_; }
    int size() const { return area_.members(); }
    /// Are there more ranks on the node than cores for them? The same at every rank.
    bool crowded() const { return Memory::crowded(); }
    /// Has a member said that it could not go on with this operation? Who then waits in vain need not wait any more.
    bool failed() const { return area_.failed(op_); }
    int failed_member() const { return area_.failed_member(op_); }
    /// The levels of the machine (or those that the user named), and one team of all ranks in their order.
    topo::Hierarchy const& hierarchy() const { return trees_.hierarchy; }
    topo::Hierarchy const& one_team() const { return trees_.one_team; }

    // --- Small messages: one slot per rank and operation -------------------------------------------------------------
    std::size_t slot_bytes() const { return area_.slot_bytes(); }
    /// Where this rank writes `bytes` bytes before it publishes; up to 56 lie on the flag's own line, up to 512 beside
    /// those of other members. Who reads names the same size.
    std::byte* slot(std::size_t bytes) const {
        return bytes <= Cell::inline_bytes ? mine_->cell.payload : area_.slot(rank_, op_, bytes);
    }
    /// Where `peer` wrote so many bytes; valid after until(peer, …).
    std::byte const* slot(int peer, std::size_t bytes) {
        count_message(peer);
        return peek(peer, bytes);
    }
    /// The same if `peer` has published this step and no other one, else null.
    std::byte const* slot_at(int peer, std::uint64_t step, std::size_t bytes) {
        Channel const& there = channel(peer);
        if (there.cell.stamp.load(std::memory_order_acquire) != stamp(op_, step)) [[unlikely]]
            return nullptr;
        count_message(peer);
        return bytes <= Cell::inline_bytes ? there.cell.payload : area_.slot(peer, op_, bytes);
    }
    /// Where the slots of all ranks for so many bytes lie, at equal distances; no message.
    struct SlotRow {
        std::byte* first;
        std::size_t distance;
        std::byte* operator[](int peer) const { return first + static_cast<std::size_t>(peer) * distance; }
    };
    SlotRow slots(std::size_t bytes) const {
        if (bytes <= Cell::inline_bytes) return {channel(0).cell.payload, area_.member_distance()};
        return {area_.slot(0, op_, bytes), area_.slot_distance(bytes)};
    }
    /// The same without a message: for what tells about data and is none.
    std::byte const* peek(int peer, std::size_t bytes) const { return slot_of(peer, bytes); }
    /// A peer's slot to combine into, where the algorithm has several ranks write one slot; no message.
    std::byte* slot_of(int peer, std::size_t bytes) const {
        return bytes <= Cell::inline_bytes ? channel(peer).cell.payload : area_.slot(peer, op_, bytes);
    }
    void publish(std::uint64_t step = 1) { store({mine_->cell.stamp, op_}, step); }
    /// After the last publish of a rank that does not wait for its readers: they find its slot nearer to them.
    void leave(std::size_t bytes) {
        share_soon(&mine_->cell, sizeof(Cell));
        if (bytes > Cell::inline_bytes) share_soon(area_.slot(rank_, op_, bytes), bytes);
    }
    auto until(int peer, std::uint64_t step = 1) { return until({channel(peer).cell.stamp, op_}, step, peer); }
    /// The step that `peer` has published in this operation (0: none yet); it may say what lies in the slot.
    std::uint64_t published(int peer) const { return step_of({channel(peer).cell.stamp, op_}); }

    // --- Counters of a level: how far this rank's data is ready, how far it has read others' -------------------------
    void ready(int level, std::uint64_t step) { store(area_.ready(rank_, op_, level), step); }
    auto until_ready(int peer, int level, std::uint64_t step) {
        return until(area_.ready(peer, op_, level), step, peer);
    }
    /// The step that `peer` is ready for (0: none yet).
    std::uint64_t ready_of(int peer, int level) const { return step_of(area_.ready(peer, op_, level)); }
    void ack(int level, std::uint64_t step) { store(area_.ack(rank_, op_, level), step); }
    auto until_ack(int peer, int level, std::uint64_t step) { return until(area_.ack(peer, op_, level), step, peer); }
    /// The step that `peer` has acknowledged in this operation (0: none yet).
    std::uint64_t acked(int peer, int level) const { return step_of(area_.ack(peer, op_, level)); }

    // --- Counters of a pair: what I have laid out for a peer, what I have taken from it ------------------------------
    void sent(int peer, std::uint64_t step) { store(area_.sent(rank_, op_, peer), step); }
    auto until_sent(int peer, std::uint64_t step) { return until(area_.sent(peer, op_, rank_), step, peer); }
    std::uint64_t sent_by(int peer) const { return step_of(area_.sent(peer, op_, rank_)); }
    void taken(int peer, std::uint64_t step) { store(area_.taken(rank_, op_, peer), step); }
    auto until_taken(int peer, std::uint64_t step) { return until(area_.taken(peer, op_, rank_), step, peer); }
    std::uint64_t taken_by(int peer) const { return step_of(area_.taken(peer, op_, rank_)); }

    // --- A word for each reader: a leader's flag in other layouts than one word that all of a team read --------------
    /// Word `k` of this rank, 0 … size − 1, eight on a line; they are those of `sent`: who uses both keeps them apart.
    void tell(int k, std::uint64_t step) { store(area_.sent(rank_, op_, k), step); }
    auto until_told(int peer, int k, std::uint64_t step) { return until(area_.sent(peer, op_, k), step, peer); }
    std::uint64_t told_by(int peer, int k) const { return step_of(area_.sent(peer, op_, k)); }
    /// A word beside the reader, on a line of its own. In one operation one rank alone may write it. Its writer in the
    /// next operation on this channel starts when this one is `done`, so the word has one writer at a time and only
    /// grows, as if it had been one rank all along.
    void hand(int peer, std::uint64_t step) { store(area_.handed(peer, op_), step); }
    auto until_handed(int by, std::uint64_t step) { return until(area_.handed(rank_, op_), step, by); }
    std::uint64_t handed() const { return step_of(area_.handed(rank_, op_)); }

    // --- Work that whoever comes first does, in operations that suspend ----------------------------------------------
    /// Does this operation suspend where a blocking call would wait? The same at all its ranks.
    bool suspends() const { return Memory::suspends(); }
    /// What follows is not done by who starts such an operation but by who waits for it, or tests it.
    auto later() { return Memory::later(); }
    /// Piece k, 0 … 47, of the work that lies at `owner`: true for one rank alone, which then does it. Which are taken
    /// stands in the word of `hand`, which here all may raise: operations that use both keep them apart.
    bool claim(int owner, int k) {
        Area::Word const word = area_.handed(owner, op_);
        std::uint64_t const none = stamp(word.op, 0), piece = std::uint64_t{1} << k;
        for (std::uint64_t old = word.value.load(std::memory_order_relaxed);;) {
            std::uint64_t const taken = has_come(old, none) ? old - none : 0;
            if (taken & piece) return false;
            if (word.value.compare_exchange_weak(old, none + (taken | piece), std::memory_order_acq_rel)) break;
        }
        Memory::stored(word.value);
        return true;
    }
    /// Until all of the first `n` pieces at `owner` are taken, by whomever.
    auto until_claimed(int owner, int n) {
        return until(area_.handed(owner, op_), (std::uint64_t{1} << n) - 1, anybody);
    }

    // --- Large messages ----------------------------------------------------------------------------------------------
    /// The best way for peers to bytes of this rank; what the system refuses later, fetch and put say.
    AccessPath way(void const* address, std::size_t bytes) const { return Memory::way(address, bytes); }
    /// Shows a buffer to the peers (before publish): they get at it by fetch or reach if the way is not staged.
    AccessPath expose(void const* address, std::size_t bytes) {
        mine_->exposure = {reinterpret_cast<std::uint64_t>(address), Memory::staging_offset(), bytes,
                           Exposure::one_piece, way(address, bytes)};
        return mine_->exposure.way;
    }
    /// The same for a buffer of any layout. With gaps it is AccessPath::load_store if peers can load and store there
    /// and its datatype can be written into `room` bytes of staging memory from `at` on; otherwise staged.
    AccessPath expose(ConstBuffer const& b, std::size_t at, std::size_t room) {
        if (b.type->dense(b.count)) return expose(first_byte(b), b.bytes());
        expose_staged();
        if (can_load(b) && write_layout(*b.type, at, room) != 0)
            mine_->exposure = {reinterpret_cast<std::uint64_t>(b.address), mine_->exposure.staging, b.bytes(), at,
                               AccessPath::load_store};
        return mine_->exposure.way;
    }
    /// Can peers load and store all that a buffer with gaps touches?
    bool can_load(ConstBuffer const& b) const {
        AddressRange const range = AddressRange::of(b.address, b.count, *b.type);
        return way(reinterpret_cast<void const*>(range.first), range.bytes) == AccessPath::load_store;
    }
    /// Writes a datatype down in `room` bytes of staging memory from `at` on; returns how many it takes, 0: too many.
    std::size_t write_layout(Datatype const& type, std::size_t at, std::size_t room) {
        constexpr std::size_t word = sizeof(std::int64_t);
        return word * flatten(type, {reinterpret_cast<std::int64_t*>(staging() + at), room / word});
    }
    /// Shows staging memory only: the data does not lie in one piece.
    AccessPath expose_staged() {
        mine_->exposure = {0, Memory::staging_offset(), 0, Exposure::one_piece, AccessPath::staged};
        return AccessPath::staged;
    }
    /// Shows what peers load from and what they store to, by load and store alone: there is no staging memory yet.
    void expose_both(std::span<std::byte const> in, std::span<std::byte const> out) {
        AccessPath worst = AccessPath::load_store;
        for (auto shown : {in, out})
            if (!shown.empty()) worst = std::max(worst, way(shown.data(), shown.size()));
        mine_->exposure.address = reinterpret_cast<std::uint64_t>(in.data());
        mine_->exposure.result = reinterpret_cast<std::uint64_t>(out.data());
        mine_->exposure.way = worst;
    }
    /// Shows staging memory and leaves alone what else is shown, which peers may be reading.
    void add_staging() { mine_->exposure.staging = Memory::staging_offset(); }
    /// What `peer` shows; valid after until(peer, …).
    Exposure const& exposure(int peer) const { return channel(peer).exposure; }
    /// Where this rank can load and store bytes of a peer's own memory; null when it cannot. Never null when both the
    /// peer and this rank have called something of theirs AccessPath::load_store in this operation, and the peer this
    /// address.
    std::byte* reach(int peer, std::uint64_t address, std::size_t bytes) { return Memory::reach(peer, address, bytes); }
    /// A copy between memories that this rank can load and store; `working_set` as in Copier::copy.
    void copy(void* to, void const* from, std::size_t bytes, std::size_t working_set) {
        count(bytes, bytes);
        Memory::copier().copy(to, from, bytes, working_set);
    }
    /// Will such a copy go past the cache?
    bool streams(std::size_t working_set) const { return Memory::copier().streams(working_set); }
    /// Should a reduction write past the cache what is not for this rank? See Copier::outgrows_core.
    bool outgrows_core(std::size_t bytes) const { return Memory::copier().outgrows_core(bytes); }
    /// What `peer` shows, if this rank can load and store there; valid after until(peer, …).
    PeerBuffer<Environment> buffer_of(int peer) {
        Exposure const& e = exposure(peer);
        if (e.way == AccessPath::staged) return {};
        if (e.layout == Exposure::one_piece) return {*this, peer, e.address, e.bytes};
        return {*this, peer, e.address, e.bytes, staging_of(peer) + e.layout};
    }
    /// Copies from a peer's own memory in one copy. False when the system does not allow it (any more): the bytes must
    /// then come through the peer's staging memory.
    bool fetch(int peer, std::uint64_t address, void* to, std::size_t bytes) {
        bool const done = Memory::fetch(peer, address, to, bytes);
        if (done) count(bytes, bytes), count_message(peer);
        return done;
    }
    /// The other direction, with the same rules: the peer must have shown the address in this operation.
    bool put(int peer, std::uint64_t address, void const* from, std::size_t bytes) {
        bool const done = Memory::put(peer, address, from, bytes);
        if (done) count(bytes, bytes), count_message(peer);
        return done;
    }
    /// This rank's staging memory, staging_bytes() long, and a peer's after until(peer, …) if it exposed anything.
    std::byte* staging() { return Memory::staging(); }
    std::byte* staging(int peer) {
        count_message(peer);
        return staging_of(peer);
    }
    /// The same without a message.
    std::byte* staging_of(int peer) { return Memory::staging_at(channel(peer).exposure.staging); }

    // --- Counting ----------------------------------------------------------------------------------------------------
    Traffic& traffic() { return Memory::traffic(); }
    void count(std::size_t loaded, std::size_t stored) {
        traffic().loaded.add(loaded);
        traffic().stored.add(stored);
    }
    void count_message(int peer) {
        if (peer != rank_) traffic().messages[static_cast<int>(Memory::locality(peer))].add(1);
    }

    // --- Data in the user's layout -----------------------------------------------------------------------------------
    /// Packs (buffer, count) into `to`, or copies it when it lies in one piece.
    void load(void* to, ConstBuffer const& from, std::size_t position, std::size_t bytes) {
        if (bytes == 0) return;
        count(bytes, bytes);
        if (from.type->dense(from.count))
            copy_bytes(to, static_cast<std::byte const*>(from.address) + from.type->true_lb() + position, bytes);
        else from.type->pack(from.address, from.count, position, to, bytes);
    }
    /// The same into this rank's staging memory, for peers; counted.
    void stage(void* to, ConstBuffer const& from, std::size_t position, std::size_t bytes) {
        load(to, from, position, bytes);
        Memory::count_staged(bytes);
    }
    void store(Buffer const& to, std::size_t position, void const* from, std::size_t bytes) {
        if (bytes == 0) return;
        count(bytes, bytes);
        if (to.type->dense(to.count))
            copy_bytes(static_cast<std::byte*>(to.address) + to.type->true_lb() + position, from, bytes);
        else to.type->unpack(to.address, to.count, position, from, bytes);
    }

private:
    Channel& channel(int peer) const { return area_.channel(peer, op_); }
    void store(Area::Word word, std::uint64_t step) {
        word.value.store(stamp(word.op, step), std::memory_order_release);
        Memory::stored(word.value);
    }
    auto until(Area::Word word, std::uint64_t step, int peer) {
        return Memory::until(word.value, stamp(word.op, step), peer);
    }
    std::uint64_t step_of(Area::Word word) const {
        std::uint64_t const step = word.value.load(std::memory_order_acquire) - stamp(word.op, 0);
        return step <= last_step ? step : 0;
    }

    Area const& area_;
    Trees const& trees_;
    int const rank_;
    std::uint64_t op_;
    Channel* mine_;
};

}   // namespace tutti::coll
