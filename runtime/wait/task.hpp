// SPDX-License-Identifier: BSD-3-Clause
// Coroutines of the library. A coroutine starts when it is first resumed or awaited, and returns control to the
// coroutine that awaits it. Its frame comes from the pool of the object whose member it is, or else of its first
// argument: `frames()` (there is no global pool). If that object states that nothing ever suspends there
// (`never_suspends()`), the coroutine starts when it is called and has ended when the call returns; unless it keeps
// an exception, its frame has been released by then.
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace tutti {

/// Pool of coroutine frames in steps of 64 bytes, reused last in, first out. Of large frames the pool keeps those
/// used last, max_cached bytes in total, or all of them, for an owner that repeats the same operations. Large
/// frames that are released while an exception unwinds are retained until the last retain() is undone by release(),
/// because peers may still read them. Not thread-safe: one per rank, or for one operation of a rank.
class FramePool {
public:
    enum class Retention { recent, all };
    static constexpr std::size_t max_cached = 256 << 10;

    explicit FramePool(Retention retention = Retention::recent) : retention_(retention) {}
    FramePool(FramePool const&) = delete;
    FramePool& operator=(FramePool const&) = delete;
    ~FramePool() {
        for (Frame* list : free_) free_frames(list);
        free_frames(large_);
        free_frames(retained_);
    }

    /// Returns memory for a frame. Throws std::bad_alloc.
    void* get(std::size_t bytes) {
        std::size_t const step = (bytes + sizeof(Frame) + 63) / 64;
        if (step < free_.size() && free_[step]) [[likely]]
            return std::exchange(free_[step], free_[step]->next) + 1;
        return get_large_or_new(step) + 1;
    }

    static void put(void* memory) {
        Frame* f = static_cast<Frame*>(memory) - 1;
        FramePool& pool = *f->pool;
        if (f->step < pool.free_.size()) [[likely]]
            f->next = std::exchange(pool.free_[f->step], f);
        else pool.put_large(f);
    }

    /// Retains large frames even without an exception, until release() has been called as often as retain().
    void retain() { ++retain_count_; }
    void release() {
        if (--retain_count_ == 0) free_frames(std::exchange(retained_, nullptr));
    }

    /// Returns how often memory was allocated from the system because no frame of that size was free.
    std::size_t allocations() const { return allocations_; }

private:
    struct alignas(16) Frame {   // header in front of the coroutine's own frame
        FramePool* pool;
        Frame* next;
        std::size_t step;
    };
    [[gnu::noinline]] Frame* get_large_or_new(std::size_t step) {
        if (Frame** const cached = large_ ? find_large(step) : nullptr) return std::exchange(*cached, (*cached)->next);
        auto* f = static_cast<Frame*>(::operator new(step * 64));
        f->pool = this;
        f->step = step;
        ++allocations_;
        return f;
    }
    [[gnu::noinline]] void put_large(Frame* f) {
        if (retention_ == Retention::all) f->next = std::exchange(large_, f);
        else if (retain_count_ > 0 || std::uncaught_exceptions() > 0) f->next = std::exchange(retained_, f);
        else cache_large(f);
    }
    static void free_frames(Frame* list) {
        while (list) ::operator delete(std::exchange(list, list->next));
    }
    /// Keeps a large frame; the least recently used ones are returned to the system.
    void cache_large(Frame* f) {
        std::size_t room = max_cached / 64;
        if (f->step > room) return ::operator delete(f);
        f->next = std::exchange(large_, f);
        for (Frame** at = &large_; *at; at = &(*at)->next) {
            if ((*at)->step > room) return free_frames(std::exchange(*at, nullptr));
            room -= (*at)->step;
        }
    }
    Frame** find_large(std::size_t step) {
        for (Frame** f = &large_; *f; f = &(*f)->next)
            if ((*f)->step == step) return f;
        return nullptr;
    }

    std::array<Frame*, 64> free_{};
    Frame *large_ = nullptr, *retained_ = nullptr;
    int retain_count_ = 0;
    Retention const retention_;
    std::size_t allocations_ = 0;
};

class [[nodiscard]] Task {
public:
    struct promise_type {
        std::coroutine_handle<> awaiting = std::noop_coroutine();
        std::exception_ptr error;
        Task* task = nullptr;   ///< the Task that owns this frame
        bool const eager;       ///< starts when it is called

        /// `first` is the object if the coroutine is a member function.
        template <class First, class... Rest>
        promise_type(First const& first, Rest&&...) : eager(never_suspends(first)) {}
        template <class First, class... Rest>
        static void* operator new(std::size_t bytes, First& first, Rest&&...) {
            return first.frames().get(bytes);
        }
        static void operator delete(void* memory) { FramePool::put(memory); }

        Task get_return_object() { return Task(*this); }
        auto initial_suspend() noexcept {
            struct Start {
                bool eager;
                bool await_ready() const noexcept { return eager; }
                void await_suspend(std::coroutine_handle<>) const noexcept {}
                void await_resume() const noexcept {}
            };
            return Start{eager};
        }
        auto final_suspend() noexcept {
            struct ToAwaiting {
                promise_type& promise;
                bool await_ready() noexcept {
                    if (!promise.eager || promise.error) return false;
                    promise.task->handle_ = {};   // the frame is destroyed next
                    return true;
                }
                std::coroutine_handle<> await_suspend(std::coroutine_handle<>) noexcept { return promise.awaiting; }
                void await_resume() noexcept {}
            };
            return ToAwaiting{*this};
        }
        void return_void() {}
        void unhandled_exception() { error = std::current_exception(); }
    };

    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) { set_owner(); }
    Task& operator=(Task&& other) noexcept {
        std::swap(handle_, other.handle_);
        set_owner(), other.set_owner();
        return *this;
    }
    ~Task() {
        if (handle_) handle_.destroy();
    }

    /// Runs until the coroutine suspends or ends.
    void resume() { handle_.resume(); }
    /// Resumes for the first time; does nothing if the coroutine has started when it was called and is done.
    void start() {
        if (!done()) resume();
    }
    bool done() const { return !handle_ || handle_.done(); }
    /// Must be called only for a coroutine that did not start when it was called.
    std::exception_ptr const& error() const { return handle_.promise().error; }
    /// Sets the error of a coroutine that is suspended and will not be resumed.
    void set_error(std::exception_ptr error) { handle_.promise().error = std::move(error); }
    /// Rethrows the exception that ended the coroutine, if any.
    [[gnu::always_inline]] void check() const {
        if (handle_ && handle_.promise().error) [[unlikely]]
            std::rethrow_exception(handle_.promise().error);
    }

    bool await_ready() const noexcept { return done(); }
    // The stack depth is bounded by the nesting of coroutines, however often they await and whether or not the
    // compiler makes tail calls of their transfers. This coroutine starts in a call from here, as a function would.
    // If it ends in that call, `awaiting` is still the no-op coroutine, and the awaiting coroutine continues from
    // here. If it suspends, so does the awaiting one, and neither is on the stack. Whatever resumes it later resumes
    // the awaiting one at its end, in at most one call from that end. Nothing resumes it before `awaiting` is set:
    // only the rank's progress does, and no progress is made between its suspension and the return to this function.
    bool await_suspend(std::coroutine_handle<> awaiting) noexcept {
        handle_.resume();
        if (handle_.done()) return false;
        handle_.promise().awaiting = awaiting;
        return true;
    }
    void await_resume() const { check(); }

private:
    template <class First>
    static bool never_suspends(First const& first) {
        if constexpr (requires { first.never_suspends(); }) return first.never_suspends();
        else return false;
    }
    explicit Task(promise_type& promise) : handle_(std::coroutine_handle<promise_type>::from_promise(promise)) {
        set_owner();
    }
    void set_owner() noexcept {
        if (handle_) handle_.promise().task = this;
    }
    std::coroutine_handle<promise_type> handle_;
};

