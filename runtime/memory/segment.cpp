// SPDX-License-Identifier: BSD-3-Clause
// Computes, creates and maps the node segment.
#include "runtime/memory/segment.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/base/limits.hpp"
#include "runtime/base/process_identity.hpp"
#include "runtime/memory/address_window.hpp"
#include "runtime/memory/placement.hpp"
#include "runtime/memory/segment_layout.hpp"
#include "runtime/settings/cluster.hpp"

namespace tutti {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t mega = 1 << 20;
constexpr std::uint64_t giga = 1 << 30;

std::uint64_t round_up(std::uint64_t n, std::uint64_t to) { return (n + to - 1) / to * to; }

std::uint64_t system_page() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

struct Texts {
    std::string_view machine, tuning, cluster;
};

/// Returns a layout with the given values; the rest follows from them.
SegmentLayout initial_layout(unsigned ranks, unsigned world_size, Texts const& texts, std::size_t numa_nodes,
                             std::uint64_t traced_events) {
    SegmentLayout h{};
    h.magic = SegmentLayout::expected_magic;
    h.trace_bytes = traced_events > 0 ? round_up(Trace::bytes(traced_events), page) : 0;
    h.ranks = ranks;
    h.world_size = world_size;
    h.machine_bytes = static_cast<std::uint32_t>(texts.machine.size());
    h.tuning_bytes = static_cast<std::uint32_t>(texts.tuning.size());
    h.cluster_bytes = static_cast<std::uint32_t>(texts.cluster.size());
    h.numa_nodes = static_cast<std::uint32_t>(numa_nodes);
    return h;
}

// Arenas are optional: if the system does not permit so long a file, windows are halved and finally omitted.
bool set_file_length(int descriptor, SegmentLayout& layout, std::uint64_t window) {
    std::uint64_t const limit = limit_on(RLIMIT_FSIZE);   // exceeding it raises a signal
    layout.arena_bytes = window;
    for (; layout.arena_bytes >= min_window_bytes; layout.arena_bytes /= 2) {
        std::uint64_t const whole = layout.arenas + layout.ranks * layout.arena_bytes;
        if (whole <= limit && ftruncate(descriptor, static_cast<off_t>(whole)) == 0) return true;
    }
    layout.arena_bytes = 0;
    if (layout.bytes <= limit) return ftruncate(descriptor, static_cast<off_t>(layout.bytes)) == 0;
    return errno = EFBIG, false;
}

}   // namespace

unsigned SegmentLayout::heap_levels() const {
    return static_cast<unsigned>(std::bit_width(heap_bytes / first_level_bytes));
}

/// Makes everything up to `end` accessible except the pairs, each of which is opened when it is used.
bool Segment::open_up_to(std::byte* base, SegmentLayout const& layout, std::uint64_t end) {
    std::uint64_t const unit = system_page(), behind = layout.world_area / unit * unit;
    return open_window(base, layout.inboxes) && open_window(base + behind, end - behind);
}

// Maps as many levels of the heaps as the system has addresses for; the first is accessible from the start.
Segment::Mapping Segment::map(int descriptor, SegmentLayout const& layout) {
    unsigned levels = layout.heap_levels();
    while (levels > 1 && layout.heap_level(levels) > addresses_for_windows()) --levels;
    for (; levels > 0; --levels) {
        std::uint64_t const bytes = layout.heap_level(levels), accessible = layout.heap_level(1);
        void* const p = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
        if (p == MAP_FAILED) continue;
        auto* const base = static_cast<std::byte*>(p);
        // A core file of a rank contains its own memory only.
        if (madvise(p, bytes, MADV_DONTDUMP) == 0 && open_up_to(base, layout, accessible))
            return {base, bytes, accessible};
        int const error = errno;
        munmap(p, bytes);
        errno = error;
    }
    return {};
}

/// Keeps all ranks from allocating from levels that this process has not mapped.
void Segment::publish_unmapped_levels() const {
    std::uint32_t missing = 0;
    while (layout_.heap_level(layout_.heap_levels() - missing) > bytes_) ++missing;
    std::uint32_t seen = header().unmapped_levels.load(std::memory_order_relaxed);
    while (seen < missing && !header().unmapped_levels.compare_exchange_weak(seen, missing)) {}
}

void Segment::open_level_of(std::uint64_t offset) const {
    std::uint64_t end = 0;
    for (unsigned level = 1; end <= offset && level <= layout_.heap_levels(); ++level) end = layout_.heap_level(level);
    if (end > bytes_ || offset >= end)
        fail(ErrorClass::no_mem, "this rank lacks address space to map the heaps of its peers", limit_behind(ENOMEM));
    if (!open_up_to(base_, layout_, end))
        fail(ErrorClass::no_mem, "this rank cannot access the heaps of its peers: ", std::strerror(errno));
    std::uint64_t seen = accessible_.load(std::memory_order_relaxed);
    while (seen < end && !accessible_.compare_exchange_weak(seen, end)) {}
}

