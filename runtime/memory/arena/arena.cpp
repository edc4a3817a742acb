// SPDX-License-Identifier: BSD-3-Clause
// Claims the window, and allocates and frees blocks.
#include "runtime/memory/arena/arena.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/process_identity.hpp"
#include "runtime/memory/address_window.hpp"
#include "runtime/memory/segment_layout.hpp"

namespace tutti::arena {
namespace {

std::uintptr_t round_up(std::uintptr_t n, std::size_t to) { return (n + to - 1) / to * to; }

/// Returns true if the system accounts for memory before it is touched (vm.overcommit_memory = 2). Shared files are
/// then refused at the first touch, by a signal, where ordinary malloc would have returned a null pointer, so an
/// arena must not be used.
bool has_strict_overcommit() {
    int const file = ::open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
    char mode = 0;
    bool const strict = file >= 0 && read(file, &mode, 1) == 1 && mode == '2';
    if (file >= 0) ::close(file);
    return strict;
}

/// Returns true if this process may take over a window that `owner` has claimed: it is the same process, or `owner`
/// has ended.
bool can_take_over(pid_t owner, std::uint64_t owners_namespace) {
    if (!same_pid_namespace(pid_namespace(), owners_namespace)) return false;
    return owner == getpid() || (kill(owner, 0) != 0 && errno == ESRCH);
}

[[noreturn]] void abort_on_invalid_pointer(char const* what, void const* block) {
    char line[128] = "tutti: ";
    std::size_t n = std::strlen(line);
    for (char const* c = what; *c && n < 60; ++c) line[n++] = *c;
    for (char const* c = "(): 0x"; *c; ++c) line[n++] = *c;
    for (int shift = 44; shift >= 0; shift -= 4)
        line[n++] = "0123456789abcdef"[reinterpret_cast<std::uintptr_t>(block) >> shift & 15];
    for (char const* c = " is not an allocated block\n"; *c; ++c) line[n++] = *c;
    if (write(2, line, n) < 0) {}   // the program ends in any case
    std::abort();
}

/// Makes memory accessible, including its neighbourhood on the same pages.
bool make_accessible(std::uintptr_t first, std::uintptr_t end, std::size_t page) {
    first = first / page * page;
    return mprotect(reinterpret_cast<void*>(first), round_up(end, page) - first, PROT_READ | PROT_WRITE) == 0;
}

std::size_t system_page() {
    long const bytes = sysconf(_SC_PAGESIZE);
    return bytes > 0 ? static_cast<std::size_t>(bytes) : page_bytes;
}

}   // namespace

State Arena::open(int descriptor, unsigned rank, Options const& options) {
    Locked lock(shards_[0]);
    if (state_ == State::closed) {
        State const found = claim(descriptor, rank, options);
        state_.store(found, std::memory_order_release);
    }
    return state_;
}

State Arena::open(Options const& options) {
    Locked lock(shards_[0]);
    if (state_ == State::closed) state_.store(claim_file(options), std::memory_order_release);
    return state_;
}

ArenaWindow Arena::window() const {
    // Programs may close descriptors that they have not opened.
    bool const own = state() == State::open && !rank_state_;
    if (!own || memory_file(descriptor_) != file_ || !peers_may_open()) return {};
    return {file_, base_, bytes_};
}

State Arena::claim(int descriptor, unsigned rank, Options const& options) {
    struct stat info {};
    SegmentLayout layout{};   // a copy: a rank may overwrite the segment through a wrong pointer
    if (fstat(descriptor, &info) != 0 || pread(descriptor, &layout, sizeof layout, 0) != sizeof layout ||
        !is_valid_layout(layout, static_cast<std::uint64_t>(info.st_size)) || rank >= layout.ranks ||
        layout.arena_bytes == 0 || has_strict_overcommit())
        return State::refused;
    // Peers share windows all or nothing, and the limits of this process may be smaller than those of the launcher.
    if (layout.arena_bytes > addresses_for_windows() / (layout.ranks + 1)) return State::refused;
    // The pages that contain this rank's state.
    std::size_t const page = system_page(), at = layout.rank_states + rank * layout.rank_state_bytes,
                      first = at / page * page;
    rank_state_bytes_ = round_up(at + sizeof(RankState), page) - first;
    rank_state_page_ =
        mmap(nullptr, rank_state_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, static_cast<off_t>(first));
    if (rank_state_page_ == MAP_FAILED) return State::refused;
    rank_state_ = reinterpret_cast<RankState*>(static_cast<std::byte*>(rank_state_page_) + (at - first));
    std::int32_t const me = getpid();
    std::int32_t owner = 0;
    bool const fresh = rank_state_->arena_pid.compare_exchange_strong(owner, me, std::memory_order_acq_rel);
    if (!fresh && !can_take_over(owner, rank_state_->arena_pid_namespace.load(std::memory_order_acquire)))
        return State::refused;
    rank_state_->arena_pid.store(me, std::memory_order_relaxed);
    rank_state_->arena_pid_namespace.store(pid_namespace(), std::memory_order_release);

    offset_ = static_cast<off_t>(layout.arenas + rank * layout.arena_bytes);
    descriptor_ = duplicate_high(descriptor);
    if (descriptor_ < 0) return State::refused;
    // Drops the contents left by the program that this one replaces.
    if (!fresh && fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset_,
                            static_cast<off_t>(layout.arena_bytes)) != 0)
        return State::refused;
    State const found = map(layout.arena_bytes, options);
    if (found == State::open) rank_state_->arena_base.store(base_, std::memory_order_release);
    // A page that has other mappings is not moved to another NUMA node (runtime/memory/placement.hpp), so this mapping
    // drops its pages.
    if (layout.numa_nodes > 1) tutti::advise(rank_state_page_, rank_state_bytes_, MADV_DONTNEED);
    return found;
}

