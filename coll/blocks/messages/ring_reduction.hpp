// SPDX-License-Identifier: BSD-3-Clause
// The reduction of a ring of messages, for reduce_scatter and allreduce: in step j rank r sends its sum of slice r − 1
// − j to rank r + 1, receives that of slice r − 2 − j from rank r − 1, and adds its own operand, in pieces, so that
// what has just been received is still in cache. After p − 1 steps slice r is complete at rank r.
// p − 1 steps; per rank and step one slice received in one copy (two where it must be staged) and one combined.
// Patarasuk and Yuan, JPDC 2009; message by message as in Thakur, Rabenseifner and Gropp, IJHPCA 2005.
#pragma once

#include "coll/blocks/messages/messages.hpp"
#include "coll/blocks/reduce/slices.hpp"
#include "runtime/datatype/builder.hpp"
#include "runtime/wait/pooled.hpp"

namespace tutti::coll {

template <class Env, class Args>
class RingReduction {
public:
    RingReduction(Env& env, Args const& args, Receives receives)
        : env_(env), what_{args, receives}, slices_(args, env.size(), one_round), reducer_(env.traffic(), args),
          messages_(env, slices_.element()), byte_(TypeBuilder::predefined(Basic::byte_)) {
        for (auto& s : sums_) s = PooledBytes(env.frames(), slices_.elements() * slices_.element());
        if (!what_.dense()) packed_.resize(slices_.elements() * slices_.element());
    }

    Slices const& slices() const { return slices_; }
    Messages<Env>& messages() { return messages_; }
    int slice(int back) const { return (env_.rank() + 2 * env_.size() - back) % env_.size(); }
    int right() const { return slice(-1); }
    int left() const { return slice(1); }

    FramePool& frames() { return env_.frames(); }
    /// Slice r into this rank's result.
    Task run() {
        int const steps = env_.size() - 1;
        for (int j = 0; j < steps; ++j) {
            int const coming = slice(2 + j);
            bool const last = j + 1 == steps;
            auto use = [this, coming, j, last](std::byte const* from, std::size_t at, std::size_t n) {
                take(coming, j, last, from, at, n);
            };
            co_await messages_.exchange(right(), outgoing(j), left(), slices_.bytes(coming, 0), use);
        }
        finish();
    }

private:
    static constexpr std::size_t one_round = ~std::size_t{0};

    /// What goes on in step j: the user's own slice, then what has come in the step before.
    MessagePart outgoing(int j) {
        int const slice = this->slice(1 + j);
        std::size_t const n = slices_.bytes(slice, 0);
        if (j == 0) return {operand(what_.args), slices_.position(slice, 0), n};
        return {{sum(j - 1), static_cast<std::int64_t>(n), byte_.get()}, 0, n};
    }
    std::byte* sum(int j) { return sums_[j % 2].get(); }

    void take(int slice, int j, bool last, std::byte const* from, std::size_t at, std::size_t n) {
        constexpr std::size_t piece = 16384;
        std::size_t const element = slices_.element(), most = std::max<std::size_t>(1, piece / element) * element;
        for (std::size_t end = at + n; at < end; at += most) {
            std::size_t const bytes = std::min(most, end - at);
            env_.copy(sum(j) + at, from, bytes, 0);
            from += bytes;
            if (!last || !late()) add_own(slice, j, at, bytes, last);
        }
    }
    /// In place the result may lie where the neighbour is still reading: the last sum waits until it has.
    bool late() const { return !what_.args.in && what_.receives == Receives::own; }
    bool straight() const { return what_.dense() && !what_.overlaps(slices_, env_.rank(), 0); }
    std::byte* my_result() {
        return first_byte(what_.result(env_.rank())) + what_.result_position(slices_, env_.rank(), 0);
    }

    void add_own(int slice, int j, std::size_t at, std::size_t bytes, bool last) {
        void const* own = packed_.data();
        std::size_t const position = slices_.position(slice, 0) + at;
        if (what_.dense()) own = first_byte(operand(what_.args)) + position;
        else env_.load(packed_.data(), operand(what_.args), position, bytes);
        void const* two[] = {own, sum(j) + at};
        reducer_.combine(two, 2, last && straight() ? my_result() + at : sum(j) + at, bytes / slices_.element());
    }

    void finish() {
        int const me = env_.rank(), last = env_.size() - 2;
        std::size_t const n = slices_.bytes(me, 0);
        std::size_t const at = what_.result_position(slices_, me, 0);
        if (last < 0) return env_.size() == 1 ? take_alone(n) : void();
        if (late()) add_own(me, last, 0, n, true);
        if (!straight()) env_.store(what_.result(me), at, sum(last), n);
    }
    /// One rank: its operand is the result.
    void take_alone(std::size_t n) {
        if (!what_.args.in) return;
        env_.load(sum(0), operand(what_.args), 0, n);
        env_.store(what_.result(0), 0, sum(0), n);
    }

    Env& env_;
    Sliced<Args> what_;
    Slices slices_;
    Reducer reducer_;
    Messages<Env> messages_;
    Ref<Datatype> byte_;
    PooledBytes sums_[2];
    std::vector<std::byte> packed_;   ///< of an operand with gaps
};

}   // namespace tutti::coll
