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

constexpr long longest_rest_ns = 1'000'000'000;
constexpr int polls_of_its_own_core = 2000;   // about 100 µs
constexpr long idle_ns = 1'000'000;
constexpr int most_naps = 20;
constexpr std::uint64_t slice_ns = 100'000;
// Intervals during a service (Waiter::begin_service): how long the program may have stopped waiting before the thread
// notices; between two polls for what no socket reports; between two polls otherwise.
constexpr long service_nap_ns = 300'000, service_look_ns = 200'000, service_sleep_ns = 10'000'000;

bool cores_to_spare(SegmentHeader const& node, WaitPolicy policy) {
    return policy == WaitPolicy::dedicated && node.usable_cores >= 2 * node.ranks;
}

/// Blocks all signals in this thread during its lifetime. Threads started meanwhile inherit the mask and keep it,
/// since signals are for the program's threads.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(SignalsBlocked const&) = delete;
    SignalsBlocked& operator=(SignalsBlocked const&) = delete;

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
    } wanted{};
    if (syscall(SYS_sched_getattr, 0, &wanted, sizeof wanted, 0) != 0 || wanted.policy != 0) return;
    wanted.runtime = slice_ns;
    syscall(SYS_sched_setattr, 0, &wanted, 0);
}

}   // namespace

std::unique_ptr<ProgressThread> ProgressThread::start(Waiter& waiter, int& error) {
    try {
        return std::make_unique<ProgressThread>(waiter);
    } catch (std::system_error const& refused) {
        error = refused.code().value();
        return nullptr;
    }
}

// The thread begins only when everything is ready, so nothing has changed if it cannot be started.
ProgressThread::ProgressThread(Waiter& waiter)
    : waiter_(waiter), lock_(waiter.lock_), rank_state_(waiter.rank_state_),
      polls_(cores_to_spare(waiter.segment_.header(), waiter.policy()) ? polls_of_its_own_core : 0),
      naps_(waiter.segment_.header().crowded()) {
    {
        SignalsBlocked const blocked;
        thread_ = std::thread([this] {
            ready_.acquire();
            run();
        });
    }
    pthread_setname_np(thread_.native_handle(), "progress");
    end_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    lock_.open();
    waiter_.helper_ = this;
    ready_.release();
}

ProgressThread::~ProgressThread() {
    {
        RankLock::Inside inside(lock_);
        stop_ = true;
        waiter_.helper_ = nullptr;
        call();
    }
    waiter_.sleepers_.wake_own();
    eventfd_write(end_, 1);
    {
        RankLock::Outside outside(lock_);
        thread_.join();
    }
    if (end_ >= 0) close(end_);
}

void ProgressThread::call() {
    if (!resting_ && !stop_) return;
    resting_ = false;
    work_.fetch_add(1, std::memory_order_release);
    futex_wake(work_, 1);
}

bool ProgressThread::wanted() const {
    if (waiter_.services_ != 0) return !stop_ && !waiter_.threads_.polled();
    return !stop_ && !waiter_.threads_.leader() && !waiter_.at_rest();
}

/// What fails for lack of memory is left to a later step: no call of the program could report it from here.
bool ProgressThread::progress() {
    return unless_out_of_memory([this] { return waiter_.progress(); });
}

void ProgressThread::run() {
    id_.store(gettid(), std::memory_order_relaxed);
    run_in_short_slices();
    RankLock::Inside inside(lock_);
    for (int empty_polls = 0; !stop_;) {
        if (!wanted()) {
            rest();
        } else if (progress()) {
            empty_polls = idle_naps_ = 0;
            if (waiter_.threads_.any_asleep()) waiter_.threads_.wake_ready();
            if (lock_.wanted()) lock_.hand_over();
        } else if (++empty_polls <= polls_) {
            RankLock::Outside outside(lock_);
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
    std::uint32_t const ticket = work_.load(std::memory_order_relaxed);
    if (waiter_.services_ != 0) {   // the program waits: no need to be called when it is done
        RankLock::Outside outside(lock_);
        return futex_wait(work_, ticket, service_nap_ns);
    }
    if (naps_ && idle_naps_ < most_naps) {
        ++idle_naps_;
        RankLock::Outside outside(lock_);
        return futex_wait(work_, ticket, idle_ns);
    }
    idle_naps_ = 0;
    resting_ = true;
    RankLock::Outside outside(lock_);
    futex_wait(work_, ticket, longest_rest_ns);
}

void ProgressThread::sleep() {
    if (waiter_.services_ != 0 && waiter_.descriptor_ >= 0) return sleep_at_sockets();
    std::uint32_t ticket = waiter_.add_sleeper();
    while (wanted() && !progress()) {   // checks between the mark and the sleep
        {
            RankLock::Outside outside(lock_);
            waiter_.sleepers_.sleep(ticket, waiter_.longest_sleep_ns_);
        }
        if (!waiter_.threads_.leader()) waiter_.sleepers_.silence_bell();
        ticket = waiter_.sleepers_.ticket();
    }
    waiter_.sleepers_.remove();
}

void ProgressThread::sleep_at_sockets() {
    while (wanted()) {
        if (progress()) {
            if (waiter_.threads_.any_asleep()) waiter_.threads_.wake_ready();
            return;
        }
        bool const looks = waiter_.services_by_words_ != 0 || !waiter_.at_rest();
        pollfd what[] = {{waiter_.descriptor_, POLLIN, 0}, {end_, POLLIN, 0}};
        timespec const longest{0, looks ? service_look_ns : service_sleep_ns};
        RankLock::Outside outside(lock_);
        ppoll(what, 2, &longest, nullptr);
    }
}

}   // namespace tutti