// The number of ranks is unknown yet and is assumed to be the number of processors. If that is too few, peers map as
// much of each window as fits (Segment::publish_arena).
State Arena::claim_file(Options const& options) {
    if (has_strict_overcommit()) return State::refused;
    long const ranks = sysconf(_SC_NPROCESSORS_ONLN);
    std::size_t bytes = window_bytes(ranks > 0 ? static_cast<std::uint64_t>(ranks) : 1, addresses_for_windows());
    descriptor_ = create_window_file(bytes);
    if (descriptor_ < 0) return State::refused;
    offset_ = 0;
    return map(bytes, options);
}

State Arena::map(std::size_t bytes, Options const& options) {
    void* window = map_window(descriptor_, offset_, bytes, options.huge_pages);
    if (!window) return State::refused;
    bookkeeping_bytes_ = PageRuns::bookkeeping(static_cast<Page>(bytes / page_bytes)) + shards * 64;
    bookkeeping_ = map_anonymous(bookkeeping_bytes_, PROT_NONE);
    if (!bookkeeping_) {
        munmap(window, bytes);
        return State::refused;
    }
    file_ = memory_file(descriptor_);
    base_ = reinterpret_cast<std::uintptr_t>(window);
    bytes_ = bytes;
    std::size_t const page = options.system_page != 0 ? options.system_page : system_page();
    system_page_ = page > page_bytes ? static_cast<Page>(page / page_bytes) : 1;
    divide(options);
    return State::open;
}

// The first shard has half of the window, the others equal parts of the rest; all begin on huge pages.
void Arena::divide(Options const& options) {
    std::size_t const part = bytes_ / 2 / (shards - 1) / huge_page_bytes * huge_page_bytes;
    std::uintptr_t base = base_;
    auto* bookkeeping = static_cast<std::byte*>(bookkeeping_);
    for (int i = 0; i < shards; ++i) {
        Shard& shard = shards_[i];
        shard.base = base;
        shard.bytes = i == 0 ? bytes_ / 2 : part;
        shard.accessible = 0;
        shard.bookkeeping_pages = 0;
        shard.keep = static_cast<Page>(options.keep / (i == 0 ? 1 : 8) / page_bytes);
        Page const pages = static_cast<Page>(shard.bytes / page_bytes);
        shard.runs.start(bookkeeping, pages);
        bookkeeping += round_up(PageRuns::bookkeeping(pages), 16);
        base += shard.bytes;
    }
}

