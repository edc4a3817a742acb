// SPDX-License-Identifier: BSD-3-Clause
// XHC's reduction (Katevenis, Ploumidis, Marazakis, section IV.B with Fig. 6, and IV.C). On each level the members of a
// team other than its leader share the work by index range; each combines its range of all members' operands and writes
// it to the leader's result, which is the leader's operand on the next level. Chunks have the size of the level; a
// leader counts up what is ready as its team proceeds, so that levels overlap; meanwhile all ranks pull what has
// arrived at the top.
// Memory: below a threshold the slots of all ranks. Above, each rank's own operand and, if it leads a team, its receive
// buffer, if peers can load and store there; otherwise a ring of staging memory. In slots and rings the result replaces
// the operand. The leaders of a reduce have no receive buffer: except with slots, they use a ring. Each rank knows
// which of its buffers peers can access, so ranks need no agreement, once they know that all of them can map arenas
// (peers_can_load). Until then, and where XPMEM may refuse a buffer, they agree on that, in two waves over
// the hierarchy (four if XPMEM must attach a buffer), or use rings.
// Counters: ack[l]: my operand of level l is ready up to here, and my result of that level may be written;
// sent[leader]: my ranges are done; consumed[leader]: I have pulled; the leader's flag: the result is there
// (allreduce), or the team's work is done and its operands are free (reduce). A range has one worker, which reads it in
// all operands before it writes it to the leader, when all members are ready; therefore the result may be an operand
// (in place). Reuse of a ring of R bytes: position x is made ready when x − R is free: its final result has been pulled
// here and by all members (so every operand there has been read) or, in a reduce, the leader has announced it. Let S be
// the sum of the chunks of all levels; R is 4 S, or the whole vector if that is less. Completing a position requires no
// operand more than S after it, so ranks that wait for x − R wait for positions that precede those of all of them. Only
// pulling needs care: a rank may wait at position p for a leader's operand while that leader waits for it to have
// pulled x − R, where x ≤ p + S. Therefore every rank has pulled p − 3 S before it makes p ready or waits for p. A
// leader can provide that data, because it has pulled x − 3 S before it waits for room for x.
#pragma once

#include <vector>

#include "coll/blocks/direct_access.hpp"
#include "coll/blocks/pulled.hpp"

namespace tutti::coll {

template <class Env>
class LeaderReduction {
public:
    /// `root`: the rank that gets the result; −1: all ranks. The parameters are leader_reduction_parameters, in their
    /// order.
    LeaderReduction(Env& env, ReduceArgs const& a, int root)
        : env_(env), tree_(env.hierarchy()), a_(a), root_(root), bytes_(a.bytes()),
          element_(std::max<std::size_t>(1, element_bytes(a))), steps_(bytes_, range_granularity(element_)),
          flag_(env, tree_, root, static_cast<FlagLayout>(a.parameters[3])), reducer_(env.traffic(), a),
          teams_(static_cast<std::size_t>(flag_.level() + 1)) {
        if (bytes_ <= a.parameters[2]) memory_ = bytes_ <= env.slot_bytes() ? LeaderMemory::slot : LeaderMemory::ring;
        std::size_t const whole = (bytes_ + steps_.unit() - 1) / steps_.unit() * steps_.unit();
        std::size_t sum = 0;
        for (int level = 0; level < tree_.levels(); ++level) {
            chunk_.push_back(steps_.chunk(std::min(a.parameters.at(1, level), whole)));
            sum += chunk_.back();
        }
        ring_ = std::min(whole, rings * sum);
        pull_distance_ = ring_ == whole ? whole : (rings - 1) * sum;
        for (int level = 0; level <= flag_.level(); ++level) join(level);
    }

    FramePool& frames() { return env_.frames(); }
    Task run() {
        if (bytes_ == 0) co_return;
        if (env_.size() == 1) {
            if (a_.in) copy_own(env_, a_);
            co_return;
        }
        co_await choose_memory();
        PulledBroadcast<Env> down(env_, flag_, steps_,
                                  {.target = result(a_),
                                   .bytes = bytes_,
                                   .memory = memory_ == LeaderMemory::slot ? LeaderMemory::slot
                                             : result_in_ring_             ? LeaderMemory::ring
                                                                           : LeaderMemory::user,
                                   .chunk = chunk_[index(flag_.level())],
                                   .ring = ring_,
                                   .from_results = true,
                                   .all_have_rings = memory_ == LeaderMemory::ring});
        down_ = &down;
        if (flag_.parent() < 0) co_await advance(flag_.led_levels() - 1, bytes_);
        else co_await work();
        if (root_ < 0) co_await down.finish();
        else if (flag_.parent() >= 0 && memory_ != LeaderMemory::slot) co_await flag_.until(steps_.step(bytes_));
    }

private:
    static constexpr std::size_t rings = 4;   ///< R/S, see above

