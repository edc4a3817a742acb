// SPDX-License-Identifier: BSD-3-Clause
// What the engine of schedules (run_schedule.hpp) works with: the fragments of a message, the buffers for them, and the
// mechanisms by which ranks pass values (Mechanism, schedule.hpp). Cheetah (Gorentla Venkata and others, CLUSTER 2013),
// sections III.B (primitives for each mechanism) and VI (fragments).
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "coll/blocks/messages.hpp"
#include "coll/blocks/net_messages.hpp"
#include "coll/blocks/reducer.hpp"
#include "coll/blocks/schedule.hpp"
#include "coll/env/env.hpp"

namespace tutti::coll {

/// The data: a rank's operand and where its result goes; `reducer` is set if there is something to combine.
struct ScheduleData {
    ConstBuffer operand{};
    Buffer result{};
    Reducer* reducer = nullptr;
    std::size_t bytes = 0;
    std::size_t element = 1;   ///< fragments are cut between elements
};

inline constexpr Parameter large_parameter = {"large", 32768, "bytes of the largest message that is not cut"},
                           fragment_of_schedule = {"fragment", 32768, "bytes of a fragment of a larger message",
                                                   ParameterKind::own_fragment},
                           in_flight_parameter = {"in_flight", 4, "fragments in flight", ParameterKind::number};

/// How large messages are cut: those of more than `large` bytes, into fragments of `fragment` bytes.
struct ScheduleCut {
    std::size_t large, fragment, in_flight;
};

/// The fragments of a message and the buffers for them, the same at all ranks.
struct FragmentLayout {
    FragmentLayout(Schedule const& schedule, ScheduleData const& data, ScheduleCut const& cut) : bytes(data.bytes) {
        std::size_t const element = std::max<std::size_t>(1, data.element);   // for an empty datatype
        fragment = bytes <= cut.large ? bytes : std::min(bytes, std::max(element, cut.fragment / element * element));
        fragments = !schedule.moves_data() ? 1 : bytes == 0 ? 0 : (bytes + fragment - 1) / fragment;
        in_flight = std::clamp<std::size_t>(cut.in_flight, 1, std::max<std::size_t>(1, fragments));
        std::size_t const exposed = static_cast<std::size_t>(schedule.exposed_buffers());
        stride = rounded(fragment, sizeof(std::uint64_t));
        if (exposed * stride > Cell::inline_bytes) stride = rounded(fragment, cache_line);
        exposed_bytes = exposed * stride;
        // all buffers, and space to pack an operand, or for a result before it is unpacked
        all_bytes = (static_cast<std::size_t>(schedule.buffers()) * in_flight + 1) * stride;
    }

    /// Position of fragment f in a buffer, from the first buffer on.
    std::size_t at(int buffer, std::uint64_t f) const {
        return (static_cast<std::size_t>(buffer) * in_flight + f % in_flight) * stride;
    }
    std::size_t bytes_of(std::uint64_t f) const { return std::min(fragment, bytes - f * fragment); }
    std::size_t scratch() const { return all_bytes - stride; }

    std::size_t bytes, fragment, in_flight, stride, exposed_bytes, all_bytes;
    std::uint64_t fragments;

private:
    static std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }
};

// How a rank passes values to its peers, one class for each mechanism. All have these functions:
//   has_arrived(peer, buffer, f)       fragment f of the peer's buffer can be read,
//   input(peer, buffer, f)             where it is,
//   release(peer, f)                   and it has been read
//   has_read(peer, f)                  the peer has read fragment f of what this rank exposes to it
//   expose(step, readers, f)           lets the readers of a step read fragment f of its buffer
//   own(buffer, f), scratch()          this rank's memory

/// Shared memory. One counter per pair is enough: `sent` counts fragments exposed, `consumed` fragments read; two ranks
/// share one team, in which each exposes at most one buffer to the other. In the slot, the stamp of the cell shows
/// which of the exposed buffers are filled (buffer + 1, in ascending order), and no buffer is used twice.
template <class Env>
class SharedMemoryLinks {
public:
    SharedMemoryLinks(Env& env, Schedule const& schedule, FragmentLayout const& layout)
        : env_(env), schedule_(schedule), layout_(layout),
          in_slot_(layout.fragments <= 1 && layout.exposed_bytes <= env.slot_bytes()) {
        env.reserve_staging(layout.all_bytes);
        if (!in_slot_) env.add_staging();
    }

