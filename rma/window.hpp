// SPDX-License-Identifier: BSD-3-Clause
// A window: memory of each member of a communicator that the other members may access by put, get and accumulate (MPI
// 3.1, chapter 11), and the epochs that this process is in. Windows are created collectively (create.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coll/call/collectives.hpp"
#include "rma/access_check.hpp"
#include "rma/local_accesses.hpp"
#include "rma/node_control.hpp"
#include "rma/recording.hpp"
#include "runtime/memory/single_copy.hpp"
#include "runtime/objects/attribute.hpp"
#include "runtime/objects/comm.hpp"
#include "runtime/objects/errhandler.hpp"
#include "runtime/objects/info.hpp"
#include "runtime/objects/request.hpp"
#include "runtime/process.hpp"

namespace tutti::rma {

enum class Flavor : std::uint8_t { create, allocate, shared, dynamic };

/// Access method of this process to a target's memory; the same for all members of one node.
enum class AccessMethod : std::uint8_t {
    load_store,        ///< mapped in this process
    cma,               ///< copied by the kernel; accumulates hold a stripe while they read, compute and write
    active_messages,   ///< executed by any thread of the owner that polls (am_messages.hpp)
};

/// Access epoch of this process towards a target (MPI 3.1, 11.5).
enum class AccessEpoch : std::uint8_t { none, fence, group, lock, lock_all };

/// One member's part of the window as this process accesses it, and this process's access epoch towards it.
struct alignas(cache_line) Target {
    /// Beginning of the part in this process, for load_store; null: dynamic window, or no bytes of the program.
    std::byte* memory = nullptr;
    std::uint64_t address = 0;   ///< its beginning in the owner's address space
    std::uint64_t bytes = 0;     ///< size of the part; for a dynamic window all of the address space
    std::uint64_t mapped = 0;    ///< equal to `bytes` if `memory` is not null, else 0
    std::int64_t disp_unit = 1;
    Control* control = nullptr;   ///< null: on another node
    unsigned local_rank = 0;      ///< local rank on its node: index of its rank state; valid if control is not null
    unsigned member = 0;          ///< index among the window's members on the node; valid if control is not null
    AccessMethod method = AccessMethod::load_store;
    AccessEpoch epoch = AccessEpoch::none;   ///< of this target alone: lock or group (see Window::global_epoch)
    bool exclusive = false;                  ///< kind of lock; valid if epoch is lock
    bool no_check = false;                   ///< of a lock: MPI_MODE_NOCHECK, no lock is held
    bool post_seen = true;                   ///< of a group: the target is known to have posted
    bool uses_atomics = true;                ///< see SharedMemory
};

/// The targets that this process may access without checking its epochs again: an epoch is open towards all of them,
/// and no post has to be waited for. Every function that opens or closes an epoch must update it
/// (Window::set_open_targets). It may contain fewer targets than are open, never more. It is empty for a window whose
/// calls are recorded or checked.
struct OpenTargets {
    int first = 0;
    unsigned ranks = 0;
    bool flush_is_fence = false;   ///< not empty, the epoch is passive, and the window has no active messages

    bool contains(int rank) const { return static_cast<unsigned>(rank) - static_cast<unsigned>(first) < ranks; }
};

/// True if an atomic addition, exchange or comparison is also a full fence, as locked instructions are.
#if defined(__x86_64__)
inline constexpr bool atomics_are_fences = true;
#else
inline constexpr bool atomics_are_fences = false;
#endif

/// The assertions of a synchronization call (MPI 3.1, 11.5.5).
struct Assertions {
    bool no_check = false, no_store = false, no_put = false, no_precede = false, no_succeed = false;
};

/// Numbers of epochs between this process and one member.
struct PairEpochs {
    std::uint64_t posts = 0, starts = 0;   ///< of this process towards that member
    std::uint64_t site = 0;                ///< return address of the call of the last start
};

/// One member's window object. If several threads may call, it must be used with the rank's lock held.
class Window final : public HasErrhandler {
public:
    Window(Process& p, Ref<Comm> own, Flavor f);
    ~Window() override;

    int rank() const { return comm->rank(); }
    int size() const { return comm->size(); }
    Target& target(int rank) { return targets[static_cast<std::size_t>(rank)]; }
    /// Reason for a wait in `call` on behalf of the window. `rank`: the rank of the window that must act to end the
    /// wait; −1: several.
    Reason reason(char const* call, int rank = -1) const {
        return {call, rank < 0 ? -1 : comm->world_rank(rank), -1, add_description, this, comm->policy()};
    }
    /// Describes the window in messages: by its name, or by its size.
    std::string description() const;
    /// Adds the window's description to a reason.
    static void add_description(void const* window, BlockedCall& blocked);

