// SPDX-License-Identifier: BSD-3-Clause
// Runs a schedule: a large message is cut into fragments of whole elements, several of them under way at once, each
// at its own step. Whichever step of whichever fragment can be made is made; only when there is none does the rank
// wait, for what the oldest fragment needs. A message that fits into the slot is one fragment and stays there.
// Cheetah (Gorentla Venkata and others, CLUSTER 2013), sections III.C (the engine) and VI (fragments).
//
// Copies: what a rank shows others is copied into shared memory once, what it gets from above is copied out once.
//
// Flags: the fragments pass a step in their order. That delays none of them: what a step needs for fragment f + 1 is
// made by peers that take f first as well, so it never comes before what it needs for f. Therefore one counter does
// for each pair: `sent` counts fragments shown, `taken` fragments read; two ranks share one team, in which each shows
// the other one buffer at most. In the slot the cell's stamp says which of the shown buffers are there (buffer + 1:
// they are filled in ascending order), and no buffer is used twice.
//
// Buffers: fragment f uses copy f mod in_flight of a buffer. A step makes fragment f only when fragment f − in_flight
// has passed all steps of this rank and all readers of the step's buffer have taken it.
//
// Why it ends: let f be the oldest fragment that some rank has not finished. Whoever has not finished f waits for
// nothing but f. Copies used by f − in_flight are free, since everybody has finished that one. The steps of f on all
// ranks have no cycle (up the trees, through the exchange, down the trees), so one of them can be made, and the rank
// that has to make it does so.
#pragma once

#include <vector>

#include "coll/blocks/reduce/reducer.hpp"
#include "coll/blocks/schedule/schedule.hpp"
#include "coll/env/env.hpp"

namespace tutti::coll {

/// What is moved: where a rank's operand lies and where its result goes; `reducer` where there is something to combine.
struct ScheduleData {
    ConstBuffer operand{};
    Buffer result{};
    Reducer* reducer = nullptr;
    std::size_t element = 1;   ///< fragments are cut between elements
};

template <class Env>
class ScheduleRun {
public:
    /// `bytes`, `fragment`, `in_flight` and `most_buffers`, which bounds schedule.buffers(), are the same at all ranks.
    ScheduleRun(Env& env, Schedule& schedule, ScheduleData const& data, std::size_t bytes, std::size_t fragment,
                std::size_t in_flight, int most_buffers)
        : env_(env), schedule_(schedule), data_(data), bytes_(bytes), in_flight_(std::max<std::size_t>(1, in_flight)) {
        data_.element = std::max<std::size_t>(1, data_.element);   // of an empty datatype
        std::size_t const shown = static_cast<std::size_t>(schedule.shown());
        stride_ = rounded(bytes, sizeof(std::uint64_t));
        if (shown * stride_ > Cell::inline_bytes) stride_ = rounded(bytes, cache_line);
        in_slot_ = shown * stride_ <= env.slot_bytes();
        fragment_ = bytes;
        if (!in_slot_) cut(std::max(data_.element, fragment), static_cast<std::size_t>(most_buffers) + 1);
        else in_flight_ = 1;
        fragments_ = !schedule.moves_data() ? 1 : bytes == 0 ? 0 : (bytes + fragment_ - 1) / fragment_;
        std::size_t const copies = static_cast<std::size_t>(most_buffers) * in_flight_ + 1;
        if (fragments_ > 0 && schedule.moves_data()) env.reserve_staging(copies * stride_);
    }

    FramePool& frames() { return env_.frames(); }

    Task run() {
        if (!in_slot_) env_.add_staging();
        while (oldest() < fragments_) {
            if (advance()) continue;
            Missing const m = missing_for_oldest();
            if (m.peer < 0) continue;   // it has come since
            if (in_slot_) co_await env_.until(m.peer, m.count);
            else if (m.is_input) co_await env_.until_sent(m.peer, m.count);
            else co_await env_.until_taken(m.peer, m.count);
        }
        if (in_slot_) co_return;
        for (Step const& step : schedule_.steps())
            for (int reader : schedule_.readers(step)) co_await env_.until_taken(reader, fragments_);
    }

private:
    /// What a step waits for: a peer's counter.
    struct Missing {
        int peer = -1;
        bool is_input = false;
        std::uint64_t count = 0;
    };

    static std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

    /// Fragments of so many bytes, or of as many as the staging memory holds in all buffers.
    void cut(std::size_t fragment, std::size_t buffers) {
        fragments_ = (bytes_ + fragment - 1) / fragment;
        in_flight_ = std::min<std::size_t>(in_flight_, fragments_);
        std::size_t const room = env_.staging_bytes() / (buffers * in_flight_) / cache_line * cache_line;
        fragment_ = std::max(data_.element, std::min({fragment, room, bytes_}) / data_.element * data_.element);
        stride_ = rounded(fragment_, cache_line);
    }

    std::uint64_t oldest() const {
        std::uint64_t least = fragments_;
        for (Step const& step : schedule_.steps()) least = std::min(least, step.done);
        return least;
    }

