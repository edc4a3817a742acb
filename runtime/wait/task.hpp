// SPDX-License-Identifier: BSD-3-Clause
// A coroutine of the library: starts when it is first resumed or awaited, returns control to the coroutine that awaits
// it, and takes its frame from the pool of the object whose member it is, or else of its first argument: `frames()`
// (there is no global pool). Where that object says that nothing ever suspends there (`never_suspends()`), it starts
// when it is called and has ended when the call returns; unless it keeps an exception, its frame has gone back by then.
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
        std::size_t const step = (bytes + sizeof(Frame) + 63) / 64;
        if (step < free_.size() && free_[step]) [[likely]]
            return std::exchange(free_[step], free_[step]->next) + 1;
        return get_another(step) + 1;
    }

    static void put(void* memory) {
        Frame* f = static_cast<Frame*>(memory) - 1;
        FramePool& pool = *f->pool;
        if (f->step < pool.free_.size()) [[likely]]
            f->next = std::exchange(pool.free_[f->step], f);
        else pool.put_large(f);
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
    [[gnu::noinline]] Frame* get_another(std::size_t step) {
        if (Frame** const kept = large_ ? find(step) : nullptr) return std::exchange(*kept, (*kept)->next);
        auto* f = static_cast<Frame*>(::operator new(step * 64));
        f->pool = this;
        f->step = step;
        ++made_;
        return f;
    }
    [[gnu::noinline]] void put_large(Frame* f) {
        if (keeps_ == Keeps::all) f->next = std::exchange(large_, f);
        else if (holders_ > 0 || std::uncaught_exceptions() > 0) f->next = std::exchange(held_, f);
        else keep(f);
    }
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
        Task* task = nullptr;   ///< whose frame this is
        bool const at_once;     ///< starts when it is called

        /// Of a member, the object comes first.
        template <class First, class... Rest>
        promise_type(First const& first, Rest&&...) : at_once(never_suspends(first)) {}
        template <class First, class... Rest>
        static void* operator new(std::size_t bytes, First& first, Rest&&...) {
            return first.frames().get(bytes);
        }
        static void operator delete(void* memory) { FramePool::put(memory); }

        Task get_return_object() { return Task(*this); }
        auto initial_suspend() noexcept {
            struct Start {
                bool at_once;
                bool await_ready() const noexcept { return at_once; }
                void await_suspend(std::coroutine_handle<>) const noexcept {}
                void await_resume() const noexcept {}
            };
            return Start{at_once};
        }
        auto final_suspend() noexcept {
            struct ToAwaiting {
                promise_type& promise;
                bool await_ready() noexcept {
                    if (!promise.at_once || promise.error) return false;
                    promise.task->handle_ = {};   // and the frame goes
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

    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) { own(); }
    Task& operator=(Task&& other) noexcept {
        std::swap(handle_, other.handle_);
        own(), other.own();
        return *this;
    }
    ~Task() {
        if (handle_) handle_.destroy();
    }

    /// Runs until the coroutine suspends or ends.
    void resume() { handle_.resume(); }
    /// The first time; nothing is left to do if it has started when it was called.
    void start() {
        if (!done()) resume();
    }
    bool done() const { return !handle_ || handle_.done(); }
    /// Of one that did not start when it was called.
    std::exception_ptr const& error() const { return handle_.promise().error; }
    /// For one that is suspended and will not be resumed any more.
    void end_by(std::exception_ptr why) { handle_.promise().error = std::move(why); }
    /// Rethrows what ended the coroutine, if anything did.
    [[gnu::always_inline]] void check() const {
        if (handle_ && handle_.promise().error) [[unlikely]]
            std::rethrow_exception(handle_.promise().error);
    }

    bool await_ready() const noexcept { return done(); }
    // The stack is as deep as coroutines are nested, however often they await and whether or not the compiler makes
    // tail calls of their transfers. This coroutine starts in a call from here, as a function would. If it ends in
    // that call, `awaiting` still is the coroutine that does nothing, and the awaiting one goes on from here. If it
    // suspends, so does the awaiting one, and neither is on the stack. Whatever resumes it later resumes the awaiting
    // one at its end, in a call from that end at most. Nothing resumes it before `awaiting` is set: only the rank's
    // progress does, and none is made between its suspension and the return to here.
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
        own();
    }
    void own() noexcept {
        if (handle_) handle_.promise().task = this;
    }
    std::coroutine_handle<promise_type> handle_;
};

}   // namespace tutti
