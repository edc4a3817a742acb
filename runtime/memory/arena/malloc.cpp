// SPDX-License-Identifier: BSD-3-Clause
// The allocation functions of C: blocks of at least the threshold come from the arena, all others from the next
// allocator after this library, which is the C library's unless the program provides one.
//
// If another allocator comes first (LD_PRELOAD, the program's own, a sanitizer, valgrind), these functions are never
// called and the arena serves only MPI_Alloc_mem. Cost below the threshold: one comparison and one indirect call.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include "runtime/memory/arena/arena.hpp"
#include "runtime/settings/launch.hpp"
#include "runtime/settings/setting_text.hpp"

namespace tutti::arena {
namespace {

// Defaults and ranges, from runtime/settings/variables.def.
#define VAR(group, type, name, fallback, range, ...)           \
    [[maybe_unused]] constexpr auto default_##name = fallback; \
    [[maybe_unused]] constexpr std::string_view range_of_##name = range;
#include "runtime/settings/variables.def"
#undef VAR

struct Functions {
    void* (*malloc)(std::size_t);
    void (*free)(void*);
    void* (*calloc)(std::size_t, std::size_t);
    void* (*realloc)(void*, std::size_t);
    int (*posix_memalign)(void**, std::size_t, std::size_t);
    void* (*aligned_alloc)(std::size_t, std::size_t);
    void* (*memalign)(std::size_t, std::size_t);
    std::size_t (*malloc_usable_size)(void*);
    int (*madvise)(void*, std::size_t, int);
};

constexpr std::size_t never = SIZE_MAX;

constinit Arena the_arena;
constinit Functions next{};
constinit std::size_t threshold = never;   ///< set before main, and reset to `never` if there is no arena
constinit int segment = -1, rank = -1;
constinit Options options{};
constinit bool interposes = false, opens_early = false;
constinit bool probing = false, probe_arrived = false;   ///< while begin() determines whose malloc the program uses

/// Memory that dlsym may request while it finds the next allocator. Never released.
class BootstrapHeap {
public:
    void* get(std::size_t bytes) {
        bytes = (bytes + 15) / 16 * 16;
        if (bytes > sizeof memory_ - used_) return nullptr;
        return memory_ + std::exchange(used_, used_ + bytes);
    }
    bool contains(void const* p) const { return p >= memory_ && p < memory_ + sizeof memory_; }
    std::size_t bytes_after(void const* p) const {
        return static_cast<std::size_t>(memory_ + sizeof memory_ - static_cast<std::byte const*>(p));
    }

private:
    alignas(16) std::byte memory_[8192] = {};
    std::size_t used_ = 0;
};
constinit BootstrapHeap bootstrap_heap;
constinit bool finding_next = false;

template <class F>
void look_up(F& f, char const* name) {
    f = reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

// The loader calls this before there is a second thread.
[[gnu::noinline]] bool find_next() {
    if (finding_next) return false;
    finding_next = true;
    Functions found{};
    look_up(found.free, "free");
    look_up(found.calloc, "calloc");
    look_up(found.realloc, "realloc");
    look_up(found.posix_memalign, "posix_memalign");
    look_up(found.aligned_alloc, "aligned_alloc");
    look_up(found.memalign, "memalign");
    look_up(found.malloc_usable_size, "malloc_usable_size");
    look_up(found.madvise, "madvise");
    look_up(found.malloc, "malloc");
    next = found;
    return true;
}

bool next_is_known() { return next.malloc != nullptr || find_next(); }

int number(char const* variable) {
    char const* text = std::getenv(variable);
    long value = -1;
    return text && parse_setting(text, value) && value <= INT32_MAX ? static_cast<int>(value) : -1;
}

template <class T>
T setting(char const* variable, T fallback, std::string_view range = {}) {
    char const* text = std::getenv(variable);
    T value{};
    return text && parse_setting(text, value) && in_range(range, value) ? value : fallback;
}

bool launched() { return segment >= 0 && rank >= 0; }

State open() {
    return launched() ? the_arena.open(segment, static_cast<unsigned>(rank), options) : the_arena.open(options);
}

/// Opens the arena before the first large block. A program into which this library was only preloaded may not use
/// MPI, or may be the shell around a program that does: its window opens in MPI_Init.
bool open_before_first_block() {
    if (probing) return probe_arrived = true, false;
    if (the_arena.state() == State::open) return true;
    if (opens_early && the_arena.state() == State::closed && open() == State::open) return true;
    if (the_arena.state() != State::closed) __atomic_store_n(&threshold, never, __ATOMIC_RELAXED);
    return false;
}

bool is_for_arena(std::size_t bytes) {
    return bytes >= __atomic_load_n(&threshold, __ATOMIC_RELAXED) && open_before_first_block();
}

bool power_of_two(std::size_t n) { return n != 0 && (n & (n - 1)) == 0; }

void* allocate_aligned(std::size_t alignment, std::size_t bytes) {
    return power_of_two(alignment) && is_for_arena(bytes) ? the_arena.allocate(bytes, alignment) : nullptr;
}

/// Moves the contents of a block to a new one of another size and frees the old one, for realloc. Returns null, and
/// keeps the old block, if there is no memory.
void* move_block(void* block, std::size_t old_bytes, std::size_t bytes) {
    void* to = std::malloc(bytes);
    if (!to) return nullptr;
    std::memcpy(to, block, old_bytes < bytes ? old_bytes : bytes);
    std::free(block);
    return to;
}

void before_fork() { the_arena.before_fork(); }
void after_fork_in_parent() { the_arena.after_fork_in_parent(); }
void after_fork_in_child() { the_arena.after_fork_in_child(); }

constexpr Access access_closed{&the_arena, false, open}, access_interposing{&the_arena, true, open};

}   // namespace
}   // namespace tutti::arena

using namespace tutti::arena;

extern "C" {

[[gnu::visibility("default")]] void* malloc(std::size_t bytes) noexcept {
    if (is_for_arena(bytes))
        if (void* block = the_arena.allocate(bytes)) return block;
    return next_is_known() ? next.malloc(bytes) : bootstrap_heap.get(bytes);
}

[[gnu::visibility("default")]] void free(void* block) noexcept {
    if (the_arena.contains(block)) return the_arena.release(block);
    if (bootstrap_heap.contains(block)) return;
    if (next_is_known()) next.free(block);
}

[[gnu::visibility("default")]] void* calloc(std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    bool const fits = !__builtin_mul_overflow(count, size, &bytes);
    if (fits && is_for_arena(bytes))
        if (void* block = the_arena.allocate_zeroed(bytes)) return block;
    if (next_is_known()) return next.calloc(count, size);
    return fits ? bootstrap_heap.get(bytes) : nullptr;
}

[[gnu::visibility("default")]] void* realloc(void* block, std::size_t bytes) noexcept {
    if (!block) return std::malloc(bytes);
    if (the_arena.contains(block)) {
        if (bytes == 0) return std::free(block), nullptr;
        bool const stays = bytes >= __atomic_load_n(&threshold, __ATOMIC_RELAXED);
        if (stays && the_arena.resize(block, bytes)) return block;
        return move_block(block, the_arena.usable_size(block), bytes);
    }
    if (bootstrap_heap.contains(block))
        return move_block(block, std::min(bootstrap_heap.bytes_after(block), bytes), bytes);
    if (!next_is_known()) return nullptr;
    if (is_for_arena(bytes)) {
        if (void* to = the_arena.allocate(bytes)) {
            std::size_t const old = next.malloc_usable_size(block);
            std::memcpy(to, block, old < bytes ? old : bytes);
            next.free(block);
            return to;
        }
    }
    return next.realloc(block, bytes);
}

[[gnu::visibility("default")]] int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) noexcept {
    if (alignment % sizeof(void*) == 0)
        if (void* block = allocate_aligned(alignment, bytes)) return *out = block, 0;
    return next_is_known() ? next.posix_memalign(out, alignment, bytes) : ENOMEM;
}

[[gnu::visibility("default")]] void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
    if (void* block = allocate_aligned(alignment, bytes)) return block;
    return next_is_known() ? next.aligned_alloc(alignment, bytes) : nullptr;
}