Segment Segment::create(unsigned ranks, std::string_view machine, std::string_view tuning, std::string_view cluster,
                        SegmentCreator maker, NumaHomes const* homes, std::uint64_t traced_events) {
    auto const cluster_map = cluster.empty() ? Cluster::one_node(static_cast<int>(ranks)) : Cluster::from_text(cluster);
    if (!cluster_map) fail(ErrorClass::other, cluster_map.error());
    if (cluster_map->local_size() != static_cast<int>(ranks))
        fail(ErrorClass::other, ranks, " ranks share a node's segment, but the job has ", cluster_map->local_size(),
             " ranks on this node");
    Texts const texts{machine, tuning, cluster};
    NumaSystem* const numa = homes ? homes->system : nullptr;
    if (ranks > max_ranks)
        fail(ErrorClass::other, ranks, " ranks on one node exceed the maximum of ", max_ranks,
             " ranks that can share memory; use more nodes");
    int descriptor = create_memory_file("tutti", maker == SegmentCreator::rank ? MFD_CLOEXEC : 0);
    if (descriptor < 0) fail(ErrorClass::no_mem, "memfd_create failed: ", std::strerror(errno), limit_behind(errno));
    // A small address limit (ulimit -v) causes smaller heaps and windows, not a failure: half of it is left to the
    // program.
    std::uint64_t const share = addresses_for_windows();
    std::uint64_t const window = maker == SegmentCreator::launcher ? window_bytes(ranks, share) : 0;
    std::uint64_t const wanted = std::bit_floor(std::max(512 * mega, std::min(4 * giga, 2048 * giga / ranks)));
    for (std::uint64_t heap = wanted; heap >= 4 * mega; heap /= 2) {
        SegmentLayout layout = initial_layout(ranks, static_cast<unsigned>(cluster_map->size()), texts,
                                              numa ? numa->nodes().size() : 0, traced_events);
        layout.heap_bytes = heap;
        compute_layout(layout);
        if (layout.bytes > share || !set_file_length(descriptor, layout, window)) continue;
        Mapping const mapping = map(descriptor, layout);
        if (mapping.bytes < layout.bytes) {
            if (mapping.base) munmap(mapping.base, mapping.bytes);
            continue;
        }
        std::byte* const base = mapping.base;
        auto& header = *new (base) SegmentHeader{};
        static_cast<SegmentLayout&>(header) = layout;
        if (maker == SegmentCreator::launcher) {
            header.launcher = getpid();
            header.launcher_namespace = pid_namespace();
        }
        Segment segment(descriptor, mapping, layout);
        segment.numa_ = numa;
        if (numa) place_ranks(segment, *homes);
        auto* text = reinterpret_cast<char*>(base + layout.machine);
        for (std::string_view one : {machine, tuning, cluster}) text += one.copy(text, one.size());
        for (unsigned rank = 0; rank < ranks; ++rank) {
            segment.rank_state(rank).world_rank = cluster_map->world_rank_at(static_cast<int>(rank));
            segment.rank_state(rank).arena_bytes = layout.arena_bytes;
            if (Trace* const trace = segment.trace(rank)) trace->capacity = traced_events;
        }
        // A rank can move only pages that no other process has mapped, so this process unmaps those of the
        // rank states.
        if (numa) advise(base + layout.rank_states, layout.call_statistics - layout.rank_states, MADV_DONTNEED);
        return segment;
    }
    int error = errno;
    close(descriptor);
    fail(ErrorClass::no_mem, "no address space for the shared memory of ", ranks, " ranks: ", std::strerror(error),
         limit_behind(error));
}

/// Returns true if the layout was computed by a build with other sizes of a rank's entries, and is consistent
/// otherwise.
static bool is_of_other_build(SegmentLayout const& layout, std::uint64_t file_bytes) {
    constexpr std::uint64_t page = 4096;
    auto const pages = [](std::uint64_t bytes) { return (bytes + page - 1) / page * page; };
    auto const is_of = [&](std::uint64_t bytes, std::uint64_t type) { return bytes == type || bytes == pages(type); };
    bool const differs = layout.rank_states != pages(sizeof(SegmentHeader)) ||
                         !is_of(layout.rank_state_bytes, sizeof(RankState)) ||
                         !is_of(layout.call_statistics_bytes, sizeof(CallStatistics));
    auto const of_a_type = [](std::uint64_t bytes) { return bytes % alignof(std::uint64_t) == 0; };
    bool const plausible = of_a_type(layout.rank_state_bytes) && of_a_type(layout.call_statistics_bytes) &&
                           layout.ranks > 0 && layout.ranks <= Segment::max_ranks &&
                           layout.rank_state_bytes <= file_bytes && layout.call_statistics_bytes <= file_bytes &&
                           layout.arena_bytes <= file_bytes;
    std::uint64_t const end =
        layout.arena_bytes == 0 ? layout.bytes : layout.arenas + layout.ranks * layout.arena_bytes;
    return differs && plausible && end == file_bytes &&
           layout.call_statistics == layout.rank_states + pages(layout.ranks * layout.rank_state_bytes) &&
           layout.machine == layout.call_statistics + pages(layout.ranks * layout.call_statistics_bytes);
}

