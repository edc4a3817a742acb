// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts in which each rank pulls from its parent: PulledBroadcast (XHC), and PulledSlices, which other pulling
// broadcasts share.
//
// PulledBroadcast is XHC's broadcast, also used as the last step of its allreduce. Each rank pulls chunks from its
// leader's memory as far as the leader's counter of available bytes permits, advances its own counter for its own
// teams, and acknowledges at the end. Chunks have the size of the level on which they are pulled. A leader serves its
// teams from the user's buffer or, below a threshold and where peers cannot access that, from memory into which it
// copies: its slot, or a ring.
//
// Counters: the leader's flag, in any layout: bytes available; consumed[leader]: bytes that the member has read. A
// position of the ring is overwritten once all members have consumed it. If the system refuses single copy in mid-run,
// the member stores in consumed[leader] the position from which it lacks data; when the leader has everything, it
// stages that data in its ring and signals this in consumed[member]. With FlagLayout::atomic, members count up a word
// of their leader instead of setting the last step of consumed[leader], and also when they store a request there.
//
// Why a leader may wait for room: its members pull what it has announced, whatever else they wait for, and a chunk
// never exceeds half of a ring, so a full ring contains a chunk that each of them can consume. XHC (Katevenis,
// Ploumidis, Marazakis), section IV.A (Fig. 5) and IV.C.
#pragma once

#include "coll/blocks/tree.hpp"
#include "coll/env/arguments.hpp"
#include "coll/env/exposing.hpp"

namespace tutti::coll {

/// The memory of a leader from which its teams pull.
enum class LeaderMemory { user, slot, ring };

template <class Env>
class PulledBroadcast {
public:
    struct Setup {
        Buffer target;
        std::size_t bytes;
        LeaderMemory memory;      ///< where this rank's teams find the data
        std::size_t chunk;        ///< bytes pulled at a time, in whole units of `steps`
        std::size_t ring;         ///< bytes of each rank's ring, at the start of the staging memory; whole units, too
        std::size_t bounce = 0;   ///< offset in the staging memory of room for a chunk
        bool from_results = false;     ///< for a reduction: `user` memory is the exposed result, and the data that the
                                       ///< root announces is already there
        bool all_have_rings = false;   ///< all leaders use rings, whatever they expose
    };

    PulledBroadcast(Env& env, LeaderFlag<Env>& flag, ByteSteps const& steps, Setup const& setup)
        : env_(env), flag_(flag), steps_(steps), s_(setup), counts_(flag.layout() == FlagLayout::atomic) {
        if (counts_) env_.begin_count(env_.rank());
    }

    std::size_t received() const { return received_; }
    bool complete() const { return received_ == s_.bytes; }
    /// True if a chunk can be pulled without waiting for the leader.
    bool available() const { return !complete() && flag_.seen() >= steps_.step(chunk_end()); }

    FramePool& frames() { return env_.frames(); }
    /// Called by the root of a broadcast, which has all data: makes it available to its teams.
    Task serve() {
        while (!complete()) {
            std::size_t const end = s_.memory == LeaderMemory::ring ? chunk_end() : s_.bytes;
            co_await await_space(end);
            stage(end);
            advance(end);
        }
    }
    /// Called by the root of a reduction: announces that the result is available up to `end`.
    void announce(std::size_t end) { advance(end); }

    /// Pulls one chunk, limited to the bytes before `limit`.
    Task pull(std::size_t limit = ~std::size_t{0}) {
        std::size_t const end = std::min(chunk_end(), limit);
        co_await flag_.until(steps_.step(end));
        if (!exposure_read_) read_exposure();
        co_await await_space(end);
        if (!try_pull(end)) {
            refused_ = true;
            env_.consumed(flag_.parent(), steps_.step(received_));
            if (counts_) env_.count_up(flag_.parent(), 1);
            co_await env_.until_consumed(flag_.parent(), steps_.step(received_));
            copy_from(env_.staging(flag_.parent()), end);
        }
        if (parent_memory_ == LeaderMemory::ring && !refused_) env_.consumed(flag_.parent(), steps_.step(end));
    }

