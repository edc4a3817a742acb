// SPDX-License-Identifier: BSD-3-Clause
// Executes a schedule (schedule.hpp): the DAG engine. A step whose edges are satisfied is on the progress list. If what
// it needs of other ranks is missing, it moves to the pending list, and the engine continues with other steps. When the
// progress list is empty, the rank waits until any pending step can continue. A message of more than `large` bytes is
// cut into fragments of whole elements, several of which are in flight, each at its own step; a smaller one is a single
// fragment, and stays in the slot if it fits. Cheetah (Gorentla Venkata and others, CLUSTER 2013), sections III.B
// (primitives per mechanism), III.C (the engine) and VI (fragments).
//
// Copies: what a rank exposes is copied into its buffers once; what it receives from above is copied out once.
//
// Order: the fragments pass a step in order. This delays none of them: the inputs of a step for fragment f + 1 come
// from peers that process f first as well, so they never arrive before the inputs for f.
//
// Buffers: fragment f uses copy f mod in_flight of a buffer. A step processes fragment f only when fragment f −
// in_flight has passed all steps of this rank and all readers of the step's buffer have consumed it.
//
// Why it terminates: let f be the oldest fragment that some rank has not finished. A rank that has not finished f waits
// only for steps of f. The copies used by f − in_flight are free, since all ranks have finished that fragment. The
// steps of f at all ranks have no cycle (up the trees, through the exchange, down the trees), so one of them is ready,
// and the rank that owns it executes it.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "coll/blocks/schedule_links.hpp"

namespace tutti::coll {

/// One execution of a schedule. `Links`: SharedMemoryLinks or NodesLinks.
template <class Env, class Links>
class ScheduleRun {
public:
    ScheduleRun(Env& env, Links& links, Schedule const& schedule, ScheduleData const& data,
                FragmentLayout const& layout)
        : env_(env), links_(links), schedule_(schedule), data_(data), layout_(layout), states_(env.frames()),
          progress_(env.frames()), pending_(env.frames()), operands_(env.frames()) {
        states_.resize(schedule.steps().size());
        progress_.reserve(states_.size());
        pending_.reserve(states_.size());
    }

    FramePool& frames() { return env_.frames(); }

    Task run() {
        enlist();
        execute_progress_list();
        while (oldest() < layout_.fragments) {
            auto const can_continue = [this] { return links_.has_failed() || can_resume_any(); };
            co_await env_.until_any(Events::of(can_continue), missing_peer());
            if (links_.has_failed()) links_.throw_failure();
            resume_pending();
            execute_progress_list();
        }
        auto const is_over = [this] { return links_.has_failed() || !slow_reader(); };
        if (Peer const* const reader = slow_reader()) co_await env_.until_any(Events::of(is_over), reader->rank);
        if (links_.has_failed()) links_.throw_failure();
    }

private:
    struct State {
        std::uint64_t done = 0;   ///< fragments that have passed the step
        bool listed = false;      ///< on one of the lists
    };

    Step const& step(int i) const { return schedule_.steps()[static_cast<std::size_t>(i)]; }
    State& state(int i) { return states_[static_cast<std::size_t>(i)]; }
    State const& state(int i) const { return states_[static_cast<std::size_t>(i)]; }
    int steps() const { return static_cast<int>(states_.size()); }

    std::uint64_t oldest() const {
        std::uint64_t oldest_fragment = layout_.fragments;
        for (State const& s : states_) oldest_fragment = std::min(oldest_fragment, s.done);
        return oldest_fragment;
    }

    /// Adds the steps whose edges are satisfied for their next fragment to the progress list, later steps last: these
    /// are executed first, because they finish the oldest fragments.
    void enlist() {
        std::uint64_t const limit = std::min<std::uint64_t>(layout_.fragments, oldest() + layout_.in_flight);
        links_.expect(limit);
        for (int i = 0; i < steps(); ++i) {
            State& s = state(i);
            if (s.listed || s.done >= limit || !is_next(i)) continue;
            s.listed = true;
            progress_.push_back(i);
        }
    }
    bool is_next(int i) const {
        for (int before : schedule_.edges(step(i)))
            if (state(before).done <= state(i).done) return false;
        return true;
    }

    /// Executes the steps on the progress list until it is empty; those that must wait move to the pending list.
    void execute_progress_list() {
        while (!progress_.empty()) {
            int const i = progress_.back();
            progress_.pop_back();
            if (missing_peer(i)) {
                pending_.push_back(i);
                continue;
            }
            execute(step(i), state(i).done);
            ++state(i).done;
            state(i).listed = false;
            enlist();
        }
    }
    bool can_resume_any() const {
        return std::ranges::any_of(pending_, [this](int i) { return !missing_peer(i); });
    }
    /// Moves the pending steps that can continue to the progress list.
    void resume_pending() {
        auto const rest = std::stable_partition(pending_.begin(), pending_.end(),
                                                [this](int i) { return missing_peer(i) != nullptr; });
        progress_.insert(progress_.end(), rest, pending_.end());
        std::ranges::sort(progress_);
        pending_.erase(rest, pending_.end());
    }

