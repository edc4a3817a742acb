// SPDX-License-Identifier: BSD-3-Clause
// Claiming the window, blocks, and fork.
#include "runtime/arena/arena.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/segment.hpp"

namespace tutti::arena {
namespace {

constexpr std::size_t huge_page = 2 << 20;

std::uintptr_t round_up(std::uintptr_t n, std::size_t to) { return (n + to - 1) / to * to; }

/// Does the system count memory before it is touched (vm.overcommit_memory = 2)? Shared files are then refused at the
/// touch, with a signal, where ordinary malloc would have refused with a null pointer: no place for an arena.
bool counts_strictly() {
    int const file = ::open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
    char mode = 0;
    bool const strict = file >= 0 && read(file, &mode, 1) == 1 && mode == '2';
    if (file >= 0) ::close(file);
    return strict;
}

/// An address range of whole huge pages over the file; null when the system does not grant it.
void* map_window(int descriptor, off_t offset, std::size_t bytes) {
    void* room = mmap(nullptr, bytes + huge_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return nullptr;
    std::uintptr_t const start = reinterpret_cast<std::uintptr_t>(room), at = round_up(start, huge_page);
    if (at != start) munmap(room, at - start);
    if (std::size_t const behind = start + huge_page - at; behind != 0)
        munmap(reinterpret_cast<void*>(at + bytes), behind);
    void* p = mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                   descriptor, offset);
    if (p != MAP_FAILED) return p;
    munmap(reinterpret_cast<void*>(at), bytes);
    return nullptr;
}

[[noreturn]] void wrong_pointer(char const* what, void const* block) {
    char line[128] = "tutti: ";
    std::size_t n = std::strlen(line);
    for (char const* c = what; *c && n < 60; ++c) line[n++] = *c;
    for (char const* c = "(): 0x"; *c; ++c) line[n++] = *c;
    for (int shift = 44; shift >= 0; shift -= 4)
        line[n++] = "0123456789abcdef"[reinterpret_cast<std::uintptr_t>(block) >> shift & 15];
    for (char const* c = " is no block that was allocated\n"; *c; ++c) line[n++] = *c;
    if (write(2, line, n) < 0) {}   // nobody to tell that nobody can be told
    std::abort();
}

}  // namespace

/// Holds the lock, and leaves errno as it was: free must not change it.
class Arena::Locked {
public:
    explicit Locked(Arena& arena) : arena_(arena), error_(errno) { pthread_mutex_lock(&arena_.mutex_); }
    ~Locked() {
        pthread_mutex_unlock(&arena_.mutex_);
        errno = error_;
    }

private:
    Arena& arena_;
    int error_;
};

State Arena::open(int descriptor, unsigned rank, Options const& options) {
    Locked lock(*this);
    if (state_ == State::closed) {
        State const found = claim(descriptor, rank, options);
        __atomic_store_n(&state_, found, __ATOMIC_RELEASE);
    }
    return state_;
}

State Arena::claim(int descriptor, unsigned rank, Options const& options) {
    SegmentLayout layout{};
    if (pread(descriptor, &layout, sizeof layout, 0) != sizeof layout ||
        layout.magic != SegmentLayout::expected_magic || rank >= layout.ranks || layout.arena_bytes == 0 ||
        counts_strictly())
        return State::refused;
    // This rank's card, by the pages that hold it.
    std::size_t const at = layout.cards + rank * sizeof(Card), first = at / page_bytes * page_bytes;
    card_page_bytes_ = round_up(at + sizeof(Card), page_bytes) - first;
    card_page_ = mmap(nullptr, card_page_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor,
                      static_cast<off_t>(first));
    if (card_page_ == MAP_FAILED) return State::refused;
    card_ = reinterpret_cast<Card*>(static_cast<std::byte*>(card_page_) + (at - first));
    std::int32_t const me = getpid();
    std::int32_t owner = 0;
    bool fresh = card_->arena_pid.compare_exchange_strong(owner, me, std::memory_order_acq_rel);
    if (!fresh && owner != me && !(kill(owner, 0) != 0 && errno == ESRCH)) return State::refused;
    if (!fresh) card_->arena_pid.store(me, std::memory_order_release);

    offset_ = static_cast<off_t>(layout.arenas + rank * layout.arena_bytes);
    descriptor_ = fcntl(descriptor, F_DUPFD_CLOEXEC, 64);
    if (descriptor_ < 0) descriptor_ = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (descriptor_ < 0) return State::refused;
    if (!fresh)   // by a program in whose place this one runs now
        fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset_,
                  static_cast<off_t>(layout.arena_bytes));
    std::size_t const bytes = layout.arena_bytes;
    Page const pages = static_cast<Page>(bytes / page_bytes);
    bookkeeping_bytes_ = PageRuns::bookkeeping(pages);
    bookkeeping_ = mmap(nullptr, bookkeeping_bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bookkeeping_ == MAP_FAILED) return State::refused;
    void* window = map_window(descriptor_, offset_, bytes);
    if (!window) return State::refused;
    if (options.huge_pages) madvise(window, bytes, MADV_HUGEPAGE);
    runs_.start(bookkeeping_, pages);
    keep_ = options.keep;
    base_ = reinterpret_cast<std::uintptr_t>(window);
    bytes_ = bytes;
    card_->arena_base.store(base_, std::memory_order_release);
    return State::open;
}

void Arena::close() {
    Locked lock(*this);
    if (state_ != State::open) return;
    card_->arena_base.store(0, std::memory_order_release);
    card_->arena_pid.store(0, std::memory_order_release);
    munmap(reinterpret_cast<void*>(base_), bytes_);
    munmap(bookkeeping_, bookkeeping_bytes_);
    munmap(card_page_, card_page_bytes_);
    ::close(descriptor_);
    base_ = bytes_ = 0;
    runs_ = PageRuns{};
    state_ = State::closed;
}

