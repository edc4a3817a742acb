// SPDX-License-Identifier: BSD-3-Clause
// The loop of the progress thread: poll, rest, sleep.
#include "runtime/wait/progress_thread.hpp"

#include <csignal>
#include <ctime>
#include <system_error>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/base/flag.hpp"
#include "runtime/wait/wait.hpp"

namespace tutti {
namespace {

constexpr long max_rest_ns = 1'000'000'000;
constexpr int polls_with_spare_cores = 2000;   // about 100 µs
constexpr long idle_sleep_ns = 1'000'000;
constexpr int max_idle_sleeps = 20;
constexpr std::uint64_t slice_ns = 100'000;
// Intervals during a service (Waiter::begin_service): how long the program may have stopped waiting before the thread
// notices; between two polls for what no socket reports; between two polls otherwise.
constexpr long service_rest_ns = 300'000, service_poll_ns = 200'000, service_sleep_ns = 10'000'000;

bool has_spare_cores(SegmentHeader const& node, WaitPolicy policy) {
    return policy == WaitPolicy::dedicated && node.usable_cores >= 2 * node.ranks;
}

/// Blocks all signals in this thread during its lifetime. Threads started meanwhile inherit the mask and keep it,
/// since signals are for the program's threads.
class SignalBlocker {
public:
    SignalBlocker() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalBlocker() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalBlocker(SignalBlocker const&) = delete;
    SignalBlocker& operator=(SignalBlocker const&) = delete;

private:
    sigset_t before_;
};

/// Requests that the kernel run this thread soon after it wakes, even if all cores are busy: it never runs for long.
/// Kernels before 6.12 ignore the request.
void run_in_short_slices() {
    struct {
        std::uint32_t size, policy;
        std::uint64_t flags;
        std::int32_t nice;
        std::uint32_t priority;
        std::uint64_t runtime, deadline, period;
    } attributes{};
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 || attributes.policy != 0) return;
    attributes.runtime = slice_ns;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}   // namespace

std::unique_ptr<ProgressThread> ProgressThread::start(Waiter& waiter, int& error) {
    try {
        return std::make_unique<ProgressThread>(waiter);
    } catch (std::system_error const& exception) {
        error = exception.code().value();
        return nullptr;
    }
}

// The thread begins only when everything is ready, so nothing has changed if it cannot be started.
ProgressThread::ProgressThread(Waiter& waiter)
    : waiter_(waiter), lock_(waiter.lock_),
      max_empty_polls_(has_spare_cores(waiter.segment_.header(), waiter.policy()) ? polls_with_spare_cores : 0),
      polls_when_idle_(waiter.segment_.header().oversubscribed()) {
    {
        SignalBlocker const blocked;
        thread_ = std::thread([this] {
            may_begin_.acquire();
            run();
        });
    }
    pthread_setname_np(thread_.native_handle(), "progress");
    end_event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    lock_.enable();
    waiter_.progress_thread_ = this;
    may_begin_.release();
}

ProgressThread::~ProgressThread() {
    {
        RankLock::ScopedLock guard(lock_);
        stop_ = true;
        waiter_.progress_thread_ = nullptr;
        wake();
    }
    waiter_.sleepers_.wake_this_rank();
    eventfd_write(end_event_, 1);
    {
        RankLock::ScopedUnlock unlocked(lock_);
        thread_.join();
    }
    if (end_event_ >= 0) close(end_event_);
}

void ProgressThread::wake() {
    if (!resting_ && !stop_) return;
    resting_ = false;
    wakeups_.fetch_add(1, std::memory_order_release);
    futex_wake(wakeups_, 1);
}

bool ProgressThread::has_work() const {
    if (waiter_.services_ != 0) return !stop_ && !waiter_.threads_.leader_polls();
    return !stop_ && !waiter_.threads_.leader() && !waiter_.is_quiescent();
}

/// What fails for lack of memory is left to a later step: no call of the program could report it from here.
bool ProgressThread::progress() {
    return unless_out_of_memory([this] { return waiter_.progress(); });
}

void ProgressThread::run() {
    thread_id_.store(gettid(), std::memory_order_relaxed);
    run_in_short_slices();
    RankLock::ScopedLock guard(lock_);
    for (int empty_polls = 0; !stop_;) {
        if (!has_work()) {
            rest();
        } else if (progress()) {
            empty_polls = idle_sleeps_ = 0;
            if (waiter_.threads_.any_asleep()) waiter_.threads_.wake_ready();
            if (lock_.has_waiters()) lock_.hand_over();
        } else if (++empty_polls <= max_empty_polls_) {
            RankLock::ScopedUnlock unlocked(lock_);
            cpu_pause();
        } else {
            sleep();
            empty_polls = 0;
        }
    }
}

// Where ranks outnumber cores a wake-up costs more than most requests take, so requests that complete soon after
// their start are not worth one. The thread then polls by itself now and then, until it has found nothing for long.
void ProgressThread::rest() {
    std::uint32_t const ticket = wakeups_.load(std::memory_order_relaxed);
    if (waiter_.services_ != 0) {   // the program waits: no wake-up is needed when it is done
        RankLock::ScopedUnlock unlocked(lock_);
        return futex_wait(wakeups_, ticket, service_rest_ns);
    }
    if (polls_when_idle_ && idle_sleeps_ < max_idle_sleeps) {
        ++idle_sleeps_;
        RankLock::ScopedUnlock unlocked(lock_);
        return futex_wait(wakeups_, ticket, idle_sleep_ns);
    }
    idle_sleeps_ = 0;
    resting_ = true;
    RankLock::ScopedUnlock unlocked(lock_);
    futex_wait(wakeups_, ticket, max_rest_ns);
}

void ProgressThread::sleep() {
    if (waiter_.services_ != 0 && waiter_.poll_descriptor_ >= 0) return sleep_in_poll();
    std::uint32_t ticket = waiter_.add_sleeper();
    while (has_work() && !progress()) {   // checks between the mark and the sleep
        {
            RankLock::ScopedUnlock unlocked(lock_);
            waiter_.sleepers_.sleep(ticket, waiter_.max_sleep_ns_);
        }
        if (!waiter_.threads_.leader()) waiter_.sleepers_.drain_bell();
        ticket = waiter_.sleepers_.ticket();
    }
    waiter_.sleepers_.remove();
}

void ProgressThread::sleep_in_poll() {
    while (has_work()) {
        if (progress()) {
            if (waiter_.threads_.any_asleep()) waiter_.threads_.wake_ready();
            return;
        }
        bool const polls_often = waiter_.local_services_ != 0 || !waiter_.is_quiescent();
        pollfd descriptors[] = {{waiter_.poll_descriptor_, POLLIN, 0}, {end_event_, POLLIN, 0}};
        timespec const timeout{0, polls_often ? service_poll_ns : service_sleep_ns};
        RankLock::ScopedUnlock unlocked(lock_);
        ppoll(descriptors, 2, &timeout, nullptr);
    }
}

}   // namespace tutti