    /// Returns a peer for which step i waits with its next fragment; null: it can be executed.
    Peer const* missing_peer(int i) const {
        std::uint64_t const f = state(i).done;
        for (Peer const& peer : schedule_.inputs(step(i)))
            if (!links_.has_arrived(peer, step(i).from, f)) return &peer;
        if (f < layout_.in_flight) return nullptr;
        for (Peer const& peer : schedule_.readers(step(i)))
            if (!links_.has_read(peer, f - layout_.in_flight)) return &peer;
        return nullptr;
    }
    /// Returns a rank for which the oldest fragment waits; any_peer if it has become ready.
    int missing_peer() const {
        std::uint64_t const f = oldest();
        for (int i : pending_)
            if (Peer const* const peer = state(i).done == f ? missing_peer(i) : nullptr) return peer->rank;
        return any_peer;
    }
    /// Returns a reader that has not read all fragments; null: there is none.
    Peer const* slow_reader() const {
        std::uint64_t const last = layout_.fragments, first = last - std::min<std::uint64_t>(last, layout_.in_flight);
        for (Step const& s : schedule_.steps())
            for (Peer const& reader : schedule_.readers(s))
                for (std::uint64_t f = first; f < last; ++f)
                    if (!links_.has_read(reader, f)) return &reader;
        return nullptr;
    }

    /// Returns the packed operand: in place if it is contiguous.
    std::byte const* own_operand(std::size_t at, std::size_t n) {
        if (data_.operand.type->dense(data_.operand.count)) return first_byte(data_.operand) + at;
        env_.load(links_.scratch(), data_.operand, at, n);
        return links_.scratch();
    }

    /// Executes a step for fragment f, whose inputs are all available. Signals the readers first.
    void execute(Step const& step, std::uint64_t f) {
        std::size_t const at = f * layout_.fragment, n = schedule_.moves_data() ? layout_.bytes_of(f) : 0;
        std::byte const* const output = schedule_.moves_data() ? compute_step(step, f, at, n) : nullptr;
        links_.expose(step, schedule_.readers(step), f);
        if (step.final && !(data_.result.type->dense(data_.result.count) && output == first_byte(data_.result) + at))
            env_.store(data_.result, at, output, n);
        for (Peer const& peer : schedule_.inputs(step)) links_.release(peer, f);
    }

    /// Computes the n bytes that a step produces, and returns their address.
    std::byte const* compute_step(Step const& step, std::uint64_t f, std::size_t at, std::size_t n) {
        std::span<Peer const> const inputs = schedule_.inputs(step);
        if (inputs.empty()) {
            if (step.to == Step::none) return own_operand(at, n);
            links_.stage(links_.own(step.to, f), data_.operand, at, n);
            return links_.own(step.to, f);
        }
        if (step.own == Step::none) {
            std::byte const* const from = links_.input(inputs[0], step.from, f);
            if (step.to != Step::none) env_.copy(links_.own(step.to, f), from, n, 0);
            return from;
        }
        operands_.clear();
        for (Peer const& peer : inputs) operands_.push_back(links_.input(peer, step.from, f));
        operands_.insert(operands_.begin() + step.own_index,
                         step.own == Step::operand ? own_operand(at, n) : links_.own(step.own, f));
        bool const direct = data_.result.type->dense(data_.result.count);
        std::byte* const out = step.to != Step::none ? links_.own(step.to, f)
                               : direct              ? first_byte(data_.result) + at
                                                     : links_.scratch();
        data_.reducer->combine(operands_.data(), static_cast<int>(operands_.size()), out, n / data_.element);
        return out;
    }

    Env& env_;
    Links& links_;
    Schedule const& schedule_;
    ScheduleData const data_;
    FragmentLayout const& layout_;
    PooledVector<State> states_;
    PooledVector<int> progress_, pending_;   ///< the lists of section III.C: indices of steps
    PooledVector<void const*> operands_;
};

/// Executes the schedule that make() returns, which is kept for calls of this shape.
template <class Env, class Make>
Task run_schedule(Env& env, Plans::Shape shape, ScheduleData data, ScheduleCut cut, Make make) {
    std::shared_ptr<Schedule const> const schedule = env.plans().template find<Schedule>(shape, make);
    FragmentLayout const layout(*schedule, data, cut);
    if constexpr (std::is_same_v<Env, NetEnv>) {
        std::optional<NodeEnv> node;
        bool const shares =
            std::ranges::any_of(schedule->peers(), [](Peer const& p) { return p.by == Mechanism::shared_memory; });
        if (shares && layout.fragments > 0) {
            std::uint64_t number = 0;
            co_await begin_on_node(env, number);
            node.emplace(env, env.trees(), number);
        }
        NodesLinks links(env, *schedule, layout, node);
        ScheduleRun<Env, NodesLinks> run(env, links, *schedule, data, layout);
        co_await run.run();
    } else {
        SharedMemoryLinks<Env> links(env, *schedule, layout);
        ScheduleRun<Env, SharedMemoryLinks<Env>> run(env, links, *schedule, data, layout);
        co_await run.run();
    }
}

}   // namespace tutti::coll