    /// Pulls the rest, acknowledges, and waits until all members have acknowledged.
    Task finish() {
        while (!complete()) co_await pull();
        if (flag_.parent() >= 0 && (!counts_ || refused_)) env_.consumed(flag_.parent(), max_step);
        if (flag_.parent() >= 0 && counts_) env_.count_up(flag_.parent(), acknowledgement);
        if (counts_) {
            co_await serve_until_counted();
            co_return;
        }
        for (int child : flag_.children()) co_await serve_until_acknowledged(child);
    }

    /// Waits until the ring has room up to `end`, that is, all members have consumed the old contents.
    Task await_space(std::size_t end) {
        if (s_.memory != LeaderMemory::ring || end <= s_.ring) co_return;
        for (int child : flag_.children()) co_await env_.until_consumed(child, steps_.step(end - s_.ring));
    }

private:
    static constexpr std::uint64_t acknowledgement = 1 << 30;   ///< more than the number of requests

    /// The end of the next chunk; no chunk crosses the end of a ring.
    std::size_t chunk_end() const {
        return std::min({s_.bytes, received_ + s_.chunk, (received_ / s_.ring + 1) * s_.ring});
    }
    void advance(std::size_t end) {
        received_ = end;
        if (flag_.led_levels() > 0) flag_.announce(steps_.step(end));
    }
    std::size_t working_set() const { return s_.bytes * static_cast<std::size_t>(env_.size()); }
    /// Returns this rank's own memory for its teams; null if they pull from the user's buffer, or if there is no team.
    std::byte* forward_memory() {
        if (s_.memory == LeaderMemory::user || flag_.led_levels() == 0) return nullptr;
        return s_.memory == LeaderMemory::slot ? env_.slot(s_.bytes) + received_ : env_.staging() + received_ % s_.ring;
    }
    void stage(std::size_t end) {
        if (std::byte* to = forward_memory()) env_.stage(to, s_.target, received_, end - received_);
    }

    void read_exposure() {
        exposure_read_ = true;
        int const parent = flag_.parent();
        Exposure const& e = env_.exposure(parent);
        bool const exposed = !s_.all_have_rings && (s_.from_results ? e.result != 0 : e.access != AccessPath::staged);
        if (s_.memory == LeaderMemory::slot) parent_memory_ = LeaderMemory::slot;
        else parent_memory_ = exposed ? LeaderMemory::user : LeaderMemory::ring;
        if (parent_memory_ != LeaderMemory::user) return;
        if (s_.from_results) source_ = {env_, parent, e.result, s_.bytes};
        else source_ = env_.buffer_of(parent);
    }

    /// Copies [got, end) from the leader's memory. Returns false if the system refuses.
    bool try_pull(std::size_t end) {
        int const parent = flag_.parent();
        if (parent_memory_ == LeaderMemory::slot) return copy_from(env_.slot(parent, s_.bytes) + received_, end), true;
        if (parent_memory_ == LeaderMemory::ring)
            return copy_from(env_.staging(parent) + received_ % s_.ring, end), true;
        if (source_) source_.get(s_.target, received_, end - received_, working_set());
        else if (refused_ || !fetch(end)) return false;
        stage(end);
        advance(end);
        return true;
    }
    /// Copies from memory that this rank can load: first for its own teams, then to its user.
    void copy_from(std::byte const* from, std::size_t end) {
        std::size_t const at = received_, n = end - at;
        bool const forwards = forward_memory() != nullptr;
        if (forwards) {
            env_.copy(forward_memory(), from, n, 0);
            advance(end);
        }
        env_.store(s_.target, at, from, n);
        if (!forwards) advance(end);
    }
    bool fetch(std::size_t end) {
        int const parent = flag_.parent();
        Exposure const& e = env_.exposure(parent);
        if (e.layout != Exposure::contiguous) return false;
        std::span<std::byte> bounce;
        if (!s_.target.type->dense(s_.target.count)) bounce = {env_.staging() + s_.bounce, s_.chunk};
        std::size_t at = received_;
        return fetch_packed(env_, parent, e.address, s_.target, at, end, bounce);
    }