    /// Makes what can be made, later steps first: that ends the oldest fragments. False: nothing could be.
    bool advance() {
        std::span<Step> const steps = schedule_.steps();
        std::uint64_t const limit = std::min<std::uint64_t>(fragments_, oldest() + in_flight_);
        bool moved = false;
        for (std::size_t i = steps.size(); i-- > 0;) {
            while (steps[i].done < limit && in_turn(i) && missing(steps[i]).peer < 0) {
                make(steps[i], steps[i].done);
                ++steps[i].done;
                moved = true;
            }
        }
        return moved;
    }

    /// Have the steps before it made the fragment that is next for step i?
    bool in_turn(std::size_t i) const {
        std::span<Step const> const steps = schedule_.steps();
        for (std::size_t j = 0; steps[i].joins && j < i; ++j)
            if (steps[j].done <= steps[i].done) return false;
        return true;
    }

    Missing missing(Step const& step) const {
        std::uint64_t const f = step.done;
        for (int peer : schedule_.inputs(step)) {
            std::uint64_t const count = in_slot_ ? static_cast<std::uint64_t>(step.from) + 1 : f + 1;
            if ((in_slot_ ? env_.published(peer) : env_.sent_by(peer)) < count) return {peer, true, count};
        }
        if (in_slot_ || f < in_flight_) return {};
        for (int peer : schedule_.readers(step))
            if (env_.taken_by(peer) < f - in_flight_ + 1) return {peer, false, f - in_flight_ + 1};
        return {};
    }

    /// Of the steps that the oldest fragment has not passed, what the first one whose turn it is waits for.
    Missing missing_for_oldest() const {
        std::span<Step const> const steps = schedule_.steps();
        std::uint64_t const f = oldest();
        std::size_t i = 0;
        while (steps[i].done != f || !in_turn(i)) ++i;
        return missing(steps[i]);
    }

    std::byte* buffer(std::byte* memory, int index, std::uint64_t f) const {
        return memory + (static_cast<std::size_t>(index) * in_flight_ + f % in_flight_) * stride_;
    }
    std::byte* own(int index, std::uint64_t f) const {
        bool const shown = in_slot_ && index < schedule_.shown();
        return buffer(shown ? env_.slot(shown_bytes()) : env_.staging(), index, f);
    }
    std::byte const* of(int peer, int index, std::uint64_t f) const {
        // buffer() only computes: what it is given to read it gives back to read.
        std::byte* memory = in_slot_ ? const_cast<std::byte*>(env_.slot(peer, shown_bytes())) : env_.staging(peer);
        return buffer(memory, index, f);
    }
    /// Behind all buffers: room to pack an operand, and for a result before it is unpacked.
    std::byte* scratch() const { return buffer(env_.staging(), schedule_.buffers(), 0); }
    std::size_t shown_bytes() const { return static_cast<std::size_t>(schedule_.shown()) * stride_; }

    /// What the operators read, packed: where it lies if it lies in one piece.
    std::byte const* own_operand(std::size_t at, std::size_t n) {
        if (data_.operand.type->dense(data_.operand.count)) return first_byte(data_.operand) + at;
        env_.load(scratch(), data_.operand, at, n);
        return scratch();
    }

    /// Step `step` of fragment f, for which everything is there: readers are told first.
    void make(Step const& step, std::uint64_t f) {
        std::size_t const at = f * fragment_, n = std::min(fragment_, bytes_ - at);
        std::byte const* const made = schedule_.moves_data() ? outcome(step, f, at, n) : nullptr;
        if (in_slot_ && step.readers > 0) env_.publish(static_cast<std::uint64_t>(step.to) + 1);
        if (!in_slot_)
            for (int reader : schedule_.readers(step)) env_.sent(reader, f + 1);
        if (step.final && !(data_.result.type->dense(data_.result.count) && made == first_byte(data_.result) + at))
            env_.store(data_.result, at, made, n);
        if (!in_slot_)
            for (int peer : schedule_.inputs(step)) env_.taken(peer, f + 1);
    }

    /// Where the n bytes that come of a step lie.
    std::byte const* outcome(Step const& step, std::uint64_t f, std::size_t at, std::size_t n) {
        if (step.inputs == 0) {
            if (step.to == Step::none) return own_operand(at, n);
            env_.stage(own(step.to, f), data_.operand, at, n);
            return own(step.to, f);
        }
        if (step.own == Step::none) {
            std::byte const* const from = of(schedule_.inputs(step)[0], step.from, f);
            if (step.to != Step::none) env_.copy(own(step.to, f), from, n, 0);
            return from;
        }
        operands_.clear();
        for (int peer : schedule_.inputs(step)) operands_.push_back(of(peer, step.from, f));
        operands_.insert(operands_.begin() + step.own_place,
                         step.own == Step::operand ? own_operand(at, n) : own(step.own, f));
        bool const straight = data_.result.type->dense(data_.result.count);
        std::byte* const out = step.to != Step::none ? own(step.to, f)
                               : straight            ? first_byte(data_.result) + at
                                                     : scratch();
        data_.reducer->combine(operands_.data(), static_cast<int>(operands_.size()), out, n / data_.element);
        return out;
    }

    Env& env_;
    Schedule& schedule_;
    ScheduleData data_;
    std::size_t bytes_, in_flight_, fragment_ = 0, stride_ = 0;
    bool in_slot_ = false;
    std::uint64_t fragments_ = 0;
    std::vector<void const*> operands_;
};

}   // namespace tutti::coll
