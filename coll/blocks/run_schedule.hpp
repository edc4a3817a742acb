// SPDX-License-Identifier: BSD-3-Clause
// Executes a schedule (schedule.hpp). A large message is cut into fragments of whole elements, several of which are in
// flight, each at its own step. The rank executes any step of any fragment whose inputs are available; only if there is
// none does it wait, for the inputs of the oldest fragment. A message that fits into the slot is a single fragment and
// stays there. Cheetah (Gorentla Venkata and others, CLUSTER 2013), sections III.C (the engine) and VI (fragments).
//
// Copies: what a rank exposes is copied into shared memory once; what it receives from above is copied out once.
//
// Flags: the fragments pass a step in order. This delays none of them: the inputs of a step for fragment f + 1 come
// from peers that process f first as well, so they never arrive before the inputs for f. One counter per pair is
// therefore enough: `sent` counts fragments exposed, `consumed` fragments read; two ranks share one team, in which each
// exposes at most one buffer to the other. In the slot, the stamp of the cell shows which of the exposed buffers are
// filled (buffer + 1: they are filled in ascending order), and no buffer is used twice.
//
// Buffers: fragment f uses copy f mod in_flight of a buffer. A step processes fragment f only when fragment f −
// in_flight has passed all steps of this rank and all readers of the step's buffer have consumed it.
//
// Why it terminates: let f be the oldest fragment that some rank has not finished. A rank that has not finished f waits
// only for steps of f. The copies used by f − in_flight are free, since all ranks have finished that fragment. The
// steps of f at all ranks have no cycle (up the trees, through the exchange, down the trees), so one of them is ready,
// and the rank that owns it executes it.
#pragma once

#include <vector>

#include "coll/blocks/reducer.hpp"
#include "coll/blocks/schedule.hpp"
#include "coll/env/env.hpp"

namespace tutti::coll {

/// The data: a rank's operand and where its result goes; `reducer` is set if there is something to combine.
struct ScheduleData {
    ConstBuffer operand{};
    Buffer result{};
    Reducer* reducer = nullptr;
    std::size_t element = 1;   ///< fragments are cut between elements
};

template <class Env>
class ScheduleRun {
public:
    /// `bytes`, `fragment`, `in_flight` and `most_buffers` (an upper bound of schedule.buffers()) must be the same at
    /// all ranks.
    ScheduleRun(Env& env, Schedule& schedule, ScheduleData const& data, std::size_t bytes, std::size_t fragment,
                std::size_t in_flight, int max_buffers)
        : env_(env), schedule_(schedule), data_(data), bytes_(bytes), in_flight_(std::max<std::size_t>(1, in_flight)) {
        data_.element = std::max<std::size_t>(1, data_.element);   // for an empty datatype
        std::size_t const exposed = static_cast<std::size_t>(schedule.exposed_buffers());
        stride_ = rounded(bytes, sizeof(std::uint64_t));
        if (exposed * stride_ > Cell::inline_bytes) stride_ = rounded(bytes, cache_line);
        in_slot_ = exposed * stride_ <= env.slot_bytes();
        fragment_ = bytes;
        if (!in_slot_) cut(std::max(data_.element, fragment), static_cast<std::size_t>(max_buffers) + 1);
        else in_flight_ = 1;
        fragments_ = !schedule.moves_data() ? 1 : bytes == 0 ? 0 : (bytes + fragment_ - 1) / fragment_;
        std::size_t const copies = static_cast<std::size_t>(max_buffers) * in_flight_ + 1;
        if (fragments_ > 0 && schedule.moves_data()) env.reserve_staging(copies * stride_);
    }

    FramePool& frames() { return env_.frames(); }

    Task run() {
        if (!in_slot_) env_.add_staging();
        while (oldest() < fragments_) {
            if (advance()) continue;
            Dependency const m = oldest_unmet_dependency();
            if (m.peer < 0) continue;   // it has arrived in the meantime
            if (in_slot_) co_await env_.until(m.peer, m.count);
            else if (m.is_input) co_await env_.until_sent(m.peer, m.count);
            else co_await env_.until_consumed(m.peer, m.count);
        }
        if (in_slot_) co_return;
        for (Step const& step : schedule_.steps())
            for (int reader : schedule_.readers(step)) co_await env_.until_consumed(reader, fragments_);
    }

private:
    /// What a step waits for: a peer's counter.
    struct Dependency {
        int peer = -1;
        bool is_input = false;
        std::uint64_t count = 0;
    };

    static std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

    /// Cuts into fragments of `fragment` bytes, or fewer if the staging memory does not hold that in all buffers.
    void cut(std::size_t fragment, std::size_t buffers) {
        fragments_ = (bytes_ + fragment - 1) / fragment;
        in_flight_ = std::min<std::size_t>(in_flight_, fragments_);
        std::size_t const room = env_.staging_bytes() / (buffers * in_flight_) / cache_line * cache_line;
        fragment_ = std::max(data_.element, std::min({fragment, room, bytes_}) / data_.element * data_.element);
        stride_ = rounded(fragment_, cache_line);
    }

    std::uint64_t oldest() const {
        std::uint64_t oldest_fragment = fragments_;
        for (Step const& step : schedule_.steps()) oldest_fragment = std::min(oldest_fragment, step.done);
        return oldest_fragment;
    }