// Containers, objects and bytes allocated from a FramePool, for data that a coroutine keeps beside its frame: they
// are allocated repeatedly without calls to the system, and large bytes that peers read are not released before the
// peers have learned that the operation has failed.

/// An allocator; the pool must stay valid until all its allocations are freed.
template <class T>
struct Pooled {
    using value_type = T;
    Pooled(FramePool& from) : pool(&from) {}
    template <class U>
    Pooled(Pooled<U> const& other) : pool(other.pool) {}

    T* allocate(std::size_t n) {
        static_assert(alignof(T) <= 16, "more than frames have");
        return static_cast<T*>(pool->get(n * sizeof(T)));
    }
    void deallocate(T* memory, std::size_t) { FramePool::put(memory); }
    bool operator==(Pooled const& other) const { return pool == other.pool; }

    FramePool* pool;
};

template <class T>
using PooledVector = std::vector<T, Pooled<T>>;

/// Base class of objects that are allocated from a pool: `new (pool) T`.
struct InPool {
    static void* operator new(std::size_t bytes, FramePool& pool) { return pool.get(bytes); }
    static void operator delete(void* memory) { FramePool::put(memory); }
    static void operator delete(void* memory, FramePool&) { FramePool::put(memory); }
};

/// Uninitialized bytes, at the same position relative to cache lines as memory from the system's allocator.
class PooledBytes {
public:
    PooledBytes() = default;
    PooledBytes(FramePool& pool, std::size_t bytes)
        : memory_(static_cast<std::byte*>(pool.get(header_bytes + bytes)) + header_bytes) {}

    std::byte* get() const { return memory_.get(); }
    explicit operator bool() const { return memory_ != nullptr; }

private:
    static constexpr std::size_t header_bytes = 32;   // as large as the frame header
    struct Deleter {
        void operator()(std::byte* memory) const { FramePool::put(memory - header_bytes); }
    };
    std::unique_ptr<std::byte, Deleter> memory_;
};

}   // namespace tutti
