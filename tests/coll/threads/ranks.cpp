// SPDX-License-Identifier: BSD-3-Clause
// Fibers: one stack per rank, entered once through ucontext and then switched by setjmp and longjmp, which need no
// system call (unlike swapcontext). The running rank tests the conditions of the other ranks; under ThreadSanitizer
// each rank tests its own, because a read counts as a read of the rank that makes it.
#undef _FORTIFY_SOURCE   // its longjmp refuses to switch to another stack

#include "tests/coll/threads/ranks.hpp"

#include <cxxabi.h>
#include <gtest/gtest.h>
#if defined(USES_TSAN_FIBERS)
#include <sanitizer/tsan_interface.h>
#endif
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <system_error>
#include <vector>

#include "tests/coll/world/allocations.hpp"
#include "tests/coll/world/arena.hpp"

namespace tutti::coll::test {
namespace {

std::string description(std::function<std::string()> const& describe) { return describe ? " in: " + describe() : ""; }

/// Runs the body; ends the program if an exception leaves it.
void run_rank(std::function<void(int)> const& body, int rank, std::function<std::string()> const& describe) {
    try {
        body(rank);
    } catch (std::exception const& e) {
        std::fprintf(stderr, "rank %d: %s%s\n", rank, e.what(), description(describe).c_str());
        std::abort();
    }
}

unsigned seed() {
    static unsigned const value = [] {
        char const* const given = std::getenv("TUTTI_TEST_SEED");
        return given ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device{}();
    }();
    return value;
}

/// Memory for a stack, preceded by a guard page.
class Stack {
public:
    Stack()
        : memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
        if (memory_ == MAP_FAILED || mprotect(memory_, page, PROT_NONE) != 0)
            throw std::system_error(errno, std::generic_category(), "a rank's stack");
    }
    Stack(Stack const&) = delete;
    ~Stack() { munmap(memory_, bytes); }
    void* begin() const { return static_cast<std::byte*>(memory_) + page; }
    static constexpr std::size_t page = 65536, bytes = (std::size_t{1} << 20) + page;

private:
    void* memory_;
};

/// ThreadSanitizer's view of a rank. As with threads, creation orders the rank after its creator, and its end orders
/// the creator after it; switches between ranks order nothing. Does nothing in other builds.
class TsanFiber {
public:
#if defined(USES_TSAN_FIBERS)
    void begin() { fiber_ = __tsan_create_fiber(0), creator_ = __tsan_get_current_fiber(); }
    void end() { __tsan_destroy_fiber(fiber_); }
    void resume() { __tsan_switch_to_fiber(fiber_, __tsan_switch_to_fiber_no_sync); }
    void return_to_creator() { __tsan_switch_to_fiber(creator_, 0); }
    static constexpr bool tests_conditions_itself = true;

private:
    void *fiber_ = nullptr, *creator_ = nullptr;
#else
    void begin() {}
    void end() {}
    void resume() {}
    void return_to_creator() {}
    static constexpr bool tests_conditions_itself = false;
#endif
};

/// Per-thread state of the language runtime and of the tests, of which each rank needs its own.
struct ThreadLocals {
    std::byte exceptions[2 * sizeof(void*)] = {};   // __cxa_eh_globals: caught exceptions, number of uncaught ones
    std::pmr::memory_resource* memory = nullptr;
    std::size_t allocations_allowed = ~std::size_t{0};

    void swap_with_thread() {
        std::byte mine[sizeof exceptions];
        void* const globals = abi::__cxa_get_globals();
        std::memcpy(mine, globals, sizeof mine);
        std::memcpy(globals, exceptions, sizeof mine);
        std::memcpy(exceptions, mine, sizeof mine);
        std::swap(memory, message_memory);
        std::swap(allocations_allowed, allocations_left);
    }
};

struct Fiber {
    std::unique_ptr<Stack> stack;
    jmp_buf place;
    bool started = false;
    Condition const* waits_for = nullptr;   ///< null: the rank can continue
    std::uint64_t waited_at = 0;            ///< the value of `progress_` when the condition did not hold
    ThreadLocals locals;
    TsanFiber tsan_fiber;
};

class Scheduler;
Scheduler* running = nullptr;
std::vector<std::unique_ptr<Stack>> unused_stacks;

class Scheduler {
public:
    Scheduler(int ranks, std::function<void(int)> const& body, std::function<std::string()> const& describe)
        : body_(body), describe_(describe), fibers_(static_cast<std::size_t>(ranks)), random_(seed() + 1) {
        for (Fiber& f : fibers_) {
            if (unused_stacks.empty()) unused_stacks.push_back(std::make_unique<Stack>());
            f.stack = std::move(unused_stacks.back());
            unused_stacks.pop_back();
            f.tsan_fiber.begin();
            alive_.push_back(&f);
        }
    }
    ~Scheduler() {
        for (Fiber& f : fibers_) {
            f.tsan_fiber.end();
            unused_stacks.push_back(std::move(f.stack));
        }
    }

