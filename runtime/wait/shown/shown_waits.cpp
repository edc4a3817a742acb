// SPDX-License-Identifier: BSD-3-Clause
// Writing under the count of changes, and looking again later where other threads may act.
#include "runtime/wait/shown/shown_waits.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/trace/call_stack.hpp"
#include "runtime/trace/script_place.hpp"
#include "runtime/wait/shown/other_threads.hpp"
#include "runtime/wait/wait.hpp"

namespace tutti {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t first_pause_ns = 20'000'000, longest_pause_between_looks_ns = 1'000'000'000;
constexpr std::int64_t waited_for_each_look_ns = 4'000'000;   // a hundred times what the look at a thread takes

/// From now on nothing of it is valid.
void withdraw(Blocked& shown) {
    std::uint64_t const changes = shown.changes.load(std::memory_order_relaxed);
    if (changes % 2 == 0) return;
    shown.changes.store(changes + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
}

template <std::size_t N>
void put(char (&field)[N], std::string const& text) {
    std::snprintf(field, N, "%s", text.c_str());
}

void put(BlockedThread& shown, Blockage const& blockage) {
    shown.awaiting = blockage.awaiting;
    shown.ranges = static_cast<std::uint32_t>(blockage.awaited.size());
    shown.others = static_cast<std::uint32_t>(blockage.others.size());
    std::ranges::copy(blockage.others, std::ranges::copy(blockage.awaited, shown.awaited).out);
    put(shown.call, blockage.call);
    shown.noticed_of = blockage.hint.about;
    put(shown.code, blockage.hint.code);
    put(shown.headline, blockage.hint.headline);
    put(shown.help, blockage.hint.help);
}

/// What may be over by now cannot be asked what it waits for.
Blockage call_of(Reason const& why) {
    Blockage blockage;
    blockage.call = why.operation;
    return blockage;
}

}   // namespace

bool ShownWaits::add(void const* wait, Reason const& why) {
    pid_t const thread = gettid();
    if (waits_.size() == Blocked::most_threads || std::ranges::find(waits_, thread, &Wait::thread) != waits_.end())
        return false;
    std::int64_t const begin = thread_time_ns();
    std::uint64_t stack[BlockedThread::most_addresses];
    std::size_t const addresses = program_stack(stack);
    waits_.push_back({wait, &why, thread, {stack, stack + addresses}, script_place(), now_ns()});
    due_ = 0;
    allowance_.spend(thread_time_ns() - begin);
    return true;
}

void ShownWaits::remove(void const* wait, std::int64_t now) {
    withdraw(shown_);
    std::erase_if(waits_, [wait](Wait const& one) { return one.wait == wait; });
    pause_ns_ = 0;
    due_ = now + first_pause_ns;
}

bool ShownWaits::alone(Company company, std::int64_t now) const {
    if (!company.several) return true;
    if (!company.asleep) return false;
    std::vector<pid_t> threads = exempt_;
    for (Wait const& one : waits_) threads.push_back(one.thread);
    if (company.helper != 0) threads.push_back(company.helper);
    std::int64_t const waited = now - waits_.back().since;
    return !others_may_act(threads, static_cast<std::size_t>(waited / (waited_for_each_look_ns * sharing_)));
}

void ShownWaits::show(Company company, std::span<Pollable* const> pollables, std::int64_t now) {
    std::int64_t const begin = thread_time_ns();
    std::vector<Blockage> blockages;
    for (Wait const& one : waits_) blockages.push_back(company.asleep ? one.why->blockage() : call_of(*one.why));
    for (Pollable* const pollable : pollables) pollable->tell(blockages.front());
    bool const sure = alone(company, now);
    for (Blockage& one : blockages)
        if (!sure || one.awaited.size() + one.others.size() > BlockedThread::most_ranges) one.await_unknown();
    pause_ns_ = sure ? 0 : std::clamp(2 * pause_ns_, first_pause_ns, longest_pause_between_looks_ns);
    due_ = sure ? never : now + pause_ns_;
    bool const valid = shown_.changes.load(std::memory_order_relaxed) % 2 != 0;
    if (!valid || shown_.threads != waits_.size() || blockages != blockages_) write(blockages);
    blockages_ = std::move(blockages);
    allowance_.spend(thread_time_ns() - begin);
}

void ShownWaits::write(std::vector<Blockage> const& blockages) {
    withdraw(shown_);
    shown_.threads = static_cast<std::uint32_t>(waits_.size());
    for (std::size_t i = 0; i < waits_.size(); ++i) {
        BlockedThread& shown = shown_.thread[i];
        put(shown, blockages[i]);
        put(shown.script, waits_[i].script);
        shown.addresses = static_cast<std::uint32_t>(waits_[i].stack.size());
        std::ranges::copy(waits_[i].stack, shown.stack);
    }
    shown_.changes.store(shown_.changes.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

}   // namespace tutti