[[gnu::visibility("default")]] void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
    if (void* block = allocate_aligned(alignment, bytes)) return block;
    return next_is_known() ? next.memalign(alignment, bytes) : nullptr;
}

[[gnu::visibility("default")]] void* valloc(std::size_t bytes) noexcept { return memalign(page_bytes, bytes); }

[[gnu::visibility("default")]] void* pvalloc(std::size_t bytes) noexcept {
    std::size_t const whole = bytes == 0 ? page_bytes : (bytes + page_bytes - 1) / page_bytes * page_bytes;
    if (whole < bytes) return errno = ENOMEM, nullptr;
    return memalign(page_bytes, whole);
}

[[gnu::visibility("default")]] std::size_t malloc_usable_size(void* block) noexcept {
    if (the_arena.contains(block)) return the_arena.usable_size(block);
    if (!block || bootstrap_heap.contains(block) || !next_is_known()) return 0;
    return next.malloc_usable_size(block);
}

// Not an allocation function, but it acts on memory returned by malloc. The C library's posix_madvise and direct
// system calls are not intercepted.
[[gnu::visibility("default")]] int madvise(void* memory, std::size_t bytes, int advice) noexcept {
    if (the_arena.overlaps(memory, bytes)) return the_arena.advise(memory, bytes, advice);
    if (!next_is_known()) return errno = EAGAIN, -1;
    return next.madvise(memory, bytes, advice);
}

