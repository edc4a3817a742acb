// SPDX-License-Identifier: BSD-3-Clause
// XHC's broadcast, by itself and as the last step of its allreduce: every rank pulls chunks from its leader's memory as
// the leader's counter of bytes ready allows, counts up its own for its own teams, and acknowledges at the end; chunks
// have the size of the level on which they are pulled. A leader's memory is where its user has it, or, below a
// threshold and where peers cannot get there, memory of its own into which it copies: its slot, or a ring.
//
// Counters: the leader's flag, in any layout: bytes ready; taken[leader]: what its member has read. A position of the
// ring is written again when all members have taken what lay there. When the system refuses single copy in mid-run,
// the member says in taken[leader] from where on it lacks data, its leader, once it has everything, lays that out in
// its ring and says so in taken[member].
//
// Why a leader waits for room without harm: its members pull what it has announced, whatever else they wait for, and a
// chunk never exceeds half of a ring, so a full ring holds a chunk that each of them can take.
// XHC (Katevenis, Ploumidis, Marazakis), section IV.A (Fig. 5) and IV.C.
#pragma once

#include "coll/blocks/trees/leader_flag.hpp"
#include "coll/env/env.hpp"
#include "coll/env/parameter.hpp"

namespace tutti::coll {

/// Through what memory of a leader its teams pull.
enum class Through { user, slot, ring };

template <class Env>
class PulledBroadcast {
public:
    struct Setup {
        Buffer target;
        std::size_t bytes;
        Through through;          ///< where this rank's teams find the data
        std::size_t chunk;        ///< bytes pulled at a time, whole units of steps
        std::size_t ring;         ///< bytes of everybody's ring, at the start of the staging memory; whole units, too
        std::size_t bounce = 0;   ///< where in the staging memory there is room for a chunk
        bool results = false;   ///< of a reduction: all go through the same memory (`user`: what they show as result),
                                ///< and what the root announces is there already
    };

    PulledBroadcast(Env& env, LeaderFlag<Env>& flag, ByteSteps const& steps, Setup const& setup)
        : env_(env), flag_(flag), steps_(steps), s_(setup) {}

    std::size_t got() const { return got_; }
    bool complete() const { return got_ == s_.bytes; }
    /// Can a chunk be pulled without waiting for the leader?
    bool available() const { return !complete() && flag_.seen() >= steps_.of(piece_end()); }

    FramePool& frames() { return env_.frames(); }
    /// The root of a broadcast: everything is there.
    Task serve() {
        while (!complete()) {
            std::size_t const end = s_.through == Through::ring ? piece_end() : s_.bytes;
            co_await room(end);
            lay_out(end);
            advance(end);
        }
    }
    /// The root of a reduction: the result is there up to `end`.
    void announce(std::size_t end) { advance(end); }

    /// Pulls one chunk, of it only what lies before `limit`.
    Task pull(std::size_t limit = ~std::size_t{0}) {
        std::size_t const end = std::min(piece_end(), limit);
        co_await flag_.until(steps_.of(end));
        if (!met_) meet();
        co_await room(end);
        if (!try_pull(end)) {
            refused_ = true;
            env_.taken(flag_.parent(), steps_.of(got_));
            co_await env_.until_taken(flag_.parent(), steps_.of(got_));
            take_from(env_.staging(flag_.parent()), end);
        }
        if (theirs_ == Through::ring && !refused_) env_.taken(flag_.parent(), steps_.of(end));
    }

    /// Pulls the rest, acknowledges, and waits until all members have done so.
    Task finish() {
        while (!complete()) co_await pull();
        if (flag_.parent() >= 0) env_.taken(flag_.parent(), last_step);
        for (int child : flag_.children()) co_await acknowledged(child);
    }