static constexpr char one_build[] =
    "start the program with the mpiexec that belongs to its libmpi.so.12: ldd shows which one it loads";

Segment Segment::attach(int descriptor) {
    struct stat info {};
    SegmentLayout layout{};
    if (fstat(descriptor, &info) != 0 || pread(descriptor, &layout, sizeof layout, 0) != sizeof layout)
        fail(ErrorClass::other, "descriptor ", descriptor, " is not a segment of this job");
    if (layout.magic != SegmentLayout::expected_magic)
        throw Error(ErrorClass::other, join("descriptor ", descriptor,
                                            " is a segment of another version of Tutti, or a rank has overwritten it "
                                            "through a wrong pointer"))
            .with_help(one_build);
    if (is_of_other_build(layout, static_cast<std::uint64_t>(info.st_size)))
        throw Error(ErrorClass::other,
                    "mpiexec and the MPI library of this program come from different builds of Tutti")
            .with_help(one_build);
    if (!is_valid_layout(layout, static_cast<std::uint64_t>(info.st_size)))
        fail(ErrorClass::other,
             "the header of the memory that the ranks of this node share has been overwritten: a rank has stored "
             "through "
             "a wrong pointer");
    Mapping const mapping = map(descriptor, layout);
    if (!mapping.base)
        fail(ErrorClass::no_mem, "the segment of this job cannot be mapped: ", std::strerror(errno),
             limit_behind(errno));
    Segment segment(descriptor, mapping, layout);
    segment.publish_unmapped_levels();
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);   // programs that a rank starts are not ranks
    if (layout.numa_nodes > 1 && kernel_numa().unavailable_reason().empty()) segment.numa_ = &kernel_numa();
    return segment;
}

Segment::Segment(Segment&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), base_(std::exchange(other.base_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)), layout_(other.layout_), accessible_(other.accessible_.exchange(0)),
      numa_(other.numa_) {}

Segment& Segment::operator=(Segment&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    std::swap(layout_, other.layout_);
    accessible_ = other.accessible_.exchange(accessible_);
    std::swap(numa_, other.numa_);
    return *this;
}

Segment::~Segment() {
    if (base_) munmap(base_, bytes_);
    if (descriptor_ >= 0) close(descriptor_);
}

std::string_view Segment::machine() const {
    return {reinterpret_cast<char const*>(at(layout_.machine)), layout_.machine_bytes};
}

std::string_view Segment::tuning() const {
    return {reinterpret_cast<char const*>(at(layout_.machine)) + layout_.machine_bytes, layout_.tuning_bytes};
}

std::string_view Segment::cluster() const { return {tuning().data() + tuning().size(), layout_.cluster_bytes}; }

void Segment::publish_arena(unsigned rank, ArenaWindow const& window) const {
    std::uint64_t const share = max_window_addresses / ranks() / huge_page_bytes * huge_page_bytes;
    rank_state(rank).arena_file = window.file;
    rank_state(rank).arena_bytes =
        std::min(window.bytes, share);   // blocks beyond are treated as memory outside of arenas
    rank_state(rank).arena_base = window.base;
}

std::byte* Segment::pair(unsigned receiver, unsigned sender) const {
    return base_ + layout_.inboxes +
           (static_cast<std::uint64_t>(receiver) * layout_.ranks + sender) * layout_.pair_bytes;
}

bool Segment::open_pairs(unsigned one, unsigned other) const noexcept {
    std::uint64_t const unit = system_page();
    auto const open = [&](std::uint64_t first, std::uint64_t bytes) {
        std::uint64_t const from = first / unit * unit;
        return open_window(base_ + from, first + bytes - from);
    };
    bool const both =
        open(offset(pair(one, other)), layout_.pair_bytes) && open(offset(pair(other, one)), layout_.pair_bytes);
    // If the system grants no more mappings, all pairs become one.
    return both || open(layout_.inboxes, layout_.world_area - layout_.inboxes);
}

std::byte* Segment::bells(unsigned receiver) const { return at(layout_.ring_rows + receiver * layout_.ring_row_bytes); }

std::byte* Segment::ring_start(unsigned receiver, unsigned sender) const {
    return bells(receiver) + round_up(ranks(), cache_line) + sender * ring_start_bytes;
}

std::span<std::byte> Segment::heap(unsigned rank, unsigned level) const {
    std::uint64_t const bytes = layout_.heap_level_bytes(level);
    return {at(layout_.heap_level(level) + rank * bytes), bytes};
}

bool Segment::punch_hole(std::uint64_t offset, std::uint64_t bytes) const {
    std::uint64_t first = round_up(offset, page), last = (offset + bytes) / page * page;
    return last <= first || fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                      static_cast<off_t>(first), static_cast<off_t>(last - first)) == 0;
}

}   // namespace tutti