    /// Waits until a member has read everything; stages the data that it requests meanwhile.
    Task serve_until_acknowledged(int child) {
        if (s_.memory != LeaderMemory::user) co_await env_.until_consumed(child, max_step);
        for (std::uint64_t seen = 0; env_.consumed_by(child) != max_step;) {
            co_await env_.until_consumed(child, seen + 1);
            seen = env_.consumed_by(child);
            if (seen == max_step) break;
            std::size_t const at = steps_.position(seen);
            env_.stage(env_.staging(), s_.target, at, std::min(s_.ring, s_.bytes - at));
            env_.consumed(child, seen);
        }
    }
    /// The same for all members, which count. Those that the system has refused a copy are served one after the other,
    /// and also acknowledge by their own word.
    Task serve_until_counted() {
        PooledVector<int> const& children = flag_.children();
        for (std::uint64_t seen = 0; seen / acknowledgement < children.size();) {
            co_await env_.until_count(env_.rank(), seen + 1);
            seen = env_.notified();
            if (s_.memory != LeaderMemory::user) continue;
            for (int child : children)
                if (env_.consumed_by(child) != 0) co_await serve_until_acknowledged(child);
        }
    }

    Env& env_;
    LeaderFlag<Env>& flag_;
    ByteSteps const& steps_;
    Setup s_;
    bool const counts_;   ///< members acknowledge by counting
    std::size_t received_ = 0;
    bool exposure_read_ = false;   ///< the leader's exposure has been read
    bool refused_ = false;         ///< single copy has failed: the leader stages the rest on demand
    LeaderMemory parent_memory_ = LeaderMemory::user;
    PeerBuffer<Env> source_;   ///< the leader's buffer, if this rank can load there
};

inline constexpr Parameter chunk_parameter = {"chunk", 65536, "bytes forwarded at a time on each level",
                                              ParameterKind::per_level};
inline constexpr Parameter cico_parameter = {"cico", 1024,
                                             "largest message, in bytes, that is copied in and out of shared memory"};

// PulledSlices: what broadcasts share in which each rank pulls from its parent in a tree. A rank exposes its buffer in
// place. If its children cannot access it, the rank stages it slice by slice, two in flight: staging slice c waits
// until all children have read slice c − 2, and their reading does not wait for ranks below them. A child that the
// system refuses requests slices from its parent, one at a time, and gets them when the parent has everything.
//
// Counters: ready[0]: slices staged (if the buffer is exposed instead, the algorithm defines the meaning); ack[0]:
// slices read or requested, at the end max_step; sent: the requested slice is staged.

template <class Env>
class PulledSlices {
public:
    /// How children copy from buffers with gaps where only the system copies: not, and to their own through memory of
    /// theirs; or both segment by segment.
    enum class Gaps { bounced, segments };

    /// `max_slice`: maximum size of a slice in bytes. It and `gaps` must be the same at all ranks.
    PulledSlices(Env& env, Buffer const& to, LeaderPosition in_tree, std::size_t max_slice, Gaps gaps = Gaps::bounced)
        : position(std::move(in_tree)), data(to), bytes(to.bytes()), slice(std::min(max_slice, quarter_of(env))),
          env_(env), quarter_(quarter_of(env)), gaps_(gaps), dense_(to.type->dense(to.count)) {}
    FramePool& frames() { return env_.frames(); }

    /// The memory that all ranks touch.
    std::size_t working_set() const { return bytes * static_cast<std::size_t>(env_.size()); }
    std::size_t end_of(std::uint64_t k) const { return std::min(bytes, (k + 1) * slice); }

