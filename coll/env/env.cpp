// SPDX-License-Identifier: BSD-3-Clause
// The environments of algorithms, except their fast paths: between nodes, in shared memory, and the groups' layouts.
#include "coll/env/env.hpp"

#include "coll/env/group_layout.hpp"
#include "coll/env/net_env.hpp"
#include "coll/env/operation_sequence.hpp"
#include "coll/env/shm_env.hpp"

namespace tutti::coll {
namespace {

constexpr std::uint64_t collective_context = 1ULL << 62;   // separates these messages from the program's

/// True if the error is a lack of memory.
bool is_out_of_memory(std::exception_ptr const& error) {
    try {
        std::rethrow_exception(error);
    } catch (Error const& e) { return e.error_class == ErrorClass::no_mem; } catch (std::bad_alloc const&) {
        return true;
    } catch (...) { return false; }
}

}   // namespace

NetEnv::NetEnv(Comm const& comm, Trees const& trees, char const* operation, OperationNumbers numbers,
               Suspension* suspension, FramePool* frames)
    : comm_(comm), trees_(&trees), operation_(operation), traffic_(comm.process.rank_state().traffic),
      suspension_(suspension), frames_(frames ? *frames : comm.process.frames), whole_env_(nullptr), numbers_(numbers),
      members_(frames_), rank_(comm.union_group->rank()) {}

NetEnv::NetEnv(NetEnv& whole, PooledVector<int> members, Trees const* trees)
    : comm_(whole.comm_), trees_(trees), operation_(whole.operation_), traffic_(whole.traffic_),
      suspension_(whole.suspension_), frames_(whole.frames_), whole_env_(&whole), numbers_(whole.numbers_),
      members_(std::move(members)),
      rank_(static_cast<int>(std::ranges::find(members_, whole.rank()) - members_.begin())) {}

bool NetEnv::times_phases() const { return memory_of(comm_.process).times_phases; }

MultiNode const& NetEnv::multi_node() const { return *memory_of(comm_).multi_node; }

Plans& NetEnv::plans() const { return memory_of(comm_).plans; }

p2p::Key NetEnv::key(int source) const {
    static_assert(OperationSequence::max_distance < 0x40000000);
    return {comm_.context | collective_context, source, static_cast<std::int32_t>(numbers_.operation & 0x3fffffff)};
}

void NetEnv::begin(Outgoing& op, int to) {
    op.to = to;
    op.key = key(comm_.union_group->rank());
    op.peer = peer_id(to);
    op.finished = [](p2p::Send& s) { static_cast<Outgoing&>(s).completed.store(1, std::memory_order_release); };
    count_message(to, op.data.bytes);
    p2p::engine(comm_.process).begin(op);
}

void NetEnv::begin(Incoming& op, int from) {
    op.key = key(union_rank(from));
    op.peer = peer_id(from);
    op.traffic = &traffic_;
    op.finished = [](p2p::Receive& r) {
        Incoming& in = static_cast<Incoming&>(r);
        in.traffic->stored.add(in.status.bytes);
        in.completed.store(1, std::memory_order_release);
    };
    p2p::engine(comm_.process).begin(op);
}

void NetEnv::abandon(Incoming& op) { p2p::engine(comm_.process).cancel(op); }

void NetEnv::count_message(int peer, std::size_t bytes) {
    count(bytes, 0);
    if (peer == rank_) return;
    auto const locality = memory_of(comm_).localities[static_cast<std::size_t>(union_rank(peer))];
    traffic_.messages[static_cast<int>(locality)].add(1);
    if (locality == topo::Locality::network) traffic_.to_nodes.add(bytes);
}

std::uint64_t NetEnv::unused_node_numbers() const {
    return whole_env_ ? whole_env_->unused_node_numbers() : numbers_.node_count;
}

std::uint64_t NetEnv::next_node_number() {
    if (whole_env_) return whole_env_->next_node_number();
    if (numbers_.node_count == 0)
        fail(ErrorClass::intern, operation_, ": more node operations than the algorithm announced");
    --numbers_.node_count;
    return numbers_.node_first++;
}

bool NetEnv::wait_unless_suspending(std::atomic<std::uint64_t> const& word, std::uint64_t value, int peer,
                                    int first_polled) const {
    auto const reached = [&] { return has_reached(word.load(std::memory_order_acquire), value); };
    return wait_unless_suspending(Events::of(reached), peer, first_polled);
}

bool NetEnv::wait_unless_suspending(Events const& events, int peer, int first_polled) const {
    if (suspension_) return false;
    p2p::Engine& engine = p2p::engine(comm_.process);
    int const polls = engine.polls_in_a_row(first_polled);
    comm_.process.waiter.wait_until(
        [&] {
            for (int i = 0; i < polls; ++i) {
                if (events.occurred()) return true;
                engine.poll_from(first_polled);
            }
            return events.occurred();
        },
        wait_reason(comm_, operation_, peer));
    return true;
}

// Operations on the node as parts of an operation between nodes.

Task begin_on_node(NetEnv& env, std::uint64_t& number) {
    Comm const& node = *env.multi_node().node;
    CommMemory& memory = memory_of(node);
    number = env.next_node_number();
    for (int m = 0; m < memory.area.members() && !memory.may_begin(number); ++m) {
        int const rank = env.comm().union_group->rank_of(node.world_rank(m));
        if (m != memory.rank) co_await env.until(memory.area.done(m).value, number - channel_depth, rank);
    }
    // What remains are earlier operations of this rank, which other requests advance.
    while (!memory.may_begin(number))
        co_await env.until(memory.area.done(memory.rank).value, number - channel_depth, env.rank());
}

Task skip_unused_node_numbers(NetEnv& env) {
    while (env.unused_node_numbers() > 0) {
        std::uint64_t number = 0;
        co_await begin_on_node(env, number);
        ChannelGuard const passed(static_cast<OperationSequence&>(memory_of(*env.multi_node().node)), number);
    }
}

NodeEnv::NodeEnv(NetEnv& env, Trees const& trees, std::uint64_t number)
    : channel_(memory_of(*env.multi_node().node), number),
      shm(memory_of(*env.multi_node().node).area, trees, memory_of(*env.multi_node().node).rank, number,
          *env.multi_node().node, env.operation(), memory_of(*env.multi_node().node).localities.data(),
          env.suspension(), &env.frames()) {}

void fail_between_nodes(Comm const& comm, char const* operation, std::exception_ptr const& error) {
    comm.process.frames.retain();
    comm.process.frames.release();   // releases frames that the error left in the pool
    if (!is_out_of_memory(error) || !comm.process.end_job) return;
    comm.process.end_job(1, join(operation, ": out of memory in an operation that spans several nodes"));
}

// The slow paths of the shared-memory environment: waiting, and this rank's staging memory.

bool ShmMemory::times_phases() const { return memory_of(comm_.process).times_phases; }
Plans& ShmMemory::plans() const { return memory_of(comm_).plans; }

std::size_t ShmMemory::staging_bytes() const { return memory_of(comm_.process).staging_bytes; }

void ShmMemory::reserve_staging(std::size_t bytes) {
    memory_of(comm_.process).stagings.enlarge(comm_.process.heap, bytes);
    if (staging_.bytes != 0 && staging_.bytes < bytes) release_staging();
}

bool ShmMemory::fetch_segments(int peer, TypedMemory const& there, TypedMemory const& here, std::size_t position,
                               std::size_t bytes) {
    try {
        return move_segments(there, here, position, bytes, [&](std::span<iovec> from, std::span<iovec> to) {
            return comm_.process.single_copy.read_segments(local_rank(peer), from, to);
        });
    } catch (Error const&) { return false; }
}

bool ShmMemory::put_segments(int peer, TypedMemory const& there, TypedMemory const& here, std::size_t position,
                             std::size_t bytes) {
    try {
        return move_segments(there, here, position, bytes, [&](std::span<iovec> to, std::span<iovec> from) {
            return comm_.process.single_copy.write_segments(local_rank(peer), to, from);
        });
    } catch (Error const&) { return false; }
}

void ShmMemory::acquire_staging() { staging_ = memory_of(comm_.process).stagings.acquire(comm_.process.heap); }

void ShmMemory::release_staging() {
    memory_of(comm_.process).stagings.release(comm_.process.heap, std::exchange(staging_, {}));
}

StagingMemory ShmMemory::more_staging(std::size_t bytes) {
    std::vector<StagingMemory>& all = held().more_stagings;
    all.reserve(all.size() + 1);
    return all.emplace_back(memory_of(comm_.process).stagings.acquire(comm_.process.heap, bytes));
}

ShmMemory::Held& ShmMemory::held() {
    if (!held_) held_ = new Held;
    return *held_;
}

void ShmMemory::release_held() {
    std::unique_ptr<Held> const held(std::exchange(held_, nullptr));
    for (StagingMemory const& staging : held->more_stagings)
        memory_of(comm_.process).stagings.release(comm_.process.heap, staging);
}

namespace {

/// True if the member has completed this operation of the communicator, or waits in the same call for it. The other
/// rank's record may change meanwhile; what is made of it concerns ranks that are proven to be blocked.
[[gnu::no_sanitize_thread]] bool has_arrived(Comm const& comm, Area const& area, int member, std::uint64_t operation) {
    std::uint64_t const done = area.done(member).read();
    if (done >= operation) return true;
    int const local_rank = comm.process.cluster.local_rank_of(comm.union_group->world_rank(member));
    LastCall const& last = comm.process.segment.rank_state(static_cast<unsigned>(local_rank)).last_call;
    return done + 1 == operation && last.collective == comm.context && last.function == comm.process.call_function;
}

}   // namespace

/// A blocking wait for a flag.
struct ShmMemory::FlagWait {
    ShmEnv const& env;
    std::atomic<std::uint64_t> const& flag;
    std::uint64_t awaited;
    int peer;
    Reason reason;   ///< without the flag
};

/// If all members are in this operation or have completed it, and nevertheless wait for each other, the cause is the
/// algorithm, not the order of the program's calls. Then names the flag.
void ShmMemory::describe_flag_wait(void const* context, BlockedCall& blocked) {
    auto const& [env, flag, awaited, peer, reason] = *static_cast<FlagWait const*>(context);
    reason.describe(reason.context, blocked);
    Comm const& comm = env.comm_;
    if (peer == any_peer || comm.reported_as || comm.is_inter() || *blocked.hint.code) return;
    for (int member = 0; member < env.size(); ++member)
        if (member != env.rank() && !has_arrived(comm, env.area(), member, env.number())) return;
    std::string const name = env.area().flag_name(flag, peer, env.rank(), env.number()),
                      algorithm = comm.collectives->algorithm_of(env.operation_);
    if (name.empty() || algorithm.empty()) return;
    std::uint64_t const step = awaited & max_step, present = flag.load(std::memory_order_relaxed) - (awaited - step);
    blocked.hint = {
        "T21",
        join("waits in algorithm ", algorithm, " of ", env.operation_, " until flag '", name, "' of rank ",
             comm.union_group->world_rank(peer), " reaches step ", step, "; it is at ",
             present <= max_step ? present : 0),
        "all ranks are in this call, so the algorithm is wrong: compare the steps that it writes with those "
        "that it awaits; tests_coll_threads repeats the case in one process"};
}

bool ShmMemory::wait_unless_suspending(std::atomic<std::uint64_t> const& word, std::uint64_t value, int peer) const {
    if (suspension_) return false;
    auto const& env = static_cast<ShmEnv const&>(*this);
    auto reached = [&] { return has_reached(word.load(std::memory_order_acquire), value); };
    FlagWait const wait{env, word, value, peer, wait_reason(comm_, operation_, peer)};
    Reason reason = wait.reason;
    reason.describe = describe_flag_wait;
    reason.context = &wait;
    comm_.process.waiter.wait_until([&] { return reached() || env.failed(); }, reason, &word);
    if (!reached()) [[unlikely]]
        throw_failure_of(comm_, env.failed_rank());
    return true;
}

bool ShmMemory::wait_unless_suspending(Events const& events, int peer) const {
    if (suspension_) return false;
    auto const& env = static_cast<ShmEnv const&>(*this);
    comm_.process.waiter.wait_until([&] { return events.occurred() || env.failed(); },
                                    wait_reason(comm_, operation_, peer));
    if (!events.occurred()) [[unlikely]]
        throw_failure_of(comm_, env.failed_rank());
    return true;
}

void throw_failure_of(Comm const& comm, int member) {
    fail(ErrorClass::no_mem, "rank ", comm.union_group->world_rank(member),
         " of MPI_COMM_WORLD has no memory left to continue the operation");
}

NodePartition::NodePartition(Group const& all, Cluster const& cluster) {
    std::vector<int> number(static_cast<std::size_t>(cluster.nodes()), -1);
    for (int r = 0; r < all.size(); ++r) {
        int& part = number[static_cast<std::size_t>(cluster.node_of(all.world_rank(r)))];
        if (part < 0) part = count();
        add(part, r);
    }
    own_part_ = number[static_cast<std::size_t>(cluster.this_node())];
}

Partition::Partition(topo::Hierarchy const& tree) {
    int const level = std::max(0, tree.levels() - 2);
    for (int r = 0; r < tree.size(); ++r) {
        int const first = tree.ranks_under(level, r).front();
        add(first == r ? count() : part_of(first), r);
    }
}

void Partition::add(int part, int rank) {
    if (part == count()) members_.emplace_back();
    auto& members = members_[static_cast<std::size_t>(part)];
    part_of_.push_back(part);
    index_of_.push_back(static_cast<int>(members.size()));
    members.push_back(rank);
}

}   // namespace tutti::coll
