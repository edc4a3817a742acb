// SPDX-License-Identifier: BSD-3-Clause
// The slow half of the one wait: yielding, publishing the reason, sleeping.
#include "runtime/wait/wait.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/base/futex.hpp"
#include "runtime/memory/placement/placement.hpp"
#include "runtime/trace/tracer.hpp"
#include "runtime/wait/balance.hpp"
#include "runtime/wait/progress_thread.hpp"

namespace tutti {
namespace {

constexpr std::int64_t publish_after_ns = 20'000'000;
// What publishing costs is a hundredth of so long a wait, where the rank has a core of its own.
constexpr std::int64_t publish_in_any_case_after_ns = 100'000'000;
constexpr long short_sleep_ns = 1'000'000;
constexpr int followers_polls = 500;   // about 20 µs
// How long a wait polls between two yields. A yield costs 0.4 µs, a sleep and a wake-up 5 to 50 µs.
constexpr std::int64_t poll_ns = 25'000, poll_on_shared_core_ns = 3'000;
constexpr int most_yields_on_shared_core = 4, most_yields_where_ranks_share = 32, most_useless_yields = 4;
// On an idle core a wait polls for so long: a rank that was just woken on another core needs that to answer.
constexpr std::int64_t longest_on_idle_core_ns = 50'000, poll_on_idle_core_ns = 3'000;
constexpr int most_needless_calls = 8;
constexpr std::int64_t longest_lead_ns = 100'000;

/// In case that a wake-up is lost where there is no membarrier. Where hundreds share a core each of them must not get
/// up in vain a hundred times a second; there writers fence, and none is lost.
long longest_sleep(SegmentHeader const& node) {
    long const of_one = 10'000'000;
    return node.crowded() ? std::max<long>(of_one, 2'000'000L * node.ranks / node.usable_cores) : of_one;
}

/// How long the calling thread has been ready to run and did not, in nanoseconds; 0 where the kernel does not count.
std::uint64_t run_delay() {
    int const file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    char text[64] = {};
    ssize_t const length = read(file, text, sizeof text - 1);
    close(file);
    std::uint64_t ran = 0, delayed = 0;
    return length > 0 && std::sscanf(text, "%" SCNu64 " %" SCNu64, &ran, &delayed) == 2 ? delayed : 0;
}

/// Of the calling thread: wakes it from poll(2). −1 where the system has no more descriptors.
int event_of_thread() {
    struct Event {
        int const descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        ~Event() {
            if (descriptor >= 0) close(descriptor);
        }
    };
    static thread_local Event const event;
    return event.descriptor;
}

}   // namespace

Waiter::Waiter(Segment const& segment, unsigned rank, WaitPolicy policy, long sleep_after_ms, RankLock& lock,
               bool learns)
    : segment_(segment), place_(rank), rank_state_(segment.rank_state(rank)), lock_(lock), policy_(policy),
      sleep_after_ns_(sleep_after_ms * 1'000'000), longest_sleep_ns_(longest_sleep(segment.header())),
      // When ranks share cores, the awaited rank may not be running: a few polls, then the core is given away.
      first_polls_(policy == WaitPolicy::dedicated ? 64 : 4), sleepers_(segment, rank),
      publish_in_any_case_ns_(publish_in_any_case_after_ns * segment.header().ranks_per_core()),
      run_delay_before_(run_delay()), naps_(learns && sleep_after_ms > 0) {
    SegmentHeader const& header = segment.header();
    lock.contention.configure(learns, header.ranks_per_core());
}

void Waiter::count_run_delay() { rank_state_.times.run_delay.set(run_delay() - run_delay_before_); }

void Waiter::enter(char const* call, void const* site) {
    if (call_watch_ && call) call_watch_->enter(call, site);
    enter();
    if (tracer_ && call) tracer_->enter(call, site);
}

void Waiter::leave_call() {
    if (tracer_) tracer_->leave();
    leave();
    if (call_watch_) call_watch_->leave();
}

void Waiter::watch(int descriptor) {
    descriptor_ = descriptor;
    sleepers_.watch(descriptor);
}

void Waiter::attach(Pollable* pollable) { pollable_[pollables_++] = pollable; }

void Waiter::detach(Pollable* pollable) {
    auto* end = std::remove(pollable_, pollable_ + pollables_, pollable);
    pollables_ = static_cast<int>(end - pollable_);
}

void Waiter::begin_service(bool words) {
    ++services_;
    services_by_words_ += words;
    started();
}

void Waiter::end_service(bool words) {
    --services_;
    services_by_words_ -= words;
}

/// Returns what it took. A yield during which threads of this rank got on with their calls was useful, however long it
/// took.
std::int64_t Waiter::yield() {
    unsigned const before = lock_.entries();
    std::int64_t took = 0;
    {
        RankLock::Outside outside(lock_);
        took = Contention::yield();
    }
    unsigned const others = lock_.entries() - before - (lock_.on() ? 1 : 0);   // but for its own coming back
    Times& times = rank_state_.times;
    times.yields.add(1);
    if (took < Contention::useless_yield_ns) times.useless_yields.add(1);
    if (others == 0 && lock_.contention.note_yield(took, now_ns())) times.long_yields.add(1);
    return took;
}

void Waiter::call_helper() { helper_->call(); }

void Waiter::WaitLoop::hand_over() {
    waiter_.lock_.hand_over();
    clock_ = 0;
}

void Waiter::WaitLoop::read_clock() {
    std::int64_t const now = now_ns(), last = std::exchange(clock_, now);
    polls_ = 0;
    if (last != 0 && !asleep_ && waiter_.lock_.contention.note_gap(now - last, now))
        waiter_.rank_state_.times.lost_slices.add(1);
    waiter_.contended_ = waiter_.lock_.contention.shared(now);
    if (since_ == 0) since_ = now;
    std::int64_t polls_for = contended() ? poll_on_shared_core_ns : poll_ns;
    if (policy_ == WaitPolicy::shared) polls_for = useless_ != 0 && has_neighbours() ? poll_on_idle_core_ns : 0;
    if (asleep_ || now - polls_since_ >= polls_for) relax(now);
    else cpu_pause();
}

// What is published of a wait is for the user alone: without memory for that the wait goes on, for what it waits for
// may come all the same.
void Waiter::WaitLoop::relax(std::int64_t now) {
    clock_ = 0;
    if (unless_out_of_memory([this] { return asked_again(); })) return;
    if (asleep_) return sleep(waiter_.longest_sleep_ns_);
    if (!yields(now)) return mark_asleep();
    useless_ = waiter_.yield() < Contention::useless_yield_ns ? useless_ + 1 : 0;
    ++yields_;
    polls_since_ = now_ns();
}

/// False: it sleeps instead.
bool Waiter::WaitLoop::yields(std::int64_t now) const {
    if (waiter_.sleep_after_ns_ == 0) return true;
    if (now - since_ > waiter_.sleep_after_ns_) return false;
    if (policy_ == WaitPolicy::shared) {
        if (yields_ >= most_yields_where_ranks_share) return false;
        // A useless yield says that the core is idle, or that another scheduling group waits for it.
        if (has_neighbours()) return useless_ == 0 || now - since_ < longest_on_idle_core_ns;
        return !contended() && useless_ < most_useless_yields;
    }
    return !contended() || (useless_ == 0 && yields_ < most_yields_on_shared_core);
}

bool Waiter::WaitLoop::has_neighbours() const { return waiter_.lock_.contention.has_neighbours(); }

bool Waiter::WaitLoop::contended() const { return waiter_.contended_ && why_.policy != WaitPolicy::dedicated; }

/// This wait is shown, and the threads of all others that are sleep within them and have nothing to get up for.
bool Waiter::WaitLoop::all_wait() const {
    std::size_t waiting = 1;
    for (WaitLoop const* p = waiter_.sleeping_; p; p = p->next_)
        if (p->shown_ && p->called_.load(std::memory_order_relaxed) == 0) ++waiting;
    return shown_ && waiting == waiter_.shown_waits_.size();
}

/// By the leader.
void Waiter::WaitLoop::show_all() const {
    ProgressThread const* const helper = waiter_.helper_;
    waiter_.shown_waits_.show({waiter_.lock_.on(), all_wait(), helper ? helper->thread() : 0},
                              {waiter_.pollable_, waiter_.pollable_ + waiter_.pollables_}, now_ns());
}

bool Waiter::WaitLoop::add_to_shown() {
    if (shown_ || nap_) return shown_;
    std::int64_t const now = now_ns();
    std::int64_t const waited = now - start_;
    if (waited >= publish_after_ns && (waiter_.shown_waits_.may_add(now) || waited >= waiter_.publish_in_any_case_ns_))
        shown_ = waiter_.shown_waits_.add(this, why_);
    return shown_;
}

/// After a poll without progress: tells the launcher so if that had asked before the poll. Returns true if it has asked
/// since; then the next poll comes at once.
bool Waiter::WaitLoop::asked_again() {
    std::int64_t const now = now_ns();
    if (!shown_) {
        add_to_shown();
        if (waiter_.shown_waits_.due(now)) show_all();
        if (shown_) waiter_.call_long_wait_watch();
        return false;
    }
    if (waiter_.shown_waits_.due(now)) show_all();
    if (waiter_.unsupervised_) waiter_.unsupervised_(waiter_.unsupervised_context_, now - start_);
    std::uint64_t const question = waiter_.segment_.header().questions.load(std::memory_order_acquire);
    if (question == waiter_.rank_state_.blocked.answered.load(std::memory_order_relaxed))
        return waiter_.call_long_wait_watch(), false;
    if (waiter_.asked_ == question) return answer(question), false;
    show_all();   // what is awaited may be something else by now
    waiter_.asked_ = question;
    waiter_.call_long_wait_watch();
    return true;
}

/// For all threads: the conditions of those that sleep have been checked since the question, too. If one of them was
/// woken, the answer waits until it sleeps again or has left.
void Waiter::WaitLoop::answer(std::uint64_t question) {
    if (!all_wait()) return;
    NetworkBytes bytes;
    for (int i = 0; i < waiter_.pollables_; ++i) waiter_.pollable_[i]->count_bytes(waiter_.segment_, bytes);
    Blocked& shown = waiter_.rank_state_.blocked;
    shown.sent.store(bytes.sent, std::memory_order_relaxed);
    shown.received.store(bytes.received, std::memory_order_relaxed);
    shown.answered.store(question, std::memory_order_release);
}

void Waiter::WaitLoop::mark_asleep() {
    asleep_ = true;
    ticket_ = waiter_.add_sleeper(word_);
}

std::uint32_t Waiter::add_sleeper(std::atomic<std::uint64_t> const* word) {
    bool const one_word = word && !lock_.on() && std::none_of(pollable_, pollable_ + pollables_, [](Pollable const* p) {
                              return p->awaits_words();
                          });
    if (lock_.on()) sleepers_.leave_own_threads_alone();
    return sleepers_.add(one_word ? word : nullptr, contended_);
}

void Waiter::WaitLoop::sleep(long longest) {
    at_rank_futex_ = true;
    event_ = waiter_.lock_.on() && waiter_.sleepers_.has_bell() ? event_of_thread() : -1;
    waiter_.enlist(*this);
    {
        RankLock::Outside outside(waiter_.lock_);
        waiter_.sleepers_.sleep(ticket_, longest, event_);
    }
    waiter_.delist(*this);
    eventfd_t calls;
    if (event_ >= 0) eventfd_read(event_, &calls);
    if (waiter_.leader_ == this) waiter_.sleepers_.silence_bell();
    ticket_ = waiter_.sleepers_.ticket();
}

void Waiter::WaitLoop::get_up() {
    asleep_ = false;
    waiter_.sleepers_.remove();
}

/// Threads that wait one inside the other, in a callback, count as one. Who comes fresh relieves a leader that sleeps,
/// or has waited for long and is likely to stay: that one is called like the others, the fresh one need not be.
bool Waiter::WaitLoop::take_lead() {
    WaitLoop* const leader = waiter_.leader_;
    bool const fresh = !followed_ && yields_ == 0 && clock_ == 0;
    if (leader && leader->thread_ == thread_) return true;
    if (leader && !fresh) return false;
    if (leader && leader->asleep_) leader->get_up();
    else if (leader && now_ns() - leader->start_ < longest_lead_ns) return false;
    if (followed_) waiter_.needless_calls_ = 0;
    waiter_.leader_ = this;
    return true;
}

void Waiter::WaitLoop::follow(long longest) {
    bool const spins = !waiter_.shares_core();
    if (ready_(what_)) return;   // after what the caller itself has polled
    if (followed_ && called_.load(std::memory_order_relaxed) != 0) ++waiter_.needless_calls_;
    followed_ = true;
    at_rank_futex_ = false;
    waiter_.enlist(*this);
    if (waiter_.needless_calls_ >= most_needless_calls) longest = std::min(longest, short_sleep_ns);
    {
        RankLock::Outside outside(waiter_.lock_);
        for (int i = 0; spins && i < followers_polls && called_.load(std::memory_order_acquire) == 0; ++i) cpu_pause();
        futex_wait(called_, 0, longest);
    }
    waiter_.delist(*this);
    if (called_.load(std::memory_order_relaxed) == 0) unless_out_of_memory([this] { return add_to_shown(); });
}

/// The lock keeps it from going on before the caller has left, so it is still there when it is woken.
void Waiter::WaitLoop::call() {
    called_.store(1, std::memory_order_release);
    if (!at_rank_futex_) futex_wake(called_, 1);
    else if (event_ >= 0) eventfd_write(event_, 1);
    else waiter_.sleepers_.wake_own();
}

void Waiter::enlist(WaitLoop& wait_loop) {
    wait_loop.called_.store(0, std::memory_order_relaxed);
    wait_loop.next_ = nullptr;
    WaitLoop** end = &sleeping_;
    while (*end) end = &(*end)->next_;
    *end = &wait_loop;
}

void Waiter::delist(WaitLoop& wait_loop) {
    WaitLoop** link = &sleeping_;
    while (*link != &wait_loop) link = &(*link)->next_;
    *link = wait_loop.next_;
}

void Waiter::wake_ready() {
    ended_.store(false, std::memory_order_relaxed);
    for (WaitLoop* p = sleeping_; p; p = p->next_) {
        if (p->called_.load(std::memory_order_relaxed) != 0) continue;
        bool ready = true;
        try {
            ready = p->ready_(p->what_);
        } catch (...) {   // it checks itself, and gets the exception
        }
        if (ready) p->call();
    }
}

/// One of the sleeping threads must lead. Where one thread keeps returning sooner than another one wakes up, they are
/// left asleep, and one of them takes the lead itself a little later.
void Waiter::call_next() {
    if (needless_calls_ >= most_needless_calls) return;
    for (WaitLoop* p = sleeping_; p; p = p->next_)
        if (p->called_.load(std::memory_order_relaxed) != 0) return;
    if (sleeping_) sleeping_->call();
}

void Waiter::WaitLoop::finish() {
    if (asleep_) get_up();
    if (waiter_.leader_ == this) waiter_.leader_ = nullptr;
    if (!waiter_.leader_) {   // also when a thread that was called to lead need not wait any more
        if (waiter_.sleeping_) waiter_.call_next();
        if (waiter_.helper_ && !waiter_.at_rest()) waiter_.started();
    }
    if (shown_) waiter_.shown_waits_.remove(this, now_ns());
    if (nap_) return;
    Times& times = waiter_.rank_state_.times;
    times.waits.add(1);
    std::int64_t const now = now_ns();
    times.waited.add(static_cast<std::uint64_t>(now - start_));
    if (waiter_.tracer_) waiter_.tracer_->waited(now - start_);
    unless_out_of_memory([&] { return waiter_.consider_moving(now), true; });   // a destructor must not throw
}

/// Where this rank runs is a question of speed alone.
void Waiter::consider_moving(std::int64_t now) {
    if (home_) home_->look(now);
    if (balance_ && !lock_.on()) balance_->look(now, contended_);
}

}   // namespace tutti