    /// Where a rank's operand is, or its result.
    struct Member {
        int rank;
        bool in_result = false;      ///< in its receive buffer, if it has no ring
        std::byte* base = nullptr;   ///< null: not known yet
        bool ring = false;
    };
    /// A team of which this rank is a member or the leader.
    struct Level {
        std::vector<Member> members;
        Member result;              ///< the leader's
        int worker = -1;            ///< number among the members that combine; −1: the leader
        std::size_t complete = 0;   ///< its result is there up to here, as far as its leader has seen
    };

    /// The role of a member: its ranges of its topmost team's chunks, and the teams below that it leads.
    Task work() {
        int const level = flag_.level();
        for (std::size_t at = 0; at < bytes_;) {
            std::size_t const end = std::min(bytes_, at + chunk_[index(level)]);
            co_await make_ready(level, end);
            co_await pull_behind(end);
            announce_lower_levels(level);
            co_await combine(level, at, end);
            while (root_ < 0 && down_->available()) co_await down_->pull();
            at = end;
        }
    }

    /// Makes this rank's operand of a level ready up to `to`.
    Task make_ready(int level, std::size_t to) {
        if (level == 0) {
            if (ready_ >= to) co_return;
            if (!uses_ring()) to = bytes_;
            co_await free_ring_space(to);
            if (memory_ == LeaderMemory::slot || operand_in_ring_) stage(to);
            ready_ = to;
            env_.ack(0, steps_.step(to));
            co_return;
        }
        Level& below = teams_[index(level - 1)];
        while (below.complete < to) co_await advance(level - 1, chunk_end(level - 1));
    }

    /// The role of a leader: completes the team's result up to `to`, chunk by chunk.
    Task advance(int level, std::size_t to) {
        Level& team = teams_[index(level)];
        while (team.complete < to) {
            std::size_t const end = chunk_end(level);
            co_await make_ready(level, end);
            co_await pull_behind(end);
            announce_lower_levels(level);
            int const count = workers(team, end - team.complete);
            for (int k = 0; k < count; ++k) co_await env_.until_sent(worker(team, k), steps_.step(end));
            complete_chunk(level, end);
        }
    }

    /// Announces what the teams below have finished to the levels above, without waiting for this level's chunk.
    void announce_lower_levels(int level) {
        for (int below = 0; below < level; ++below) {
            Level& team = teams_[index(below)];
            while (team.complete < bytes_ && finished(below)) complete_chunk(below, chunk_end(below));
        }
    }
    bool finished(int level) {
        Level& team = teams_[index(level)];
        std::size_t const end = chunk_end(level);
        if (level > 0 ? teams_[index(level - 1)].complete < end : ready_ < end) return false;
        for (int k = 0, n = workers(team, end - team.complete); k < n; ++k)
            if (env_.sent_by(worker(team, k)) < steps_.step(end)) return false;
        return true;
    }
    void complete_chunk(int level, std::size_t end) {
        Level& team = teams_[index(level)];
        std::size_t const from = std::exchange(team.complete, end);
        bool const top = level == tree_.levels() - 1;
        if (top && (memory_ == LeaderMemory::slot || result_in_ring_))
            each_piece(from, end,
                       [&](std::size_t x, std::size_t n) { env_.store(result(a_), x, address(team.result, x), n); });
        if (!top) env_.ack(level + 1, steps_.step(end));
        if (root_ < 0 && top) down_->announce(end);
        if (root_ >= 0 && memory_ != LeaderMemory::slot) flag_.announce(level, steps_.step(end));
    }

    /// The role of a member: combines this rank's range of a team's chunk.
    Task combine(int level, std::size_t at, std::size_t end) {
        Level& team = teams_[index(level)];
        std::size_t const each = share(team, end - at);
        std::size_t const first = std::min(end, at + each * static_cast<std::size_t>(team.worker)),
                          last = std::min(end, first + each);
        if (first == last) co_return;
        for (Member const& m : team.members)
            if (m.rank != env_.rank()) co_await env_.until_ack(m.rank, level, steps_.step(end));
        each_piece(first, last, [&](std::size_t x, std::size_t n) { combine_piece(team, x, n); });
        env_.sent(team.result.rank, steps_.step(end));
    }
    void combine_piece(Level& team, std::size_t at, std::size_t n) {
        operands_.clear();
        for (Member& m : team.members) {
            env_.count_message(m.rank);
            operands_.push_back(address(m, at));
        }
        env_.count_message(team.result.rank);
        reducer_.combine(operands_.data(), static_cast<int>(operands_.size()), address(team.result, at), n / element_);
    }

