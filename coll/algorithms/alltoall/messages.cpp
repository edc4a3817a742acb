// SPDX-License-Identifier: BSD-3-Clause
// Alltoall by messages, in shared memory and between nodes: bruck, linear, pairwise.
//
// bruck: Bruck's index algorithm for small equal parts. A part that has to move d ranks travels by the binary digits of
// d, together with all other parts that have the same digit. Each rank rotates its parts before the first and after the
// last step. ⌈log2 p⌉ steps of about p/2 parts each. Bytes per rank: about ½·n·p·log2 p sent, packed before and placed
// after.
// Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997 (index); Thakur, Rabenseifner, Gropp, IJHPCA 2005.
#include <bit>

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/block_row.hpp"
#include "coll/blocks/linear.hpp"
#include "runtime/wait/task.hpp"

namespace tutti::coll::algorithms::alltoall {
namespace {

/// The parts of a rank, part d having d ranks to move, and the message of one step.
template <class Env>
class RotatedParts {
public:
    RotatedParts(Env& env, std::size_t each)
        : env_(env), each_(each), ranks_(static_cast<std::size_t>(env.size())), parts_(env.frames(), ranks_ * each),
          out_(env.frames(), ranks_ * each) {}

    std::byte* part(std::size_t distance) { return parts_.get() + distance * each_; }
    /// Packs the parts whose distance has this digit.
    MessagePart pack(std::size_t digit) {
        moving_.clear();
        for (std::size_t d = digit; d < ranks_; ++d)
            if (d & digit) moving_.push_back(d);
        for (std::size_t i = 0; i < moving_.size(); ++i) env_.copy(out_.get() + i * each_, part(moving_[i]), each_, 0);
        std::size_t const bytes = moving_.size() * each_;
        return {packed_buffer(out_.get(), bytes), 0, bytes};
    }
    /// Stores received data in place of the parts that were sent.
    void store(std::byte const* from, std::size_t at, std::size_t n) {
        for (std::size_t end = at + n; at < end;) {
            std::size_t const within = at % each_, length = std::min(each_ - within, end - at);
            env_.copy(part(moving_[at / each_]) + within, from, length, 0);
            from += length;
            at += length;
        }
    }

private:
    Env& env_;
    std::size_t each_, ranks_;
    PooledBytes parts_, out_;
    std::vector<std::size_t> moving_;   ///< their distances
};

}   // namespace

template <class Env>
Task bruck(Env& env, AlltoallArgs const& a) {
    if (a.part_bytes == 0) co_return;
    Messages<Env> m(env);
    Truncation truncation;
    int const size = env.size(), rank = env.rank();
    RotatedParts<Env> rotated(env, a.part_bytes);
    for (int d = 0; d < size; ++d)
        env.load(rotated.part(static_cast<std::size_t>(d)), outgoing(a, (rank + d) % size), 0, a.part_bytes);
    for (int digit = 1; digit < size; digit *= 2) {
        MessagePart const out = rotated.pack(static_cast<std::size_t>(digit));
        int const to = (rank + digit) % size, from = (rank - digit + size) % size;
        co_await m.exchange(to, out, from, out.bytes,
                            [&](std::byte const* data, std::size_t at, std::size_t n) { rotated.store(data, at, n); });
        truncation.compare(from, m.received(from), out.bytes);
    }
    co_await m.close();
    for (int d = 0; d < size; ++d)   // a part that has moved d ranks is from rank − d
        env.store(a.receive[(rank - d + size) % size], 0, rotated.part(static_cast<std::size_t>(d)), a.part_bytes);
    truncation.check(env);
}

extern constinit const Algorithm<AlltoallArgs> bruck_algorithm = {
    "bruck",
    "parts move by the binary digits of their distance",
    Family::baseline,
    "Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 1997",
    requires_equal_parts | requires_bounded_gather,
    {},
    TUTTI_SHM_AND_NET(bruck),
    {"p*(4*p*s + doubling(d, p, n = (floor(p/d/2)*d + max(0, mod(p, 2*d) - d))*s; 4*n + staged(n)))"}};

// linear: every rank sends to all others at the same time and receives from each. One step of p − 1 messages each way.
// Bytes: n per part by single copy, otherwise 2n; always 2n in place.
// Thakur, Rabenseifner, Gropp, IJHPCA 2005, "All-to-All" (medium messages).

template <class Env>
Task linear(Env& env, AlltoallArgs const& a) {
    return linear_alltoall(env, a);
}

extern constinit const Algorithm<AlltoallArgs> linear_algorithm = {
    "linear",
    "every rank exchanges messages with all ranks concurrently",
    Family::baseline,
    "Thakur, Rabenseifner, Gropp, IJHPCA 2005, All-to-All (medium messages)",
    requires_nothing,
    {},
    TUTTI_SHM_AND_NET(linear),
    {"p*(2*p*s + (p - 1)*staged(s))"}};

// pairwise: alltoall(v, w) in p − 1 steps; in step i with rank xor i if p is a power of two, otherwise to rank + i and
// from rank − i. In place, pairs of ranks exchange with each other: in step i those whose numbers add up to i (mod p).
// Bytes: n per part by single copy, otherwise 2n; always 2n in place.
// Thakur, Rabenseifner, Gropp, IJHPCA 2005, "All-to-All" (long messages).

template <class Env>
Task pairwise(Env& env, AlltoallArgs const& a) {
    Messages<Env> m = alltoall_messages(env, a);
    Truncation truncation;
    int const size = env.size(), rank = env.rank();
    std::size_t const part = a.receive[rank].bytes(), all = all_to_all_bytes(part, size);
    bool const power = std::has_single_bit(static_cast<unsigned>(size));
    if (!a.is_in_place) deliver_own(env, a.receive[rank], a.send[rank], all, truncation);
    for (int step = 0; step < size; ++step) {
        int const partner = (step - rank + size) % size;
        int const to = a.is_in_place ? partner : power ? rank ^ step : (rank + step) % size;
        int const from = a.is_in_place ? partner : power ? rank ^ step : (rank - step + size) % size;
        if (to == rank) continue;
        Buffer const out = outgoing(a, to), in = a.receive[from];
        co_await m.exchange(to, {out, 0, out.bytes()}, from, in.bytes(), m.into(in, 0, all));
        truncation.compare(from, m.received(from), in.bytes());
    }
    co_await m.close();
    truncation.check(env);
}

extern constinit const Algorithm<AlltoallArgs> pairwise_algorithm = {
    "pairwise",
    "every rank exchanges with one peer per step, each with a different one",
    Family::baseline,
    "Thakur, Rabenseifner, Gropp, IJHPCA 2005, All-to-All (long messages)",
    requires_nothing,
    {},
    TUTTI_SHM_AND_NET(pairwise),
    {"p*(2*p*s + (p - 1)*staged(s))"}};

}   // namespace tutti::coll::algorithms::alltoall
