// SPDX-License-Identifier: BSD-3-Clause
// Which of two ways integers are combined. Atomic instructions are best for a few and on a counter that many want; for
// many, a reduction's kernel under stripes takes a fiftieth of the time. The two must not meet on one location, so each
// member's part begins with atomic instructions and changes to stripes, for good, when the first accumulate of many
// integers comes. Who has a few pays two plain stores and a load for that.
//
// Argued: who has a few (1) stores in its own word whose part it works in, (2) reads that part's `stripes_only`, (3)
// works by atomic instructions if that is `no`, and (4) stores that it has done; else it takes (1) back. Who changes it
// (a) stores `begun`, (b) runs a fence in all members' processes, (c) waits for each member's word that names the part,
// and (d) stores `yes`; all integers are combined under stripes after that, by whoever has read it. The fence is run at
// some point P of the other's program. If (1) lies before P, (c) sees it and waits for (4), which releases (3) to (d).
// If it lies behind P, so does (2), which sees (a), and waits for (d). Signal fences keep the compiler to the order of
// (1) and (2). Where not all processes take part in such fences (NodeMembers::fenced), each side runs one of its own
// between its store and its loads: Dekker's way. There is no circle: (c) waits for (3), which waits for nobody. The
// threads of a process are inside its lock, one at a time.
#pragma once

#include "rma/node/control.hpp"

namespace tutti::rma {

/// So many integers that lie behind each other are many: under a stripe they take what two by themselves do.
inline constexpr std::size_t many_elements = 8;

/// While it lives, this process may combine integers in a member's part by atomic instructions, if `granted`; else
/// under stripes.
class ByProcessor {
public:
    ByProcessor(NodeMembers const& members, std::size_t owner)
        : ByProcessor(members, *members.controls[owner], owner) {}
    /// `control`: the owner's.
    ByProcessor(NodeMembers const& members, Control const& control, std::size_t owner)
        : word_(members.mine->by_processor.word), stripes_only_(control.stripes_only.word) {
        word_.store(owner + 1, std::memory_order_relaxed);
        if (members.fenced) std::atomic_signal_fence(std::memory_order_seq_cst);
        else std::atomic_thread_fence(std::memory_order_seq_cst);
        granted_ = stripes_only_.load(std::memory_order_acquire) == Control::no;
        if (!granted_) [[unlikely]]
            take_back(members);
    }
    ~ByProcessor() { word_.store(0, std::memory_order_release); }
    ByProcessor(ByProcessor const&) = delete;
    ByProcessor& operator=(ByProcessor const&) = delete;

    bool granted() const { return granted_; }

private:
    void take_back(NodeMembers const& members);

    Word& word_;
    Word const& stripes_only_;
    bool granted_;
};

/// From now on integers in a member's part are combined under stripes. Waits for those who are at it otherwise.
void use_stripes_only(NodeMembers const& members, std::size_t owner);

}   // namespace tutti::rma