    /// share: bytes of a worker's range, in whole lines and not below the minimum; workers: how many a chunk needs.
    std::size_t share(Level const& team, std::size_t bytes) const {
        std::size_t const all = std::max<std::size_t>(1, team.members.size() - 1), line = range_granularity(element_);
        return (std::max({(bytes + all - 1) / all, a_.parameters[4], line}) + line - 1) / line * line;
    }
    int workers(Level const& team, std::size_t bytes) const {
        if (team.members.size() == 1) return 0;
        std::size_t const each = share(team, bytes);
        return static_cast<int>((bytes + each - 1) / each);
    }
    static int worker(Level const& team, int k) {
        for (Member const& m : team.members)
            if (m.rank != team.result.rank && k-- == 0) return m.rank;
        return -1;
    }

    // --- Where operands and results are ------------------------------------------------------------------------------
    static std::size_t index(int level) { return static_cast<std::size_t>(level); }
    std::size_t chunk_end(int level) const {
        return std::min(bytes_, teams_[index(level)].complete + chunk_[index(level)]);
    }
    void join(int level) {
        topo::Team const team = tree_.team(level, env_.rank(), root_);
        Level& mine = teams_[index(level)];
        for (int rank : team.members) mine.members.push_back({rank, has_led(rank, level)});
        mine.result = {team.leader, true};
        if (!team.is_leader) mine.worker = team.my_index - (team.my_index > team.leader_index ? 1 : 0);
    }
    /// Calls f(x, n) for the pieces of [first, last) that are contiguous in a ring.
    template <class F>
    void each_piece(std::size_t first, std::size_t last, F f) {
        for (std::size_t x = first; x < last;) {
            std::size_t const n = std::min(last - x, ring_ - x % ring_);
            f(x, n);
            x += n;
        }
    }
    /// The rank must have made its operand ready, so that its exposure is there.
    std::byte* address(Member& m, std::size_t x) {
        if (!m.base) locate(m);
        return m.base + (m.ring ? x % ring_ : x);
    }
    void stage(std::size_t to) {
        Member me{env_.rank()};
        each_piece(ready_, to, [&](std::size_t x, std::size_t n) { env_.stage(address(me, x), operand(a_), x, n); });
    }
    static void copy_own(Env& env, ReduceArgs const& a) {
        ConstBuffer const from = operand(a);
        env.count(from.bytes(), from.bytes());
        copy_typed(TypedMemory::of(a.out, a.count, *a.type), TypedMemory::of(from.address, from.count, *from.type), 0,
                   from.bytes());
    }

    /// Waits until no rank needs the previous data in the part of this rank's ring that is used up to `to`.
    Task free_ring_space(std::size_t to) {
        if (!uses_ring() || to <= pull_distance_) co_return;
        if (root_ < 0) {
            co_await pull_behind(to);
            co_await down_->await_space(to);
        } else if (flag_.parent() >= 0 && to > ring_) {
            co_await flag_.until(steps_.step(to - ring_));
        }
    }
    /// Pulls what this rank must have passed on before it waits for operands up to `to`.
    Task pull_behind(std::size_t to) {
        if (root_ >= 0 || memory_ == LeaderMemory::slot || flag_.parent() < 0 || to <= pull_distance_) co_return;
        std::size_t const end = to - pull_distance_;
        while (down_->received() < end) co_await down_->pull(end);
    }
    bool uses_ring() const { return operand_in_ring_ || result_in_ring_; }