    bool has_arrived(Peer const& peer, int buffer, std::uint64_t f) const {
        if (in_slot_) return env_.published(peer.rank) > static_cast<std::uint64_t>(buffer);
        return env_.sent_by(peer.rank) > f;
    }
    std::byte const* input(Peer const& peer, int buffer, std::uint64_t f) const {
        if (in_slot_) return env_.slot(peer.rank, layout_.exposed_bytes) + layout_.at(buffer, f);
        return env_.staging(peer.rank) + layout_.at(buffer, f);
    }
    void release(Peer const& peer, std::uint64_t f) {
        if (!in_slot_) env_.consumed(peer.rank, f + 1);
    }
    bool has_read(Peer const& peer, std::uint64_t f) const { return in_slot_ || env_.consumed_by(peer.rank) > f; }
    void expose(Step const& step, std::span<Peer const> readers, std::uint64_t f) {
        if (in_slot_ && !readers.empty()) env_.publish(static_cast<std::uint64_t>(step.to) + 1);
        if (!in_slot_)
            for (Peer const& reader : readers) env_.sent(reader.rank, f + 1);
    }
    std::byte* own(int buffer, std::uint64_t f) const {
        bool const exposed = in_slot_ && buffer < schedule_.exposed_buffers();
        return (exposed ? env_.slot(layout_.exposed_bytes) : env_.staging()) + layout_.at(buffer, f);
    }
    std::byte* scratch() const { return env_.staging() + layout_.scratch(); }

    void stage(std::byte* to, ConstBuffer const& from, std::size_t at, std::size_t bytes) {
        env_.stage(to, from, at, bytes);
    }
    /// Fragments before `limit` may arrive.
    void expect(std::uint64_t) {}
    /// True if the operation cannot continue, and this class must report it.
    bool has_failed() const { return false; }
    void throw_failure() const {}

private:
    Env& env_;
    Schedule const& schedule_;
    FragmentLayout const& layout_;
    bool const in_slot_;
};

/// Messages between nodes. Receives are posted as soon as their memory is free, so that messages arrive in place; those
/// of a pair keep their order, and each direction of a pair has one message per fragment.
class MessageLinks {
public:
    MessageLinks(NetEnv& env, Schedule const& schedule, FragmentLayout const& layout)
        : env_(env), schedule_(schedule), layout_(layout), in_(env.frames()), out_(env.frames()) {
        std::size_t const inputs = static_cast<std::size_t>(schedule.message_inputs());
        in_.resize(inputs * layout.in_flight);
        out_.resize(static_cast<std::size_t>(schedule.message_readers()) * layout.in_flight);
        received_ = PooledBytes(env.frames(), std::max<std::size_t>(1, inputs * layout.in_flight * layout.stride));
    }
    ~MessageLinks() {
        for (auto& op : out_) delete_when_finished(std::move(op));
    }
    MessageLinks(MessageLinks const&) = delete;
    MessageLinks& operator=(MessageLinks const&) = delete;

    bool has_arrived(Peer const& peer, int, std::uint64_t f) const {
        return in_[index(peer, f)]->op.completed.load(std::memory_order_acquire) != 0;
    }
    std::byte const* input(Peer const& peer, int, std::uint64_t f) const {
        in_[index(peer, f)]->bytes();   // throws if the message cannot arrive any more
        return received(peer, f);
    }
    void release(Peer const&, std::uint64_t) {}
    bool has_read(Peer const& peer, std::uint64_t f) const {
        return out_[index(peer, f)]->completed.load(std::memory_order_acquire) != 0;
    }
    /// Sends fragment f, which is in `memory`, to a reader. The message that used this entry has been sent.
    void send(Peer const& reader, std::byte const* memory, std::uint64_t f) {
        auto& entry = out_[index(reader, f)];
        if (entry) finish_send(std::move(entry));
        entry.reset(new (env_.process_frames()) Outgoing);
        entry->data = p2p::Data::of_bytes(memory, schedule_.moves_data() ? layout_.bytes_of(f) : 0);
        env_.begin(*entry, reader.rank);
    }
    void expect(std::uint64_t limit) {
        for (; expected_ < limit; ++expected_)
            for (Step const& step : schedule_.steps())
                for (Peer const& peer : schedule_.inputs(step)) {
                    if (peer.by != Mechanism::messages) continue;
                    auto& entry = in_[index(peer, expected_)];
                    entry.reset(new (env_.frames()) PendingReceive(env_));
                    bool const moves = schedule_.moves_data();
                    entry->begin(moves ? received(peer, expected_) : nullptr, moves ? layout_.bytes_of(expected_) : 0,
                                 peer.rank);
                }
    }

private:
    std::size_t index(Peer const& peer, std::uint64_t f) const {
        return static_cast<std::size_t>(peer.message) * layout_.in_flight + f % layout_.in_flight;
    }
    std::byte* received(Peer const& peer, std::uint64_t f) const {
        return received_.get() + index(peer, f) * layout_.stride;
    }

