// SPDX-License-Identifier: BSD-3-Clause
// A window: memory of each member of a communicator that the others may put to, get from and accumulate into (MPI 3.1,
// chapter 11), and the epochs that this process is in. Making one is collective (rma/making/making.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coll/call/collectives.hpp"
#include "rma/node/control.hpp"
#include "rma/window/accesses.hpp"
#include "rma/window/local_stores.hpp"
#include "rma/window/origin_buffers.hpp"
#include "rma/window/recording.hpp"
#include "runtime/memory/single_copy.hpp"
#include "runtime/objects/attribute.hpp"
#include "runtime/objects/comm.hpp"
#include "runtime/objects/errhandler.hpp"
#include "runtime/objects/info.hpp"
#include "runtime/objects/request.hpp"
#include "runtime/process.hpp"

namespace tutti::rma {

enum class Flavor : std::uint8_t { create, allocate, shared, dynamic };

/// How this process gets at a target's memory; of all members of a node the same for one target.
enum class Path : std::uint8_t {
    load_store,   ///< it is mapped here
    cma,          ///< the kernel copies it; accumulates hold a stripe while they read, compute and write
    messages,     ///< its owner, or somebody for it, carries out what it is asked for (rma/messages/)
};

/// What this process may do with a target: its access epoch (MPI 3.1, 11.5).
enum class Access : std::uint8_t { none, fence, group, lock, lock_all };

struct alignas(cache_line) Target {
    std::byte* memory = nullptr;   ///< load_store: where it begins here; null: dynamic, or no bytes of the program's
    std::uint64_t address = 0;     ///< where it begins in its owner's address space
    std::uint64_t bytes = 0;       ///< of the window; of a dynamic one all that can be addressed
    std::uint64_t mapped = 0;      ///< the same where `memory` is not null, else 0
    std::int64_t disp_unit = 1;
    Control* control = nullptr;   ///< null: on another node
    unsigned place = 0;           ///< on its node: index of its rank state; valid where control is
    unsigned member = 0;          ///< place among the window's members of the node; valid where control is
    Path path = Path::load_store;
    Access access = Access::none;   ///< by a lock or a group of this target; fence and lock_all are the window's
    bool exclusive = false;         ///< of a lock: which kind; valid where access is lock
    bool no_check = false;          ///< of a lock: MPI_MODE_NOCHECK, nothing is held
    bool post_seen = true;          ///< of a group: the target is known to have posted
    bool by_processor = true;       ///< as SharedMemory has it
};

/// Targets that this process may operate on without another look at its epochs: one is open towards all of them, and
/// no post has to be waited for. Whatever opens or closes an epoch says so (Window::open_towards); fewer than there are
/// is always right. Of a window whose calls are recorded or looked at there are none.
struct OpenTargets {
    int first = 0;
    unsigned ranks = 0;
    bool flush_is_fence = false;   ///< there are some, the epoch is a passive one, nobody is asked by messages

    bool contain(int rank) const { return static_cast<unsigned>(rank) - static_cast<unsigned>(first) < ranks; }
};

/// Is an atomic addition, exchange or comparison a full fence as well, as locked instructions are?
#if defined(__x86_64__)
inline constexpr bool atomics_are_fences = true;
#else
inline constexpr bool atomics_are_fences = false;
#endif

/// The assertions of a synchronisation (MPI 3.1, 11.5.5).
struct Assertions {
    bool no_check = false, no_store = false, no_put = false, no_precede = false, no_succeed = false;
};

/// Epochs between this process and one member.
struct PairEpochs {
    std::uint64_t posts = 0, starts = 0;   ///< of this process for that one
    std::uint64_t site = 0;                ///< of the last start: its call's return address
};

class Window final : public HasErrhandler {
public:
    Window(Process& p, Ref<Comm> own, Flavor f);
    ~Window() override;

    int rank() const { return comm->rank(); }
    int size() const { return comm->size(); }
    Target& target(int rank) { return targets[static_cast<std::size_t>(rank)]; }
    /// For whoever waits in `call` on the window's behalf; `rank`: of the window, without whose act the wait does not
    /// end, −1: several.
    Reason reason(char const* call, int rank = -1) const {
        return {call, rank < 0 ? -1 : comm->world_rank(rank), -1, add_name, this, comm->policy()};
    }
    /// For sentences: its name, or what can be said of it.
    std::string words() const;
    /// Adds which window it is, for a reason.
    static void add_name(void const* window, Blockage& blockage);

