// SPDX-License-Identifier: BSD-3-Clause
// The change from one way of combining to the other.
#include "rma/node/by_processor.hpp"

#include "runtime/base/membarrier.hpp"
#include "runtime/wait/short_wait.hpp"

namespace tutti::rma {
namespace {

void await_change(NodeMembers const& members, Word const& stripes_only) {
    wait_briefly(
        stripes_only, [](std::uint64_t value) { return value == Control::yes; },
        [&] { members.check_alive(stripes_only.load(std::memory_order_relaxed) - Control::begun); });
}

}   // namespace

void ByProcessor::take_back(NodeMembers const& members) {
    word_.store(0, std::memory_order_release);
    await_change(members, stripes_only_);
}

void use_stripes_only(NodeMembers const& members, std::size_t owner) {
    Word& stripes_only = members.controls[owner]->stripes_only.word;
    if (stripes_only.load(std::memory_order_acquire) == Control::yes) return;
    std::uint64_t was = Control::no;
    if (!stripes_only.compare_exchange_strong(was, Control::begun + members.me, std::memory_order_acq_rel))
        return await_change(members, stripes_only);
    if (members.fenced) fence_registered_processes();
    else std::atomic_thread_fence(std::memory_order_seq_cst);
    for (std::size_t member = 0; member < members.controls.size(); ++member)
        wait_briefly(
            members.controls[member]->by_processor.word, [&](std::uint64_t value) { return value != owner + 1; },
            [&] { members.check_alive(member); });
    stripes_only.store(Control::yes, std::memory_order_release);
}

}   // namespace tutti::rma