template <class Each>
void* Arena::take(std::size_t bytes, std::size_t alignment, Each dirty) {
    if (alignment > huge_page || bytes > bytes_ || state() != State::open) return nullptr;
    Page const pages = bytes == 0 ? 1 : static_cast<Page>((bytes + page_bytes - 1) / page_bytes);
    Locked lock(*this);
    Page const first = runs_.take(pages, alignment <= page_bytes ? 1 : static_cast<Page>(alignment / page_bytes));
    if (first == PageRuns::none) return nullptr;
    runs_.soil(first, pages, dirty);
    return address(first);
}

void* Arena::allocate(std::size_t bytes, std::size_t alignment) {
    return take(bytes, alignment, [](Page, Page) {});
}

void* Arena::allocate_zeroed(std::size_t bytes) {
    // Outside of the lock, where it matters: stretches are noted, up to a number; beyond it they are zeroed at once.
    struct Stretch {
        Page first, pages;
    } stretches[16];
    int n = 0;
    void* block = take(bytes, page_bytes, [&](Page first, Page pages) {
        if (n != 0 && stretches[n - 1].first + stretches[n - 1].pages == first) stretches[n - 1].pages += pages;
        else if (n < 16) stretches[n++] = {first, pages};
        else std::memset(address(first), 0, std::size_t{pages} * page_bytes);
    });
    for (int i = 0; i < n; ++i)
        std::memset(address(stretches[i].first), 0, std::size_t{stretches[i].pages} * page_bytes);
    return block;
}

Page Arena::checked(void const* block, char const* what) {
    Page const first = page_of(block);
    if (address(first) != block || runs_.used(first) == 0) wrong_pointer(what, block);
    return first;
}

void Arena::release(void* block) {
    Locked lock(*this);
    runs_.give(checked(block, "free"));
    // Half of what may be kept, so that not every further call has to ask the system.
    if (state_ == State::open && std::size_t{runs_.idle_dirty()} * page_bytes > keep_)
        runs_.clean(static_cast<Page>(keep_ / 2 / page_bytes), [&](Page first, Page pages) { forget(first, pages); });
}

void Arena::forget(Page first, Page pages) {
    madvise(address(first), std::size_t{pages} * page_bytes, MADV_REMOVE);
}

bool Arena::resize(void* block, std::size_t bytes) {
    if (bytes > bytes_) return false;
    Page const pages = bytes == 0 ? 1 : static_cast<Page>((bytes + page_bytes - 1) / page_bytes);
    Locked lock(*this);
    Page const first = checked(block, "realloc"), old = runs_.used(first);
    if (state_ != State::open && pages > old) return false;
    if (!runs_.resize(first, pages)) return false;
    if (pages > old) runs_.soil(first + old, pages - old, [](Page, Page) {});
    return true;
}

std::size_t Arena::usable(void const* block) {
    Locked lock(*this);
    return std::size_t{runs_.used(checked(block, "malloc_usable_size"))} * page_bytes;
}

Arena::Use Arena::use() {
    Locked lock(*this);
    return {std::size_t{runs_.in_use()} * page_bytes, std::size_t{runs_.idle_dirty()} * page_bytes,
            std::size_t{runs_.top()} * page_bytes};
}

void Arena::before_fork() {
    pthread_mutex_lock(&mutex_);
    child_done_[0] = child_done_[1] = -1;
    if (state_ == State::open && runs_.in_use() != 0 && pipe2(child_done_, O_CLOEXEC) != 0)
        child_done_[0] = child_done_[1] = -1;   // no descriptors left: the child copies while the parent runs on
}

void Arena::after_fork_in_parent() {
    if (child_done_[0] >= 0) {
        ::close(child_done_[1]);
        char nothing;
        while (read(child_done_[0], &nothing, 1) < 0 && errno == EINTR) {}   // ends when the child closes, or dies
        ::close(child_done_[0]);
    }
    pthread_mutex_unlock(&mutex_);
}

void Arena::after_fork_in_child() {
    if (child_done_[0] >= 0) ::close(child_done_[0]);
    if (state_ == State::open) {
        copy_for_child();
        __atomic_store_n(&state_, State::forked, __ATOMIC_RELEASE);
    }
    if (child_done_[1] >= 0) ::close(child_done_[1]);
    pthread_mutex_unlock(&mutex_);
}

void Arena::copy_for_child() {
    // First nothing is shared any more; the data is still in the file.
    mmap(address(0), bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    runs_.for_each_used([&](Page first, Page pages) { copy_block(first, pages); });
    ::close(descriptor_);
    descriptor_ = -1;
}

// A private view of the file whose pages are all written to at once, so that none of them follows the parent's later
// changes. Holes of the file are left to the zeroes that are there already.
void Arena::copy_block(Page first, Page pages) {
    off_t const begin = offset_ + static_cast<off_t>(first) * static_cast<off_t>(page_bytes);
    off_t const end = begin + static_cast<off_t>(pages) * static_cast<off_t>(page_bytes);
    for (off_t at = begin; at < end;) {
        off_t const data = lseek(descriptor_, at, SEEK_DATA);
        if (data < 0 || data >= end) return;
        off_t hole = lseek(descriptor_, data, SEEK_HOLE);
        if (hole < 0 || hole > end) hole = end;
        auto* to = reinterpret_cast<char volatile*>(base_) + (data - offset_);
        mmap(const_cast<char*>(to), static_cast<std::size_t>(hole - data), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_FIXED, descriptor_, data);
        for (off_t k = 0; k < hole - data; k += static_cast<off_t>(page_bytes)) to[k] = to[k];
        at = hole;
    }
}

}  // namespace tutti::arena