    /// Counts an operation towards a target that is complete for this process. Inlined down to the loads and stores,
    /// because the fast forms of operations have only a few dozen instructions.
    [[gnu::always_inline]] void count(Operation operation, AccessMethod method, std::uint64_t bytes_there) {
        auto const o = static_cast<std::size_t>(operation);
        Counter &calls = counts.calls[o], &moved = counts.bytes[o][static_cast<std::size_t>(method)];
        calls.set(calls.read() + 1);
        moved.set(moved.read() + bytes_there);
        fence_used = true;   // only read while the epoch is a fence epoch
        if (operation != Operation::get) stored = true;
    }
    /// Counts one atomic addition, exchange or comparison in mapped memory.
    [[gnu::always_inline]] void count_atomic(std::uint64_t bytes_there) {
        count(Operation::accumulate, AccessMethod::load_store, bytes_there);
        stored = !atomics_are_fences;
    }
    /// Orders previous stores before all later accesses, of this process and of ranks that synchronize with it.
    /// Orders previous loads likewise; without a store since the last full fence, that takes no full fence.
    void order() {
        if (stored) std::atomic_thread_fence(std::memory_order_seq_cst);
        else std::atomic_thread_fence(std::memory_order_acq_rel);
        stored = false;
    }
    /// Completes, at the origin, what this process has called towards a target (−1: all targets).
    void complete_at_origin(int rank) {
        if (origin_buffers) [[unlikely]]
            origin_buffers->complete(rank);
    }
    /// Updates OpenTargets after a change of epochs.
    void set_open_targets(int first, unsigned ranks, bool passive) {
        if (recording || access_log) ranks = 0;
        open_targets = {first, ranks, ranks != 0 && passive && !active_messages};
    }
    void open_all_targets(bool passive) { set_open_targets(0, static_cast<unsigned>(targets.size()), passive); }
    void close_targets() { open_targets = {}; }

    Process& process;
    OneSided& counts;                                ///< this rank's counters
    std::unique_ptr<Recording> recording;            ///< null: calls are not recorded
    std::unique_ptr<AccessLog> access_log;           ///< conflict detection of --check; otherwise null
    std::unique_ptr<LocalStores> local_stores;       ///< null without --check
    std::unique_ptr<OriginBuffers> origin_buffers;   ///< null without --check
    Ref<Comm> comm;   ///< the window's own duplicate of the communicator it was created on
    Flavor const flavor;
    void* base = nullptr;   ///< of this process's part
    std::int64_t bytes = 0;
    int disp_unit = 1;
    Ref<Request> immediate_request;   ///< shared by all operations that completed immediately; null: none yet
    Ref<Info> info;                   ///< supported hints with the values in use (MPI 3.1, 11.2.1)
    Attributes attributes;

    std::vector<Target> targets;   ///< by rank
    std::vector<int> on_node;      ///< ranks of the members on this node, in order; index: Target::member
    NodeMembers members;           ///< the controls of the same members
    bool multi_node = false;
    bool noncontiguous = false;       ///< hint: parts of a shared window need not be contiguous
    bool needs_messages = false;      ///< some member of this node is reached by active messages only
    bool may_need_messages = false;   ///< some member is accessed by CMA, which the system may refuse later
    /// Returns true if commands must be executed at any time, also while the program computes.
    bool serves_commands() const { return multi_node || needs_messages; }

    // Access epochs of this process.
    OpenTargets open_targets;
    bool stored = false;                            ///< a store to a target since the last full fence
    AccessEpoch global_epoch = AccessEpoch::none;   ///< access epoch towards all targets: none, fence or lock_all
    bool fence_used = false;                        ///< an access since the last fence: it counts as an epoch
    bool all_no_check = false;                      ///< of lock_all
    unsigned locks = 0;                             ///< number of single targets locked
    Ref<Group> started;   ///< of MPI_Win_start; null: none. started_ranks: the same in ranks of the window
    std::vector<int> started_ranks;
    // Exposure epoch of this process.
    Ref<Group> posted;   ///< of MPI_Win_post; null: none
    std::vector<int> posted_ranks;

    /// For each member on the node, by Target::member: number of its posts for which this process has started an epoch,
    /// and number of its completes for which this process has closed one.
    std::vector<std::uint64_t> posts_used, completes_used;

    coll::BoundCall<coll::BarrierArgs> fence_call;   ///< the barrier of a fence, recorded as the program's call
    std::vector<PairEpochs> pairs;   ///< by rank; empty before the first post or start (epoch_check.cpp)

    std::map<std::uint64_t, std::uint64_t> attached;   ///< of a dynamic window: address → bytes
    std::unique_ptr<LayerState> active_messages;       ///< class ActiveMessages (am_messages.hpp); null: not needed

    std::uint64_t control_offset = 0;   ///< offset of this process's control in the segment
    void* arena_block = nullptr;        ///< allocated by the window in the arena; null: none
    std::uint64_t segment_block = 0;    ///< the same, allocated in the segment: offset; 0: none
};

/// Describes the open epoch in messages, such as "a lock on rank 3"; empty if none is open.
std::string open_epochs(Window const& window);
/// Throws Error(rma_sync): no epoch towards `rank` is open.
[[noreturn]] void throw_not_open(Window const& window, int rank);
/// Throws Error(rma_range): bytes [first, first + bytes) are not all in the target's part.
[[noreturn]] void throw_out_of_range(Window const& window, int rank, std::int64_t disp, std::int64_t first,
                                     std::int64_t bytes);

}   // namespace tutti::rma