    NetEnv& env_;
    Schedule const& schedule_;
    FragmentLayout const& layout_;
    PooledBytes received_;   ///< for the messages of all inputs; released after the receives are cancelled
    PooledVector<std::unique_ptr<PendingReceive>> in_;
    PooledVector<std::unique_ptr<Outgoing>> out_;
    std::uint64_t expected_ = 0;   ///< fragments whose receives have been posted
};

/// Both mechanisms, in an operation over several nodes: each peer is reached by its own. Shared memory is that of an
/// operation on this node; a rank that has no peer in shared memory has none.
class NodesLinks {
public:
    NodesLinks(NetEnv& env, Schedule const& schedule, FragmentLayout const& layout, std::optional<NodeEnv>& node)
        : env_(env), layout_(layout), node_(node), messages_(env, schedule, layout) {
        if (node) shared_.emplace(node->shm, schedule, layout);
        else memory_ = PooledBytes(env.frames(), layout.all_bytes);
    }

    bool has_arrived(Peer const& peer, int buffer, std::uint64_t f) const {
        return by_message(peer) ? messages_.has_arrived(peer, buffer, f) : shared_->has_arrived(here(peer), buffer, f);
    }
    std::byte const* input(Peer const& peer, int buffer, std::uint64_t f) const {
        return by_message(peer) ? messages_.input(peer, buffer, f) : shared_->input(here(peer), buffer, f);
    }
    void release(Peer const& peer, std::uint64_t f) {
        if (!by_message(peer)) shared_->release(here(peer), f);
    }
    bool has_read(Peer const& peer, std::uint64_t f) const {
        return by_message(peer) ? messages_.has_read(peer, f) : shared_->has_read(here(peer), f);
    }
    void expose(Step const& step, std::span<Peer const> readers, std::uint64_t f) {
        for (Peer const& reader : readers) {
            if (by_message(reader)) messages_.send(reader, own(step.to, f), f);
            else {
                Peer const local = here(reader);
                shared_->expose(step, {&local, 1}, f);
            }
        }
    }
    std::byte* own(int buffer, std::uint64_t f) const {
        return shared_ ? shared_->own(buffer, f) : memory_.get() + layout_.at(buffer, f);
    }
    std::byte* scratch() const { return shared_ ? shared_->scratch() : memory_.get() + layout_.scratch(); }

    void stage(std::byte* to, ConstBuffer const& from, std::size_t at, std::size_t bytes) {
        if (shared_) shared_->stage(to, from, at, bytes);
        else env_.load(to, from, at, bytes);
    }
    void expect(std::uint64_t limit) { messages_.expect(limit); }
    bool has_failed() const { return node_ && node_->shm.failed(); }
    void throw_failure() const { throw_failure_of(*env_.multi_node().node, node_->shm.failed_rank()); }

private:
    static bool by_message(Peer const& peer) { return peer.by == Mechanism::messages; }
    /// The peer as the node communicator numbers it.
    Peer here(Peer const& peer) const { return {env_.partition().index_of(peer.rank), peer.by}; }

    NetEnv& env_;
    FragmentLayout const& layout_;
    std::optional<NodeEnv>& node_;
    PooledBytes memory_;   ///< this rank's buffers if it shares none
    std::optional<SharedMemoryLinks<ShmEnv>> shared_;
    MessageLinks messages_;   ///< destroyed first: it sends from the buffers
};

}   // namespace tutti::coll