    /// Waits until the ring has room up to `end`: all members have taken what lay there.
    Task room(std::size_t end) {
        if (s_.through != Through::ring || end <= s_.ring) co_return;
        for (int child : flag_.children()) co_await env_.until_taken(child, steps_.of(end - s_.ring));
    }

private:
    /// Where the next chunk ends; none passes the end of a ring.
    std::size_t piece_end() const { return std::min({s_.bytes, got_ + s_.chunk, (got_ / s_.ring + 1) * s_.ring}); }
    void advance(std::size_t end) {
        got_ = end;
        if (flag_.led() > 0) flag_.announce(steps_.of(end));
    }
    std::size_t working_set() const { return s_.bytes * static_cast<std::size_t>(env_.size()); }
    /// This rank's own memory for its teams; null when they pull where the user has it, or when there is no team.
    std::byte* own() {
        if (s_.through == Through::user || flag_.led() == 0) return nullptr;
        return s_.through == Through::slot ? env_.slot(s_.bytes) + got_ : env_.staging() + got_ % s_.ring;
    }
    void lay_out(std::size_t end) {
        if (std::byte* to = own()) env_.stage(to, s_.target, got_, end - got_);
    }

    void meet() {
        met_ = true;
        int const parent = flag_.parent();
        Exposure const& e = env_.exposure(parent);
        if (s_.results || s_.through == Through::slot) theirs_ = s_.through;
        else theirs_ = e.way == AccessPath::staged ? Through::ring : Through::user;
        if (theirs_ != Through::user) return;
        if (s_.results) source_ = {env_, parent, e.result, s_.bytes};
        else source_ = env_.buffer_of(parent);
    }

    /// Takes [got, end) from where the leader has it; false when the system refuses.
    bool try_pull(std::size_t end) {
        int const parent = flag_.parent();
        if (theirs_ == Through::slot) return take_from(env_.slot(parent, s_.bytes) + got_, end), true;
        if (theirs_ == Through::ring) return take_from(env_.staging(parent) + got_ % s_.ring, end), true;
        if (source_) source_.get(s_.target, got_, end - got_, working_set());
        else if (refused_ || !fetch(end)) return false;
        lay_out(end);
        advance(end);
        return true;
    }
    /// From memory that this rank can load: first on to its own teams, then to its user.
    void take_from(std::byte const* from, std::size_t end) {
        std::size_t const at = got_, n = end - at;
        bool const passed = own() != nullptr;
        if (passed) {
            env_.copy(own(), from, n, 0);
            advance(end);
        }
        env_.store(s_.target, at, from, n);
        if (!passed) advance(end);
    }
    bool fetch(std::size_t end) {
        int const parent = flag_.parent();
        Exposure const& e = env_.exposure(parent);
        if (e.layout != Exposure::one_piece) return false;
        std::span<std::byte> bounce;
        if (!s_.target.type->dense(s_.target.count)) bounce = {env_.staging() + s_.bounce, s_.chunk};
        std::size_t at = got_;
        return fetch_packed(env_, parent, e.address, s_.target, at, end, bounce);
    }

    /// Waits until a member has read everything, laying out what it asks for meanwhile.
    Task acknowledged(int child) {
        if (s_.through != Through::user) co_await env_.until_taken(child, last_step);
        for (std::uint64_t seen = 0; env_.taken_by(child) != last_step;) {
            co_await env_.until_taken(child, seen + 1);
            seen = env_.taken_by(child);
            if (seen == last_step) break;
            std::size_t const at = steps_.position(seen);
            env_.stage(env_.staging(), s_.target, at, std::min(s_.ring, s_.bytes - at));
            env_.taken(child, seen);
        }
    }

    Env& env_;
    LeaderFlag<Env>& flag_;
    ByteSteps const& steps_;
    Setup s_;
    std::size_t got_ = 0;
    bool met_ = false;       ///< what the leader shows has been looked at
    bool refused_ = false;   ///< single copy has failed: the leader lays the rest out on demand
    Through theirs_ = Through::user;
    PeerBuffer<Env> source_;   ///< the leader's buffer, where this rank can load
};

inline constexpr Parameter chunk_parameter = {"chunk", 65536, "bytes that are passed on at a time on each level",
                                              ParameterKind::per_level};
inline constexpr Parameter cico_parameter = {
    "cico", 1024, "bytes up to which data is copied in and out of memory that is shared anyway"};

}   // namespace tutti::coll
