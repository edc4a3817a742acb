// SPDX-License-Identifier: BSD-3-Clause
// The change from one way of combining to the other.
#include "rma/node/by_processor.hpp"

#include "rma/node/short_wait.hpp"
#include "runtime/base/membarrier.hpp"

namespace tutti::rma {
namespace {

void await_change(Word const& stripes_only) {
    wait_shortly([&] { return stripes_only.load(std::memory_order_acquire) == Control::yes; });
}

}   // namespace

void ByProcessor::take_back() {
    word_.store(0, std::memory_order_release);
    await_change(stripes_only_);
}

void use_stripes_only(NodeMembers const& members, std::size_t owner) {
    Word& stripes_only = members.controls[owner]->stripes_only.word;
    if (stripes_only.load(std::memory_order_acquire) == Control::yes) return;
    std::uint64_t was = Control::no;
    if (!stripes_only.compare_exchange_strong(was, Control::begun, std::memory_order_acq_rel))
        return await_change(stripes_only);
    if (members.fenced) fence_registered_processes();
    else std::atomic_thread_fence(std::memory_order_seq_cst);
    for (Control const* member : members.controls)
        wait_shortly([&] { return member->by_processor.word.load(std::memory_order_acquire) != owner + 1; });
    stripes_only.store(Control::yes, std::memory_order_release);
}

}   // namespace tutti::rma