    /// Executes all steps that are ready, later steps first, because these finish the oldest fragments. Returns false
    /// if there were none.
    bool advance() {
        std::span<Step> const steps = schedule_.steps();
        std::uint64_t const limit = std::min<std::uint64_t>(fragments_, oldest() + in_flight_);
        bool progressed = false;
        for (std::size_t i = steps.size(); i-- > 0;) {
            while (steps[i].done < limit && is_next(i) && unmet_dependency(steps[i]).peer < 0) {
                execute(steps[i], steps[i].done);
                ++steps[i].done;
                progressed = true;
            }
        }
        return progressed;
    }

    /// True if the steps before step i have processed the fragment that is next for it.
    bool is_next(std::size_t i) const {
        std::span<Step const> const steps = schedule_.steps();
        for (std::size_t j = 0; steps[i].waits_for_earlier && j < i; ++j)
            if (steps[j].done <= steps[i].done) return false;
        return true;
    }

    Dependency unmet_dependency(Step const& step) const {
        std::uint64_t const f = step.done;
        for (int peer : schedule_.inputs(step)) {
            std::uint64_t const count = in_slot_ ? static_cast<std::uint64_t>(step.from) + 1 : f + 1;
            if ((in_slot_ ? env_.published(peer) : env_.sent_by(peer)) < count) return {peer, true, count};
        }
        if (in_slot_ || f < in_flight_) return {};
        for (int peer : schedule_.readers(step))
            if (env_.consumed_by(peer) < f - in_flight_ + 1) return {peer, false, f - in_flight_ + 1};
        return {};
    }

    /// Returns what the oldest fragment waits for, in the first step that is in turn among those that it has not
    /// passed.
    Dependency oldest_unmet_dependency() const {
        std::span<Step const> const steps = schedule_.steps();
        std::uint64_t const f = oldest();
        std::size_t i = 0;
        while (steps[i].done != f || !is_next(i)) ++i;
        return unmet_dependency(steps[i]);
    }

    std::byte* buffer(std::byte* memory, int index, std::uint64_t f) const {
        return memory + (static_cast<std::size_t>(index) * in_flight_ + f % in_flight_) * stride_;
    }
    std::byte* own_buffer(int index, std::uint64_t f) const {
        bool const exposed = in_slot_ && index < schedule_.exposed_buffers();
        return buffer(exposed ? env_.slot(exposed_bytes()) : env_.staging(), index, f);
    }
    std::byte const* peer_buffer(int peer, int index, std::uint64_t f) const {
        // buffer() only computes an address: memory that is read stays read-only.
        std::byte* memory = in_slot_ ? const_cast<std::byte*>(env_.slot(peer, exposed_bytes())) : env_.staging(peer);
        return buffer(memory, index, f);
    }
    /// Space after all buffers, to pack an operand, or for a result before it is unpacked.
    std::byte* scratch() const { return buffer(env_.staging(), schedule_.buffers(), 0); }
    std::size_t exposed_bytes() const { return static_cast<std::size_t>(schedule_.exposed_buffers()) * stride_; }

    /// Returns the packed operand: in place if it is contiguous.
    std::byte const* own_operand(std::size_t at, std::size_t n) {
        if (data_.operand.type->dense(data_.operand.count)) return first_byte(data_.operand) + at;
        env_.load(scratch(), data_.operand, at, n);
        return scratch();
    }

    /// Executes step `step` of fragment f, whose inputs are all available. Signals the readers first.
    void execute(Step const& step, std::uint64_t f) {
        std::size_t const at = f * fragment_, n = std::min(fragment_, bytes_ - at);
        std::byte const* const output = schedule_.moves_data() ? compute_step(step, f, at, n) : nullptr;
        if (in_slot_ && step.readers > 0) env_.publish(static_cast<std::uint64_t>(step.to) + 1);
        if (!in_slot_)
            for (int reader : schedule_.readers(step)) env_.sent(reader, f + 1);
        if (step.final && !(data_.result.type->dense(data_.result.count) && output == first_byte(data_.result) + at))
            env_.store(data_.result, at, output, n);
        if (!in_slot_)
            for (int peer : schedule_.inputs(step)) env_.consumed(peer, f + 1);
    }

    /// Computes the n bytes that a step produces, and returns their address.
    std::byte const* compute_step(Step const& step, std::uint64_t f, std::size_t at, std::size_t n) {
        if (step.inputs == 0) {
            if (step.to == Step::none) return own_operand(at, n);
            env_.stage(own_buffer(step.to, f), data_.operand, at, n);
            return own_buffer(step.to, f);
        }
        if (step.own == Step::none) {
            std::byte const* const from = peer_buffer(schedule_.inputs(step)[0], step.from, f);
            if (step.to != Step::none) env_.copy(own_buffer(step.to, f), from, n, 0);
            return from;
        }
        operands_.clear();
        for (int peer : schedule_.inputs(step)) operands_.push_back(peer_buffer(peer, step.from, f));
        operands_.insert(operands_.begin() + step.own_index,
                         step.own == Step::operand ? own_operand(at, n) : own_buffer(step.own, f));
        bool const direct = data_.result.type->dense(data_.result.count);
        std::byte* const out = step.to != Step::none ? own_buffer(step.to, f)
                               : direct              ? first_byte(data_.result) + at
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