Arena::Shard& Arena::shard_of(void const* block) {
    std::uintptr_t const offset = reinterpret_cast<std::uintptr_t>(block) - base_, first = shards_[0].bytes;
    if (offset < first) return shards_[0];
    std::size_t const i = 1 + (offset - first) / shards_[1].bytes;
    return shards_[i < shards ? i : shards - 1];
}

void Arena::close() {
    if (state_ != State::open) return;
    if (rank_state_) {
        rank_state_->arena_base.store(0, std::memory_order_release);
        rank_state_->arena_pid.store(0, std::memory_order_release);
        munmap(rank_state_page_, rank_state_bytes_);
    }
    drop_copies();
    last_child_.drop_mark();
    munmap(reinterpret_cast<void*>(base_), bytes_);
    munmap(bookkeeping_, bookkeeping_bytes_);
    ::close(descriptor_);
    rank_state_ = nullptr;
    base_ = bytes_ = 0;
    for (Shard& shard : shards_) shard.runs = PageRuns{};
    state_ = State::closed;
}

namespace {

/// Returns the shard of the calling thread: the first thread that asks has the large one for itself, all others use
/// one per core, so that short-lived threads reuse what earlier ones have freed.
int my_shard(int shards) {
    enum Kind : char { unknown, first, later };
    // A library that is loaded late has only a few bytes of this kind of thread-local storage, and must not allocate.
    [[gnu::tls_model("initial-exec")]] static thread_local Kind kind = unknown;
    static bool first_thread_seen = false;
    if (kind == unknown) kind = __atomic_exchange_n(&first_thread_seen, true, __ATOMIC_RELAXED) ? later : first;
    if (kind == first) return 0;
    int const core = sched_getcpu();
    return 1 + (core < 0 ? 0 : core) % (shards - 1);
}

}   // namespace

/// Returns the pages for `bytes`: whole system pages, at least one.
Page Arena::pages_for(std::size_t bytes) const {
    return static_cast<Page>(round_up(bytes == 0 ? 1 : bytes, system_page_ * page_bytes) / page_bytes);
}

template <class Each>
void* Arena::allocate_from(Shard& shard, Page pages, Page alignment, Each dirty) {
    if (pages > shard.bytes / page_bytes) return nullptr;
    Locked lock(shard);
    if (!shard.map_bookkeeping(pages + alignment)) return nullptr;
    Page const first = shard.runs.allocate(pages, alignment);
    if (first == PageRuns::none) return nullptr;
    if (!shard.open_used()) {
        shard.runs.free(first);
        return nullptr;
    }
    shard.runs.mark_dirty(first, pages,
                          [&](Page dirty_first, Page n) { dirty(shard.address(dirty_first), n * page_bytes); });
    return shard.address(first);
}

template <class Each>
void* Arena::allocate_pages(std::size_t bytes, std::size_t alignment, Each dirty) {
    if (alignment > huge_page_bytes || bytes > bytes_ || state() != State::open) return nullptr;
    Page const pages = pages_for(bytes);
    Page const on = alignment <= system_page_ * page_bytes ? system_page_ : static_cast<Page>(alignment / page_bytes);
    int const own_shard = my_shard(shards);
    void* block = allocate_from(shards_[own_shard], pages, on, dirty);
    return block || own_shard == 0 ? block : allocate_from(shards_[0], pages, on, dirty);
}

void* Arena::allocate(std::size_t bytes, std::size_t alignment) {
    return allocate_pages(bytes, alignment, [](void*, std::size_t) {});
}

void* Arena::allocate_zeroed(std::size_t bytes) {
    // Zeroing happens outside of the lock for the first 16 dirty stretches; further ones are zeroed with the
    // lock held.
    struct Stretch {
        std::byte* first;
        std::size_t bytes;
    } stretches[16];
    int n = 0;
    void* block = allocate_pages(bytes, page_bytes, [&](void* first, std::size_t length) {
        auto* at = static_cast<std::byte*>(first);
        if (n != 0 && stretches[n - 1].first + stretches[n - 1].bytes == at) stretches[n - 1].bytes += length;
        else if (n < 16) stretches[n++] = {at, length};
        else std::memset(at, 0, length);
    });
    for (int i = 0; i < n; ++i) std::memset(stretches[i].first, 0, stretches[i].bytes);
    return block;
}