    /// An operation with a target is over for this process.
    void count(Operation operation, Path way, std::uint64_t bytes_there) {
        auto const o = static_cast<std::size_t>(operation);
        OneSided& all = counts;
        all.calls[o].add(1);
        all.bytes[o][static_cast<std::size_t>(way)].add(bytes_there);
        fence_used = true;   // only ever asked where the epoch is one of a fence
        if (operation != Operation::get) stored = true;
    }
    /// The same of one by an atomic addition, exchange or comparison in mapped memory.
    void count_atomic(std::uint64_t bytes_there) {
        count(Operation::accumulate, Path::load_store, bytes_there);
        stored = !atomics_are_fences;
    }
    /// What was stored is stored before whatever comes now, in this program and for all who learn from it. What was
    /// loaded was loaded before; without a store in between that needs no full fence.
    void order() {
        if (stored) std::atomic_thread_fence(std::memory_order_seq_cst);
        else std::atomic_thread_fence(std::memory_order_acq_rel);
        stored = false;
    }
    /// What this process has called towards a target (−1: all) is complete here.
    void complete_here(int rank) {
        if (origins) [[unlikely]]
            origins->complete(rank);
    }
    /// The epochs have changed: see OpenTargets.
    void open_towards(int first, unsigned ranks, bool passive) {
        if (recording || accesses) ranks = 0;
        open_targets = {first, ranks, ranks != 0 && passive && !messages};
    }
    void open_towards_all(bool passive) { open_towards(0, static_cast<unsigned>(targets.size()), passive); }
    void open_towards_nobody() { open_targets = {}; }

    Process& process;
    OneSided& counts;                         ///< this rank's
    std::unique_ptr<Recording> recording;     ///< null: calls are not recorded
    std::unique_ptr<Accesses> accesses;       ///< of --check, which looks for conflicts; else null
    std::unique_ptr<LocalStores> stores;      ///< null: without --check
    std::unique_ptr<OriginBuffers> origins;   ///< null: without --check
    Ref<Comm> comm;                           ///< the window's own: a duplicate of the one that it was made of
    Flavor const flavor;
    void* base = nullptr;   ///< of this process's part
    std::int64_t bytes = 0;
    int disp_unit = 1;
    Ref<Request> completed;   ///< of all operations that were over at once; null: there was none yet
    Ref<Info> info;           ///< hints that mean something, with the values in use (MPI 3.1, 11.2.1)
    Attributes attributes;

    std::vector<Target> targets;   ///< by rank
    std::vector<int> on_node;      ///< ranks of the members on this node, in order: by Target::member
    NodeMembers members;           ///< the same, as controls
    bool several_nodes = false;
    bool noncontiguous = false;    ///< hint: parts of a shared window need not lie behind each other
    bool needs_messages = false;   ///< some member of this node is reached by messages alone,
    bool may_need_them = false;    ///< or by copies that the kernel makes, which the system may come to refuse
    bool serves() const { return several_nodes || needs_messages; }   ///< at any time, also while the program computes

    // Access epochs of this process.
    OpenTargets open_targets;
    bool stored = false;               ///< something was stored into a target since the last full fence
    Access everybody = Access::none;   ///< towards all targets: none, fence or lock_all
    bool fence_used = false;           ///< since the last fence something was accessed: it counts as an epoch
    bool all_no_check = false;         ///< of lock_all
    unsigned locks = 0;                ///< of single targets, held
    Ref<Group> started;                ///< of MPI_Win_start; null: none. In ranks of the window: started_ranks
    std::vector<int> started_ranks;
    // Exposure epoch of this process.
    Ref<Group> posted;   ///< of MPI_Win_post; null: none
    std::vector<int> posted_ranks;

    /// Of each member on the node, by Target::member: how many of its posts this process has started an epoch for, and
    /// of its completes closed one for.
    std::vector<std::uint64_t> posts_used, completes_used;

    coll::BoundCall<coll::BarrierArgs> fence_call;   ///< the barrier of a fence, as the program's call
    std::vector<PairEpochs> pairs;   ///< by rank; empty before the first post or start (synchronization/matching.hpp)

    std::map<std::uint64_t, std::uint64_t> attached;   ///< of a dynamic one: address → bytes
    std::unique_ptr<Extension> messages;               ///< of rma/messages/; null: nobody is asked by messages

    std::uint64_t control_offset = 0;   ///< of this process's control, in the segment
    void* own_memory = nullptr;         ///< that the window has allocated in the arena; null: none
    std::uint64_t own_segment = 0;      ///< the same in the segment: offset, 0: none
};

/// What is open, in words, for a sentence: "a lock on rank 3"; empty: nothing.
std::string open_epochs(Window const& window);
/// Throws Error(rma_sync): no epoch towards `rank` is open.
[[noreturn]] void not_open(Window const& window, int rank);
/// Throws Error(rma_range): bytes [first, first + bytes) of a target's part are not all there.
[[noreturn]] void beyond(Window const& window, int rank, std::int64_t disp, std::int64_t first, std::int64_t bytes);

}   // namespace tutti::rma