    /// Exposes this rank's buffer. Must be called before it publishes.
    AccessPath expose() {
        return access = gaps_ == Gaps::segments ? expose_segments(env_, data)
                                                : expose_buffer(env_, data, 3 * quarter_, quarter_);
    }
    /// Must be called after the parent has published its exposure.
    void read_parent() {
        Exposure const& e = env_.exposure(position.parent);
        source = env_.buffer_of(position.parent);
        if (e.access == AccessPath::staged) return;
        if (e.layout == Exposure::contiguous) parent_address_ = e.address;
        else if (gaps_ == Gaps::segments)
            parent_segments_.emplace(e.address, e.bytes, env_.layout_of(position.parent, e.layout));
    }

    /// Copies from the parent's buffer up to `end`, by load from the source;
    void load(std::size_t end) {
        source.get(data, received, end - received, working_set());
        received = end;
    }
    /// or by the system. Returns false if that refuses, now or earlier; bytes already copied count.
    bool fetch(std::size_t end) {
        if (parent_segments_) {
            bool const done = env_.fetch_segments(position.parent, parent_segments_->memory, typed_memory(data),
                                                  received, end - received);
            if (done) received = end;
            else parent_segments_.reset();
            return done;
        }
        if (parent_address_ == 0) return false;
        std::span<std::byte> bounce;
        if (gaps_ == Gaps::bounced && !dense_) bounce = {env_.staging() + depth * quarter_, quarter_};
        if (!fetch_packed(env_, position.parent, parent_address_, data, received, end, bounce)) parent_address_ = 0;
        return parent_address_ != 0;
    }

    /// Receives the rest of the current slice through the parent's staging memory; requests it if necessary.
    Task receive_slice() {
        std::uint64_t const k = received / slice;
        bool const staged = env_.exposure(position.parent).access == AccessPath::staged;
        if (staged) {
            co_await env_.until_ready(position.parent, 0, k + 1);
        } else {
            env_.ack(0, k + 1);
            co_await env_.until_sent(position.parent, k + 1);
        }
        env_.store(data, received, env_.staging(position.parent) + k % depth * quarter_ + (received - k * slice),
                   end_of(k) - received);
        if (staged) env_.ack(0, k + 1);
        received = end_of(k);
    }

    /// Stages the slices that have arrived completely, for children that cannot access the buffer.
    Task stage_slices() {
        for (; staged_ * slice < received && received >= end_of(staged_); ++staged_) {
            for (int child : position.children)
                if (staged_ >= depth) co_await env_.until_ack(child, 0, staged_ - depth + 1);
            stage(staged_);
            env_.ready(0, staged_ + 1);
        }
    }

    /// Signals that this rank has everything, and waits until its children have; stages the slices that they request
    /// meanwhile.
    Task finish() {
        if (position.parent >= 0) env_.ack(0, max_step);
        for (int child : position.children) {
            if (access == AccessPath::staged) co_await env_.until_ack(child, 0, max_step);
            for (std::uint64_t seen = 0; env_.acked(child, 0) != max_step;) {
                co_await env_.until_ack(child, 0, seen + 1);
                seen = env_.acked(child, 0);
                if (seen == max_step) break;
                stage(seen - 1);
                env_.sent(child, seen);
            }
        }
    }

    LeaderPosition position;
    Buffer data;
    std::size_t const bytes, slice;
    std::size_t received = 0;                 ///< bytes that have arrived, from the start
    AccessPath access = AccessPath::staged;   ///< access path to this rank's buffer
    PeerBuffer<Env> source;                   ///< the parent's buffer, if this rank can load there

private:
    static std::size_t quarter_of(Env& env) { return env.staging_bytes() / 4 / cache_line * cache_line; }
    static constexpr std::uint64_t depth = 2;   // of four quarters; the others: one to unpack from, one for a layout

    void stage(std::uint64_t k) {
        env_.stage(env_.staging() + k % depth * quarter_, data, k * slice, end_of(k) - k * slice);
    }

    Env& env_;
    std::size_t quarter_;
    Gaps const gaps_;
    bool const dense_;
    std::uint64_t staged_ = 0;
    // The parent's buffer while fetch succeeds: the address of a contiguous one, or 0, and one with gaps.
    std::uint64_t parent_address_ = 0;
    std::optional<RemoteSegments> parent_segments_;
};

}   // namespace tutti::coll