    // --- Step 1 of the paper: all ranks expose their buffers ---------------------------------------------------------
    Task choose_memory() {
        if (memory_ == LeaderMemory::slot) co_return;
        std::span<std::byte const> in;
        std::span<std::byte> out;
        if (memory_ == LeaderMemory::user && a_.type->dense(a_.count)) {
            in = exposed_operand(a_);
            if (root_ < 0 ? flag_.led_levels() > 0 : env_.rank() == root_) out = exposed_result(a_);
        }
        AccessPath const access = expose_loadable(env_, in, out);
        if (memory_ == LeaderMemory::user && !peers_can_load()) {
            co_await agree(0, !env_.can_load_peers()         ? refused
                              : access == AccessPath::attach ? possible
                              : env_.may_attach()            ? certain
                                                             : always);
            if (agreed_ == always) remember_that_peers_can_load();
            bool const reached = agreed_ == possible && reach();
            if (agreed_ == possible) co_await agree(refused, reached ? certain : refused);
            if (agreed_ == refused) use_rings();
        }
        Exposure const& own = env_.exposure(env_.rank());
        bool const in_rings = memory_ == LeaderMemory::ring;
        operand_in_ring_ = in_rings || own.address == 0;
        result_in_ring_ = flag_.led_levels() > 0 && (in_rings || own.result == 0);
        if (!uses_ring()) co_return;
        env_.reserve_staging(ring_);
        env_.add_staging();
    }
    /// True if all members are known to be able to load what any of them exposes as AccessPath::load_store, and none
    /// exposes memory as AccessPath::attach. The same at all ranks: what was agreed in operation n is used from
    /// operation n + channel_depth on, before which every rank has ended n.
    bool peers_can_load() const {
        std::uint64_t const agreed = env_.loading_agreed();
        return agreed != 0 && env_.number() >= agreed + channel_depth;
    }
    void remember_that_peers_can_load() {
        std::uint64_t& agreed = env_.loading_agreed();
        if (agreed == 0 || env_.number() < agreed) agreed = env_.number();   // operations in flight end in any order
    }
    void use_rings() {
        memory_ = LeaderMemory::ring;
        for (Level& team : teams_) {
            team.result.base = nullptr;
            for (Member& m : team.members) m.base = nullptr;
        }
    }

    /// Whether peers reach this rank's exposed buffers and it reaches theirs: also in all later operations, or in this
    /// one; or it must be tried; or not.
    enum Reachability : std::uint64_t { always = 1, certain, possible, refused };

    /// Computes the worst reachability of all ranks, up the hierarchy and down again; steps from `base` on.
    Task agree(std::uint64_t base, std::uint64_t reachability) {
        for (int child : flag_.children()) {
            co_await env_.until_sent(child, base + 1);
            reachability = std::max(reachability, env_.sent_by(child) - base);
        }
        if (flag_.parent() >= 0) {
            env_.sent(flag_.parent(), base + reachability);
            co_await flag_.until(base + 1);
            reachability = flag_.seen() - base;   // it counts no data before this rank's operand is ready
        }
        if (flag_.led_levels() > 0) flag_.announce(base + reachability);
        agreed_ = reachability;
    }

    /// Maps the buffers of this rank's teams. Returns false if one cannot be attached.
    bool reach() {
        bool all = true;
        for (int level = 0; level <= flag_.level(); ++level) {
            Level& team = teams_[index(level)];
            for (Member& m : team.members) all = locate(m) && all;
            all = locate(team.result) && all;
        }
        return all;
    }
    /// True if a rank contributes a result of lower levels to this one.
    bool has_led(int rank, int level) const {
        for (int below = 0; below < level; ++below)
            if (tree_.team(below, rank, root_).members.size() > 1) return true;
        return false;
    }
    bool locate(Member& m) {
        if (memory_ == LeaderMemory::slot) return m.base = env_.slot_of(m.rank, bytes_), true;
        Exposure const& e = env_.exposure(m.rank);
        std::uint64_t const there = memory_ == LeaderMemory::ring ? 0 : m.in_result ? e.result : e.address;
        bool const me = m.rank == env_.rank();
        m.ring = there == 0;
        if (m.ring) m.base = me ? env_.staging() : env_.staging_of(m.rank);
        else m.base = me ? reinterpret_cast<std::byte*>(there) : env_.reach(m.rank, there, bytes_);
        return m.base != nullptr;
    }

    Env& env_;
    topo::Hierarchy const& tree_;
    ReduceArgs const& a_;
    int root_;
    std::size_t bytes_, element_;
    ByteSteps steps_;
    LeaderFlag<Env> flag_;
    Reducer reducer_;
    std::vector<Level> teams_;
    std::vector<std::size_t> chunk_;             ///< per level
    LeaderMemory memory_ = LeaderMemory::user;   ///< of all ranks; `user`: each rank's own choice, that or a ring
    bool operand_in_ring_ = false, result_in_ring_ = false;   ///< this rank's
    std::size_t ring_ = 0, pull_distance_ = 0;                ///< R; 3 S, or the whole vector
    std::size_t ready_ = 0;                                   ///< how far this rank's operand is ready
    std::uint64_t agreed_ = refused;
    PulledBroadcast<Env>* down_ = nullptr;
    std::vector<void const*> operands_;
};

inline constexpr Parameter leader_reduction_parameters[] = {
    hierarchy_parameter,
    chunk_parameter,
    cico_parameter,
    flags_parameter,
    {"share", 512, "bytes below which a member's range of a chunk is not divided further"}};

}   // namespace tutti::coll
