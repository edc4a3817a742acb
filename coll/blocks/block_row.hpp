// SPDX-License-Identifier: BSD-3-Clause
// Rows of blocks, one block per rank, and two allgathers of them by messages: around a ring, and by
// recursive doubling with any number of ranks.
#pragma once

#include <bit>
#include <vector>

#include "coll/blocks/messages.hpp"
#include "coll/blocks/movement.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll {

/// Returns private packed bytes as a buffer.
inline Buffer packed_buffer(std::byte* data, std::size_t bytes) {
    return {data, static_cast<std::int64_t>(bytes), packed_part(data, bytes).buffer.type};
}

/// One buffer whose packed bytes [at[i], at[i + 1]) are block i.
struct BlockRow {
    Buffer buffer;
    std::vector<std::size_t> offsets;
    std::size_t working_set;   ///< as in Copier::copy

    std::size_t bytes(int first, int end) const {
        return offsets[static_cast<std::size_t>(end)] - offsets[static_cast<std::size_t>(first)];
    }
    std::size_t start(int block) const { return offsets[static_cast<std::size_t>(block)]; }
    /// Blocks first … end − 1 as a message.
    MessagePart part(int first, int end) const { return {buffer, start(first), bytes(first, end)}; }
};

/// Sets `row` to the parts as one buffer. Returns false unless they are adjacent in rank order and have one
/// type.
inline bool merge_adjacent_parts(Parts const& parts, int size, Buffer& row) {
    row = parts[0];
    std::int64_t count = 0;
    bool found = false;
    for (int i = 0; i < size; ++i) {
        Buffer const part = parts[i];
        if (part.count == 0) continue;
        auto* const base = static_cast<std::byte*>(part.address) - count * part.type->extent();
        if (found && (base != row.address || part.type != row.type)) return false;
        row = {base, 0, part.type};
        found = true;
        count += part.count;
    }
    row.count = count;
    return true;
}

/// The result of an allgather as a row: the user's own buffer, or packed memory that unpack() distributes to the parts.
template <class Env>
class GatheredRow {
public:
    GatheredRow(Env& env, AllgatherArgs const& a, Truncation& truncation) : env_(env), a_(a) {
        int const size = env.size(), rank = env.rank();
        std::size_t total = 0;
        for (int i = 0; i < size; ++i) {
            row.offsets.push_back(total);
            total += a.parts[i].bytes();
        }
        row.offsets.push_back(total);
        row.working_set = total * static_cast<std::size_t>(size + 1);
        if (!a.is_in_place) deliver_own(env, a.parts[rank], a.mine, row.working_set, truncation);
        if (merge_adjacent_parts(a.parts, size, row.buffer)) return;
        packed_ = PooledBytes(env.frames(), total);
        row.buffer = packed_buffer(packed_.get(), total);
        env.load(packed_.get() + row.start(rank), a.parts[rank], 0, a.parts[rank].bytes());
    }
    void unpack() {
        for (int i = 0; packed_ && i < env_.size(); ++i)
            if (i != env_.rank()) env_.store(a_.parts[i], 0, packed_.get() + row.start(i), row.bytes(i, i + 1));
    }

    BlockRow row{};

private:
    Env& env_;
    AllgatherArgs const& a_;
    PooledBytes packed_;
};

/// Ring: each rank starts with block (rank − root) mod p. p − 1 steps of one block each: every rank sends the next rank
/// the block that it received last.
template <class Env>
Task ring_allgather(Env& env, Messages<Env>& m, BlockRow const& row, int root, Truncation& truncation) {
    int const size = env.size(), rank = env.rank(), next = (rank + 1) % size, last = (rank + size - 1) % size;
    int out = (rank - root + size) % size;
    for (int step = 1; step < size; ++step) {
        int const in = (out + size - 1) % size;
        std::size_t const bytes = row.bytes(in, in + 1);
        co_await m.exchange(next, row.part(out, out + 1), last, bytes,
                            m.into(row.buffer, row.start(in), row.working_set));
        truncation.compare(last, m.received(last), bytes);
        out = in;
    }
}

/// Recursive doubling: ⌊log2 p⌋ steps among q = 2^⌊log2 p⌋ ranks, each with twice as many blocks as the previous one.
/// If q < p, one rank participates in each of the p − q pairs of vranks (0, 1), (2, 3) …: the odd one first sends it
/// its block and receives the others last, so that the blocks of every rank remain contiguous; two more steps.
template <class Env>
class RecursiveDoubling {
public:
    RecursiveDoubling(Env& env, Messages<Env>& m, BlockRow const& row, int root, Truncation& truncation)
        : env_(env), m_(m), row_(row), root_(root), truncation_(truncation), size_(env.size()),
          participants_(static_cast<int>(std::bit_floor(static_cast<unsigned>(size_)))), pairs_(size_ - participants_),
          vrank_((env.rank() - root + size_) % size_) {}

    FramePool& frames() { return env_.frames(); }
    Task run() {
        bool const paired = vrank_ < 2 * pairs_;
        if (paired && vrank_ % 2 == 1) {
            int const partner = rank_at(vrank_ - 1);
            co_await m_.send(partner, row_.part(vrank_, vrank_ + 1));
            co_await receive(partner, 0, vrank_);
            co_await receive(partner, vrank_ + 1, size_);
            co_return;
        }
        int const partner = rank_at(vrank_ + 1);
        if (paired) co_await receive(partner, vrank_ + 1, vrank_ + 2);
        co_await exchange_blocks();
        if (!paired) co_return;
        co_await m_.send(partner, row_.part(0, vrank_ + 1));
        co_await m_.send(partner, row_.part(vrank_ + 2, size_));
    }

private:
    int rank_at(int vrank) const { return (vrank + root_) % size_; }
    /// The first block of a participant, by its number among them; also its vrank.
    int first_block(int id) const { return id < pairs_ ? 2 * id : id + pairs_; }

    Task receive(int from, int first, int end) {
        std::size_t const bytes = row_.bytes(first, end);
        co_await m_.receive(from, bytes, m_.into(row_.buffer, row_.start(first), row_.working_set));
        truncation_.compare(from, m_.received(from), bytes);
    }

    Task exchange_blocks() {
        int const id = vrank_ < 2 * pairs_ ? vrank_ / 2 : vrank_ - pairs_;
        for (int have = 1; have < participants_; have *= 2) {
            int const mine = id & -have, partner_id = mine ^ have, partner = rank_at(first_block(id ^ have));
            int const in = first_block(partner_id), end = first_block(partner_id + have);
            std::size_t const bytes = row_.bytes(in, end);
            co_await m_.exchange(partner, row_.part(first_block(mine), first_block(mine + have)), partner, bytes,
                                 m_.into(row_.buffer, row_.start(in), row_.working_set));
            truncation_.compare(partner, m_.received(partner), bytes);
        }
    }

    Env& env_;
    Messages<Env>& m_;
    BlockRow const& row_;
    int root_;
    Truncation& truncation_;
    int size_, participants_, pairs_, vrank_;
};

template <class Env>
Task recursive_doubling_allgather(Env& env, AllgatherArgs const& a) {
    Messages<Env> m(env);
    Truncation truncation;
    GatheredRow<Env> gathered(env, a, truncation);
    RecursiveDoubling<Env> doubling(env, m, gathered.row, 0, truncation);
    co_await doubling.run();
    co_await m.close();
    gathered.unpack();
    truncation.check(env);
}

}   // namespace tutti::coll