Access const* tutti_arena() { return interposes ? &access_interposing : &access_closed; }

}   // extern "C"

namespace tutti::arena {
namespace {

/// In a program at a fixed address the symbol may denote the program's own jump to whatever malloc it was bound to.
bool jump_leads_to_this_malloc(void* jump) {
    threshold = 0;
    probing = true;
    std::free(reinterpret_cast<void* (*)(std::size_t)>(jump)(1));
    probing = false;
    threshold = never;
    return probe_arrived;
}

/// Returns true if the program's malloc is this one. The symbol alone may be bound elsewhere; an address in this
/// library is not.
bool is_programs_malloc() {
    Dl_info winner{}, here{};
    ElfW(Sym)* symbol = nullptr;
    void* first = dlsym(RTLD_DEFAULT, "malloc");
    if (!first || !dladdr(&the_arena, &here) ||
        !dladdr1(first, &winner, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT))
        return false;
    if (winner.dli_fbase == here.dli_fbase) return true;
    return symbol && symbol->st_shndx == SHN_UNDEF && jump_leads_to_this_malloc(first);
}

// Runs as early as possible in a library: after the C library's initialization, before the constructors of the
// program and of most libraries.
[[gnu::constructor(101)]] void begin() {
    next_is_known();
    interposes = is_programs_malloc();
    segment = number(launch::segment_variable);
    rank = number(launch::rank_variable);
    options = {.keep = setting("TUTTI_ARENA_KEEP", std::size_t{default_arena_keep}, range_of_arena_keep),
               .huge_pages = setting("TUTTI_HUGE_PAGES", default_huge_pages)};
    if (!setting("TUTTI_ARENA", default_arena)) return;
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    opens_early = dlsym(RTLD_DEFAULT, "MPI_Init") != nullptr;
    if (!interposes) return;
    threshold = setting("TUTTI_ARENA_THRESHOLD", std::size_t{default_arena_threshold}, range_of_arena_threshold);
}

}   // namespace
}   // namespace tutti::arena
