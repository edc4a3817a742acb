// SPDX-License-Identifier: BSD-3-Clause
// Alltoall of small equal parts by Bruck's index algorithm: a part that has to go d places travels by the binary digits
// of d, together with all others that have the same digit. First and last each rank turns its parts round.
// ⌈log2 p⌉ steps of about p/2 parts each. Bytes per rank: about ½·n·p·log2 p sent, packed before and placed after.
// Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997 (index); Thakur, Rabenseifner, Gropp, IJHPCA 2005.

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/block_row.hpp"
#include "coll/blocks/messages/linear.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll::algorithms::alltoall {
namespace {

/// The parts of a rank, part d having d places to go, and what travels in one step.
template <class Env>
class Turned {
public:
    Turned(Env& env, std::size_t each)
        : env_(env), each_(each), ranks_(static_cast<std::size_t>(env.size())), parts_(env.frames(), ranks_ * each),
          out_(env.frames(), ranks_ * each) {}

    std::byte* part(std::size_t distance) { return parts_.get() + distance * each_; }
    /// Packs the parts whose distance has this digit.
    MessagePart pack(std::size_t digit) {
        travelling_.clear();
        for (std::size_t d = digit; d < ranks_; ++d)
            if (d & digit) travelling_.push_back(d);
        for (std::size_t i = 0; i < travelling_.size(); ++i)
            env_.copy(out_.get() + i * each_, part(travelling_[i]), each_, 0);
        std::size_t const bytes = travelling_.size() * each_;
        return {packed_buffer(out_.get(), bytes), 0, bytes};
    }
    /// Puts what comes in where what has gone out was.
    void place(std::byte const* from, std::size_t at, std::size_t n) {
        for (std::size_t end = at + n; at < end;) {
            std::size_t const within = at % each_, length = std::min(each_ - within, end - at);
            env_.copy(part(travelling_[at / each_]) + within, from, length, 0);
            from += length;
            at += length;
        }
    }

private:
    Env& env_;
    std::size_t each_, ranks_;
    PooledBytes parts_, out_;
    std::vector<std::size_t> travelling_;   ///< their distances
};

}   // namespace

template <class Env>
Task bruck(Env& env, AlltoallArgs const& a) {
    if (a.each == 0) co_return;
    Messages<Env> m(env);
    Truncation truncation;
    int const size = env.size(), rank = env.rank();
    Turned<Env> turned(env, a.each);
    for (int d = 0; d < size; ++d)
        env.load(turned.part(static_cast<std::size_t>(d)), outgoing(a, (rank + d) % size), 0, a.each);
    for (int digit = 1; digit < size; digit *= 2) {
        MessagePart const out = turned.pack(static_cast<std::size_t>(digit));
        int const to = (rank + digit) % size, from = (rank - digit + size) % size;
        co_await m.exchange(to, out, from, out.bytes,
                            [&](std::byte const* data, std::size_t at, std::size_t n) { turned.place(data, at, n); });
        truncation.compare(from, m.received(from), out.bytes);
    }
    co_await m.close();
    for (int d = 0; d < size; ++d)   // what has come d places is from rank − d
        env.store(a.receive[(rank - d + size) % size], 0, turned.part(static_cast<std::size_t>(d)), a.each);
    truncation.check(env);
}

extern constinit const Algorithm<AlltoallArgs> bruck_algorithm = {
    "bruck",
    "parts travel by the binary digits of how far they have to go",
    Family::baseline,
    "Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 1997",
    requires_equal_parts | requires_room,
    {},
    TUTTI_RUNS_ANYWHERE(bruck)};

}   // namespace tutti::coll::algorithms::alltoall