/// Makes the bookkeeping accessible for a top that is at most `more` pages further, in large steps.
bool Arena::Shard::map_bookkeeping(Page more) {
    std::size_t const most = bytes / page_bytes, top = std::size_t{runs.top()} + more;
    std::size_t const wanted = top < most ? top : most;
    if (wanted <= bookkeeping_pages) return true;
    std::size_t end = wanted + wanted / 8 + 16 * huge_page_bytes / page_bytes;
    if (end > most) end = most;
    std::size_t const page = system_page();
    PageRuns::Parts const parts = runs.touched(static_cast<Page>(end));
    if (!make_accessible(parts.dirty.first, parts.dirty.end, page) ||
        !make_accessible(parts.runs.first, parts.runs.end, page))
        return false;
    bookkeeping_pages = static_cast<Page>(end);
    return true;
}

/// Makes accessible what blocks have reached, and includes it in core files, in large steps.
bool Arena::Shard::open_used() {
    std::size_t const reached = std::size_t{runs.top()} * page_bytes;
    if (reached <= accessible) return true;
    std::size_t end = round_up(reached + reached / 8, 2 * huge_page_bytes);
    if (end > bytes) end = bytes;
    void* const first = reinterpret_cast<void*>(base + accessible);
    if (!open_window(first, end - accessible)) return false;
    tutti::advise(first, end - accessible, MADV_DODUMP);
    accessible = end;
    return true;
}

Page Arena::Shard::checked(void const* block, char const* what) const {
    Page const first = page_of(block);
    if (address(first) != block || runs.used(first) == 0) abort_on_invalid_pointer(what, block);
    return first;
}

void Arena::release(void* block) {
    Shard& shard = shard_of(block);
    Locked lock(shard);
    Page const first = shard.checked(block, "free");
    forget_wiped(reinterpret_cast<std::uintptr_t>(block), std::size_t{shard.runs.used(first)} * page_bytes);
    shard.runs.free(first);
    drop_unshared_copies();
    Page const half = shard.runs.in_use() / 2, limit = shard.keep > half ? shard.keep : half;
    if (shard.runs.idle_dirty() <= limit || state_ != State::open) return;
    // Cleans down to half of what may be kept, so that not every further call needs the system.
    shard.runs.clean(limit / 2, [&](Page first, Page pages) {
        return madvise(shard.address(first), std::size_t{pages} * page_bytes, MADV_REMOVE) == 0;
    });
}

bool Arena::resize(void* block, std::size_t bytes) {
    Shard& shard = shard_of(block);
    if (bytes > shard.bytes) return false;
    Page const pages = pages_for(bytes);
    Locked lock(shard);
    Page const first = shard.checked(block, "realloc"), old = shard.runs.used(first);
    if (pages > old && (state_ != State::open || !shard.map_bookkeeping(pages - old))) return false;
    if (!shard.runs.resize(first, pages)) return false;
    if (!shard.open_used()) return shard.runs.resize(first, old), false;
    if (pages > old) shard.runs.mark_dirty(first + old, pages - old, [](Page, Page) {});
    return true;
}

std::size_t Arena::usable_size(void const* block) {
    Shard& shard = shard_of(block);
    Locked lock(shard);
    return std::size_t{shard.runs.used(shard.checked(block, "malloc_usable_size"))} * page_bytes;
}

Arena::Usage Arena::usage() {
    Usage all{};
    for (Shard& shard : shards_) {
        Locked lock(shard);
        all.in_use += std::size_t{shard.runs.in_use()} * page_bytes;
        all.kept += std::size_t{shard.runs.idle_dirty()} * page_bytes;
        all.highest += std::size_t{shard.runs.top()} * page_bytes;
    }
    return all;
}

}   // namespace tutti::arena
