// SPDX-License-Identifier: BSD-3-Clause
// A coroutine of the library: starts when it is first resumed, passes control straight to whoever awaits it, and takes
// its frame from the pool of the object whose member it is, or else of its first argument: `frames()` (there is no
// global pool).
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <new>
#include <utility>

namespace tutti {

/// Frames in steps of 64 bytes, reused last in, first out. Of large ones a pool keeps those used last, most_kept bytes
/// in all, or every one, for somebody who does the same again and again. What an exception gives back is held until it
/// is let go: peers may still read it. Not thread-safe: one per rank, or for one operation of it.
class FramePool {
public:
    enum class Keeps { some, all };
    static constexpr std::size_t most_kept = 256 << 10;

    explicit FramePool(Keeps what = Keeps::some) : keeps_(what) {}
    FramePool(FramePool const&) = delete;
    FramePool& operator=(FramePool const&) = delete;
    ~FramePool() {
        for (Frame* list : free_) give_back(list);
        give_back(large_);
        give_back(held_);
    }

    /// Throws std::bad_alloc.

    void* get(std::size_t bytes) {
        std::size_t step = (bytes + sizeof(Frame) + 63) / 64;
        Frame* f;
        if (step < free_.size() && free_[step]) f = std::exchange(free_[step], free_[step]->next);
        else if (Frame** const kept = large_ ? find(step) : nullptr) f = std::exchange(*kept, (*kept)->next);
        else f = static_cast<Frame*>(::operator new(step * 64)), ++made_;
        f->pool = this;
        f->step = step;
        return f + 1;
    }

    static void put(void* memory) {
        Frame* f = static_cast<Frame*>(memory) - 1;
        FramePool& pool = *f->pool;
        if (f->step < pool.free_.size()) f->next = std::exchange(pool.free_[f->step], f);
        else if (pool.keeps_ == Keeps::all) f->next = std::exchange(pool.large_, f);
        else if (pool.holders_ > 0 || std::uncaught_exceptions() > 0) f->next = std::exchange(pool.held_, f);
        else pool.keep(f);
    }

    /// From now on large frames are held, too, that no exception gives back, until as many let go.
    void hold() { ++holders_; }
    void let_go() {
        if (--holders_ == 0) give_back(std::exchange(held_, nullptr));
    }

    /// How often memory was taken from the system, because none of that size had come back.
    std::size_t made() const { return made_; }

private:
    struct alignas(16) Frame {   // stands before the coroutine's own frame
        FramePool* pool;
        Frame* next;
        std::size_t step;
    };
    static void give_back(Frame* list) {
        while (list) ::operator delete(std::exchange(list, list->next));
    }
    /// The large frames that were used longest ago go back to the system.
    void keep(Frame* f) {
        std::size_t room = most_kept / 64;
        if (f->step > room) return ::operator delete(f);
        f->next = std::exchange(large_, f);
        for (Frame** at = &large_; *at; at = &(*at)->next) {
            if ((*at)->step > room) return give_back(std::exchange(*at, nullptr));
            room -= (*at)->step;
        }
    }
    Frame** find(std::size_t step) {
        for (Frame** f = &large_; *f; f = &(*f)->next)
            if ((*f)->step == step) return f;
        return nullptr;
    }

    std::array<Frame*, 64> free_{};
    Frame *large_ = nullptr, *held_ = nullptr;
    int holders_ = 0;
    Keeps const keeps_;
    std::size_t made_ = 0;
};

class [[nodiscard]] Task {
public:
    struct promise_type {
        std::coroutine_handle<> awaiting = std::noop_coroutine();
        std::exception_ptr error;

        /// Of a member, the object comes first.
        template <class First, class... Rest>
        static void* operator new(std::size_t bytes, First& first, Rest&&...) {
            return first.frames().get(bytes);
        }
        static void operator delete(void* memory) { FramePool::put(memory); }

        Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        auto final_suspend() noexcept {
            struct ToAwaiting {
                bool await_ready() noexcept { return false; }
                std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept {
                    return h.promise().awaiting;
                }
                void await_resume() noexcept {}
            };
            return ToAwaiting{};
        }
        void return_void() {}
        void unhandled_exception() { error = std::current_exception(); }
    };

    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Task& operator=(Task&& other) noexcept { return std::swap(handle_, other.handle_), *this; }
    ~Task() {
        if (handle_) handle_.destroy();
    }

    /// Runs until the coroutine suspends or ends.
    void resume() { handle_.resume(); }
    bool done() const { return handle_.done(); }
    std::exception_ptr const& error() const { return handle_.promise().error; }
    /// For one that is suspended and will not be resumed any more.
    void end_by(std::exception_ptr why) { handle_.promise().error = std::move(why); }
    /// Rethrows what ended the coroutine, if anything did.
    void check() const {
        if (handle_.promise().error) std::rethrow_exception(handle_.promise().error);
    }

    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
        handle_.promise().awaiting = awaiting;
        return handle_;
    }
    void await_resume() const { check(); }

private:
    explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    std::coroutine_handle<promise_type> handle_;
};

}   // namespace tutti