    void run() {
        running = this;
        while (!alive_.empty()) {   // a fiber returns here when it ends
            if (_setjmp(main_) == 0) resume(next());
            std::erase(alive_, current_);
            current_->locals.swap_with_thread();
            ++progress_;
        }
        running = nullptr;
    }
    void wait(Condition const& condition) {
        ++progress_;   // the rank may have changed something since its last wait
        while (!condition.holds()) {
            current_->waits_for = &condition;
            current_->waited_at = progress_;
            switch_to(next());
        }
        current_->waits_for = nullptr;
    }
    void interrupt() {
        if (random() % 8 == 0) switch_to(next());
    }

private:
    unsigned random() {   // xorshift: a better generator would dominate the run time
        random_ ^= random_ << 13;
        random_ ^= random_ >> 7;
        random_ ^= random_ << 17;
        return static_cast<unsigned>(random_ >> 16);
    }
    /// Returns a rank that can continue, or one whose condition must be tested again.
    Fiber& next() {
        std::size_t const n = alive_.size(), first = random() % n;
        for (std::size_t k = 0; k < n; ++k) {
            Fiber& f = *alive_[first + k < n ? first + k : first + k - n];
            if (!f.waits_for) return f;
            if (f.waited_at == progress_) continue;
            if (TsanFiber::tests_conditions_itself || f.waits_for->holds()) return f;
            f.waited_at = progress_;
        }
        std::fprintf(stderr, "each of %zu ranks waits for another one%s (TUTTI_TEST_SEED=%u)\n", n,
                     description(describe_).c_str(), seed());
        std::abort();
    }
    void switch_to(Fiber& to) {
        Fiber& from = *current_;
        if (&from == &to || _setjmp(from.place) != 0) return;
        from.locals.swap_with_thread();
        resume(to);
    }
    [[noreturn]] void resume(Fiber& f) {
        current_ = &f;
        f.locals.swap_with_thread();
        f.tsan_fiber.resume();
        if (f.started) _longjmp(f.place, 1);
        f.started = true;
        ucontext_t start;
        getcontext(&start);
        start.uc_stack.ss_sp = f.stack->begin();
        start.uc_stack.ss_size = Stack::bytes - Stack::page;
        start.uc_link = nullptr;
        makecontext(
            &start, [] { running->run_body(); }, 0);
        setcontext(&start);
        std::abort();
    }
    void run_body() {
        run_rank(body_, static_cast<int>(current_ - fibers_.data()), describe_);
        current_->tsan_fiber.return_to_creator();
        _longjmp(main_, 1);
    }

    std::function<void(int)> const& body_;
    std::function<std::string()> const& describe_;
    std::vector<Fiber> fibers_;
    std::vector<Fiber*> alive_;
    std::uint64_t random_;
    std::uint64_t progress_ = 1;   ///< incremented when a rank begins to wait, and when it ends
    Fiber* current_ = nullptr;
    jmp_buf main_;
};

}   // namespace

void run_as_ranks(int ranks, std::function<void(int)> const& body, std::function<std::string()> const& describe) {
    bool const failed_before = testing::Test::HasFailure();
    Scheduler(ranks, body, describe).run();
    if (testing::Test::HasFailure() && !failed_before)
        std::printf("The order of the ranks: TUTTI_TEST_SEED=%u\n", seed());
}
void wait_until(Condition const& condition) {
    if (!running) {   // outside of run_as_ranks no other rank can make the condition true
        if (!condition.holds()) std::abort();
        return;
    }
    running->wait(condition);
}
void may_switch_rank() {
    if (running) running->interrupt();
}

}   // namespace tutti::coll::test
