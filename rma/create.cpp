// SPDX-License-Identifier: BSD-3-Clause
// Windows: creation, release, memory, hints. Only the hint alloc_shared_noncontig has an effect: each part of a shared
// window then has its own memory. The other hints are promises that this implementation does not need: locks cost
// nothing until they are taken; accumulates are always in order and the same for all operators.
#include "rma/create.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "coll/call/collectives.hpp"
#include "coll/call/internal.hpp"
#include "coll/comm/derive.hpp"
#include "coll/match/call_record.hpp"
#include "p2p/engine.hpp"
#include "rma/am_messages.hpp"
#include "rma/epochs.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/flag.hpp"
#include "runtime/memory/address_window.hpp"
#include "runtime/memory/placement.hpp"

namespace tutti::rma {
namespace {

bool is_true(std::string const& text) { return text == "true" || text == "1" || text == "yes"; }
bool is_boolean(std::string const& text) { return is_true(text) || text == "false" || text == "0" || text == "no"; }

/// Values that are not booleans leave the present value unchanged.
void set_boolean(Info& info, Info const& requested, char const* key, bool* result = nullptr) {
    std::string const* value = requested.find(key);
    if (!value || !is_boolean(*value)) return;
    info.set(key, is_true(*value) ? "true" : "false");
    if (result) *result = is_true(*value);
}

}   // namespace

void init_hints(Window& window, Hints requested) {
    window.info = Ref<Info>::adopt(new Info);
    Info& info = *window.info;
    info.set("no_locks", "false");
    info.set("accumulate_ordering", "rar,raw,war,waw");
    info.set("accumulate_ops", "same_op_no_op");
    info.set("mpi_accumulate_granularity", "0");
    info.set("same_size", "false");
    info.set("same_disp_unit", "false");
    if (window.flavor == Flavor::shared) info.set("alloc_shared_noncontig", "false");
    if (!requested) return;
    set_boolean(info, *requested, "same_size");
    set_boolean(info, *requested, "same_disp_unit");
    if (window.flavor == Flavor::shared) set_boolean(info, *requested, "alloc_shared_noncontig", &window.noncontiguous);
    set_info(window, *requested);
}

void set_info(Window& window, Info const& requested) {
    set_boolean(*window.info, requested, "no_locks");
    for (char const* key : {"accumulate_ops", "accumulate_ordering", "mpi_accumulate_granularity"})
        if (std::string const* value = requested.find(key)) window.info->set(key, *value);
    if (window.access_log)
        window.access_log->ordering = AccumulateOrdering::parse(*window.info->find("accumulate_ordering"));
}

// Creation has three collective steps: each member publishes its contribution (PartInfo); each finds out how it can
// access the memory of the others; they agree, for each target, on an access method that all ranks of its node can use.
namespace {
/// Contribution of one member. Trivially copyable, for an allgather.
struct PartInfo {
    std::uint64_t address = 0;   ///< of its memory, in its own address space
    std::int64_t bytes = 0;
    std::uint64_t control = 0;   ///< offset in its node's segment
    std::uint64_t segment = 0;   ///< offset of its memory in the segment; 0: not in the segment
    std::uint64_t block = 0;     ///< size of the block of MPI's that contains the memory; 0: the program's memory
    std::uint64_t before = 0;    ///< bytes of that block before the part
    std::int32_t disp_unit = 1;
    std::uint32_t local_rank = 0;   ///< local rank of the process in whose address space it is
    AccessPath path = AccessPath::load_store;
    std::int32_t failed = 0;          ///< no memory could be allocated
    bool has_remote_fences = false;   ///< see NodeMembers
};

/// Creates the window with its list of the ranks of this node.
Ref<Window> begin_creation(Comm& parent, Flavor flavor, Hints hints) {
    auto made = Ref<Window>::adopt(new Window(parent.process, coll::duplicate_bare(parent), flavor));
    made->comm->wait_policy = parent.policy();
    made->comm->report_name = parent.description();   // until the window has a description
    Window& w = *made;
    init_hints(w, hints);
    w.targets.resize(static_cast<std::size_t>(w.size()));
    for (int r = 0; r < w.size(); ++r) {
        if (!w.process.cluster.is_local(w.comm->world_rank(r))) continue;
        Target& t = w.target(r);
        t.member = static_cast<unsigned>(w.on_node.size());
        t.local_rank = static_cast<unsigned>(w.process.cluster.local_rank_of(w.comm->world_rank(r)));
        w.on_node.push_back(r);
    }
    w.multi_node = w.on_node.size() != w.targets.size();
    w.posts_used.resize(w.on_node.size());
    w.completes_used.resize(w.on_node.size());
    return made;
}

/// Sets `failed` if there is no memory.
void allocate_control(Window& w, PartInfo& mine) {
    try {
        mine.control = w.control_offset = w.process.heap.allocate(Control::bytes(w.on_node.size()));
        Control& control = *reinterpret_cast<Control*>(w.process.segment.at(mine.control));
        RankState const& me = w.process.rank_state();
        control.process = me.process.load(std::memory_order_relaxed);
        control.pid_namespace = me.pid_namespace.load(std::memory_order_relaxed);
        control.world_rank = w.process.rank();
    } catch (Error const&) { mine.failed = 1; }
}

std::vector<PartInfo> exchange_parts(Window& w, PartInfo const& mine) {
    std::vector<PartInfo> all(w.targets.size());
    coll::allgather_bytes(*w.comm, &mine, sizeof mine, all.data());
    if (std::ranges::none_of(all, &PartInfo::failed)) return all;
    // No other rank has accessed anything of this window yet, so it can be freed immediately.
    if (w.control_offset) w.process.heap.release(w.control_offset);
    release_memory(w);
    fail(ErrorClass::no_mem, "not enough shared memory for a window of ", w.size(), w.size() == 1 ? " rank" : " ranks");
}

/// Returns the address in this process of the memory of a member of its node; null: it is not mapped.
std::byte* find_mapping(Window& w, PartInfo const& b) {
    if (b.local_rank == w.process.local_rank()) return reinterpret_cast<std::byte*>(b.address);
    if (b.segment) return w.process.segment.at(b.segment);
    // A part without bytes may begin at the end of its block, so the whole block is mapped.
    std::uint64_t const bytes = b.block ? b.block : static_cast<std::uint64_t>(b.bytes);
    if (bytes == 0) return nullptr;
    std::byte* const block = w.process.single_copy.local_address(b.local_rank, b.address - b.before, bytes);
    return block ? block + b.before : nullptr;
}

/// Returns the best access method of this process to the memory of a member of its node.
AccessMethod probe_access(Window& w, Target& t, PartInfo const& b) {
    using enum AccessMethod;
    SingleCopy& copy = w.process.single_copy;
    bool const mine = b.local_rank == w.process.local_rank();
    std::byte first;
    if (w.flavor == Flavor::dynamic)   // probes a byte outside of its arena
        return mine || copy.read(b.local_rank, b.address, &first, 1) ? load_store : active_messages;
    t.memory = find_mapping(w, b);
    if (mine || t.memory || b.bytes == 0) return load_store;
    return b.path != AccessPath::staged && copy.read(b.local_rank, b.address, &first, 1) ? cma : active_messages;
}

void fill_targets(Window& w, std::vector<PartInfo> const& all) {
    for (std::size_t r = 0; r < all.size(); ++r) {
        Target& t = w.targets[r];
        t.address = all[r].address;
        t.bytes = static_cast<std::uint64_t>(all[r].bytes);
        t.disp_unit = all[r].disp_unit;
        t.method = AccessMethod::active_messages;
    }
    w.members.has_remote_fences = true;
    for (int r : w.on_node) {
        Target& t = w.target(r);
        PartInfo const& b = all[static_cast<std::size_t>(r)];
        t.control = reinterpret_cast<Control*>(w.process.segment.at(b.control));
        if (r == w.rank()) {
            w.members.own_control = t.control;
            w.members.own_index = w.members.controls.size();
        }
        w.members.controls.push_back(t.control);
        w.members.has_remote_fences &= b.has_remote_fences;
        t.method = probe_access(w, t, b);
    }
}

/// Collective. Each target gets the worst access method that any rank of its node has found.
void agree_on_methods(Window& w) {
    std::vector<AccessMethod> mine, all(w.targets.size());
    for (Target const& t : w.targets) mine.push_back(t.control ? t.method : AccessMethod::load_store);
    AccessMethod const worst = *std::ranges::max_element(mine);
    coll::allgather_bytes(*w.comm, &worst, sizeof worst, all.data());
    w.may_need_messages = w.flavor == Flavor::dynamic && w.on_node.size() > 1;   // its memory is attached later
    if (*std::ranges::max_element(all) == AccessMethod::load_store) return;
    all.resize(w.targets.size() * w.targets.size());
    coll::allgather_bytes(*w.comm, mine.data(), mine.size() * sizeof(AccessMethod), all.data());
    for (std::size_t at = 0; at < all.size(); ++at) {
        Target& t = w.targets[at % w.targets.size()];
        if (t.control) t.method = std::max(t.method, all[at]);
    }
    auto const any_target_uses = [&w](AccessMethod method) {
        return std::ranges::any_of(w.on_node, [&](int r) { return w.target(r).method == method; });
    };
    w.needs_messages = any_target_uses(AccessMethod::active_messages);
    w.may_need_messages |= any_target_uses(AccessMethod::cma);
    for (int r : w.on_node) {
        Target& t = w.target(r);
        // After a refused copy, no rank of the node tries again (SingleCopy::cma), even if its probe succeeded.
        if (w.needs_messages && t.method == AccessMethod::cma) t.method = AccessMethod::active_messages;
        if (w.flavor == Flavor::dynamic) t.method = AccessMethod::load_store;   // determined at each access
        t.uses_atomics = t.method != AccessMethod::cma;
        if (t.method != AccessMethod::load_store && r != w.rank()) t.memory = nullptr;
    }
}

void connect(Window& w, PartInfo mine) {
    w.bytes = mine.bytes;
    w.disp_unit = mine.disp_unit;
    allocate_control(w, mine);
    // Where ranks share cores, interrupting all of them costs more than a fence in each small operation.
    mine.has_remote_fences = !w.process.segment.header().oversubscribed() && register_for_fences();
    std::vector<PartInfo> const all = exchange_parts(w, mine);
    fill_targets(w, all);
    agree_on_methods(w);
    for (Target& t : w.targets) t.mapped = t.memory ? t.bytes : 0;
    if (!w.serves_commands() && !w.may_need_messages) return;
    create_active_messages(w);
    coll::execute(coll::BoundCall<coll::BarrierArgs>{*w.comm, coll::Collective::barrier, {}});
}

/// Final step of creating a window.
Ref<Window> finish_creation(Ref<Window> w) {
    start_serving(*w);
    w->comm->report_name = w->description();
    if (w->access_log && w->size() == w->process.size()) [[unlikely]]
        p2p::engine(w->process).checks()->call_order.on_global_sync();   // all ranks have published their contribution
    return w;
}

/// Collective. Returns true if all ranks of the node can map each other's arenas.
bool can_all_map_arenas(Window& w) {
    std::vector<char> all(w.targets.size());
    char const mine = w.process.single_copy.maps_arenas();
    coll::allgather_bytes(*w.comm, &mine, 1, all.data());
    return std::ranges::all_of(w.on_node, [&](int r) { return all[static_cast<std::size_t>(r)] != 0; });
}

/// Returns the contribution of a member whose memory the window allocates.
PartInfo allocate_part(Window& w, std::int64_t bytes, int disp_unit) {
    PartInfo mine{.bytes = bytes, .disp_unit = disp_unit, .local_rank = w.process.local_rank()};
    mine.failed = !allocate_memory(w, bytes, can_all_map_arenas(w));
    mine.address = reinterpret_cast<std::uint64_t>(w.base);
    mine.segment = w.segment_block;
    mine.block = block_bytes(bytes);
    return mine;
}

/// Collective. Returns this process's part of a block that the first member allocates for all members, by rank.
PartInfo allocate_in_block(Window& w, std::int64_t bytes, int disp_unit) {
    std::vector<std::int64_t> sizes(w.targets.size());
    coll::allgather_bytes(*w.comm, &bytes, sizeof bytes, sizes.data());
    auto const mine = sizes.begin() + w.rank();
    std::int64_t const before = std::accumulate(sizes.begin(), mine, std::int64_t{0}),
                       total = std::accumulate(mine, sizes.end(), before);
    bool const arenas = can_all_map_arenas(w);
    PartInfo block{.disp_unit = disp_unit, .local_rank = w.process.local_rank()};
    if (w.rank() == 0) {
        block.failed = !allocate_memory(w, total, arenas);
        block.address = reinterpret_cast<std::uint64_t>(w.base);
        block.segment = w.segment_block;
        block.block = block_bytes(total);
    }
    coll::bcast_bytes(*w.comm, &block, sizeof block, 0);
    block.disp_unit = disp_unit;
    block.bytes = bytes;
    block.before = static_cast<std::uint64_t>(before);
    block.address += block.before;
    if (block.segment) block.segment += block.before;
    return block;
}

}   // namespace

Ref<Window> create(Comm& parent, void* base, std::int64_t bytes, int disp_unit, Hints hints) {
    Ref<Window> made = begin_creation(parent, Flavor::create, hints);
    made->base = base;
    PartInfo mine{.address = reinterpret_cast<std::uint64_t>(base),
                  .bytes = bytes,
                  .disp_unit = disp_unit,
                  .local_rank = made->process.local_rank()};
    if (bytes != 0) mine.path = made->process.single_copy.access_path(base, static_cast<std::size_t>(bytes));
    connect(*made, mine);
    return finish_creation(std::move(made));
}

Ref<Window> allocate(Comm& parent, std::int64_t bytes, int disp_unit, Hints hints) {
    Ref<Window> made = begin_creation(parent, Flavor::allocate, hints);
    connect(*made, allocate_part(*made, bytes, disp_unit));
    return finish_creation(std::move(made));
}

Ref<Window> create_dynamic(Comm& parent, Hints hints) {
    Ref<Window> made = begin_creation(parent, Flavor::dynamic, hints);
    made->process.single_copy.expose(&made->bytes, 1);   // attached memory may be anywhere
    connect(*made,
            {.address = reinterpret_cast<std::uint64_t>(&made->bytes), .local_rank = made->process.local_rank()});
    for (Target& t : made->targets) {
        t.bytes = ~0ULL >> 1;
        t.address = 0;   // displacements are addresses
    }
    return finish_creation(std::move(made));
}

/// The first member of the node allocates one block for all, so that the parts are contiguous in every process.
Ref<Window> allocate_shared(Comm& parent, std::int64_t bytes, int disp_unit, Hints hints) {
    Ref<Window> made = begin_creation(parent, Flavor::shared, hints);
    Window& w = *made;
    if (w.multi_node)
        fail(ErrorClass::rma_shared,
             "comm has ranks on several nodes; split it by MPI_Comm_split_type with MPI_COMM_TYPE_SHARED");
    if (w.access_log) p2p::engine(w.process).checks()->call_order.on_shared_memory();
    PartInfo const mine = w.noncontiguous ? allocate_part(w, bytes, disp_unit) : allocate_in_block(w, bytes, disp_unit);
    connect(w, mine);
    w.base = w.target(w.rank()).memory;
    place_part(w);
    return finish_creation(std::move(made));
}

void attach(Window& window, void* base, std::int64_t bytes) {
    if (window.flavor != Flavor::dynamic)
        fail(ErrorClass::rma_flavor, "win was not created by MPI_Win_create_dynamic, so no memory can be attached");
    auto const first = reinterpret_cast<std::uint64_t>(base), end = first + static_cast<std::uint64_t>(bytes);
    for (auto const& [other, length] : window.attached)
        if (other < end && first < other + length)
            fail(ErrorClass::rma_attach, "memory of ", bytes, " bytes at ", base, " overlaps attached memory: ", length,
                 " bytes at ", reinterpret_cast<void*>(other));
    window.attached.emplace(first, static_cast<std::uint64_t>(bytes));
    window.process.single_copy.access_path(base, static_cast<std::size_t>(bytes));
}

void detach(Window& window, void const* base) {
    if (window.flavor != Flavor::dynamic)
        fail(ErrorClass::rma_flavor, "win was not created by MPI_Win_create_dynamic, so it has no attached memory");
    if (window.attached.erase(reinterpret_cast<std::uint64_t>(base)) == 0)
        fail(ErrorClass::rma_attach, "no memory is attached at ", base);
}

void check_closed(Window const& window, char const* doing) {
    std::string const open = open_epochs(window);
    if (!open.empty() && window.global_epoch != AccessEpoch::fence)
        fail(ErrorClass::rma_sync, doing, " while ", open, " is open");
}

void free(Ref<Window> window) {
    Window& w = *window;
    if (w.access_log) {
        exchange_at_free(w, "MPI_Win_free");
        exchange_shared(w, "MPI_Win_free");
    }
    coll::execute(coll::BoundCall<coll::BarrierArgs>{*w.comm, coll::Collective::barrier, {}, "MPI_Win_free"});
    compare_at_free(w);
    w.active_messages.reset();
    release_memory(w);
    w.process.heap.release(w.control_offset);
}

WindowPart shared_query(Window& window, int rank) {
    if (window.access_log) p2p::engine(window.process).checks()->call_order.on_shared_memory();
    if (window.flavor == Flavor::dynamic)
        fail(ErrorClass::rma_flavor, "win was created by MPI_Win_create_dynamic, so it has no memory of its own");
    if (rank == proc_null) {
        auto const some = std::ranges::find_if(window.on_node, [&](int r) { return window.target(r).bytes != 0; });
        rank = some == window.on_node.end() ? window.on_node.front() : *some;
    }
    Target const& t = window.target(rank);
    if (!t.control || !t.memory) return {0, static_cast<int>(t.disp_unit), nullptr};
    return {static_cast<std::int64_t>(t.bytes), static_cast<int>(t.disp_unit), t.memory};
}

bool allocate_memory(Window& window, std::int64_t size, bool from_arena) {
    Process& process = window.process;
    std::size_t const bytes = block_bytes(size);
    if (from_arena && process.arena) {
        window.arena_block = bytes < huge_page_bytes ? process.arena->allocate_zeroed(bytes)
                                                     : process.arena->allocate(bytes, huge_page_bytes);
        if (window.arena_block && bytes >= huge_page_bytes) std::memset(window.arena_block, 0, bytes);
        window.base = window.arena_block;
    }
    if (window.arena_block) return true;
    try {
        window.segment_block = process.heap.allocate(bytes);
    } catch (Error const&) { return false; }
    window.base = process.segment.at(window.segment_block);
    return true;
}

void release_memory(Window& window) {
    if (window.arena_block) window.process.arena->release(window.arena_block);
    if (window.segment_block) window.process.heap.release(window.segment_block);
    window.arena_block = nullptr;
    window.segment_block = 0;
}

void place_part(Window& window) {
    Segment const& segment = window.process.segment;
    int const node = numa_node_of(segment, window.process.local_rank());
    if (!places_memory(segment) || node < 0) return;
    auto const begin = reinterpret_cast<std::uintptr_t>(window.base),
               first = (begin + numa_page - 1) / numa_page * numa_page,
               end = (begin + static_cast<std::uintptr_t>(window.bytes)) / numa_page * numa_page;
    if (first < end) segment.numa()->move(reinterpret_cast<std::byte*>(first), end - first, node);
}

}   // namespace tutti::rma
