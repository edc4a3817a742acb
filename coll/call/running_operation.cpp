// SPDX-License-Identifier: BSD-3-Clause
// Failure of a suspended operation, by itself or because of a member, and fragments of broadcasts.
#include "coll/call/running_operation.hpp"

#include <vector>

#include "coll/blocks/messages.hpp"

namespace tutti::coll {
namespace {

/// Broadcasts a fragment of a buffer with gaps by way of packed memory of the fragment's size.
template <class Env>
Task through_packed(Env& env, Chosen<BcastArgs> chosen, BcastArgs const& whole, BcastArgs const& fragment,
                    std::size_t at) {
    std::vector<std::byte> packed(fragment.data.bytes());
    BcastArgs dense = fragment;
    dense.data.address = packed.data();
    if (env.rank() == whole.root) env.load(packed.data(), whole.data, at, packed.size());
    co_await run_in(env, chosen, dense);
    if (env.rank() != whole.root) env.store(whole.data, at, packed.data(), packed.size());
}

}   // namespace

BcastArgs Fragments<BcastArgs>::cut(BcastArgs const& whole, unsigned k) const {
    if (number == 1) return whole;
    std::size_t const at = bytes * k;
    bool const dense = whole.data.type->dense(whole.data.count);
    std::byte* const address = dense ? first_byte(whole.data) + at : nullptr;
    ConstBuffer const part = packed_part(address, std::min(bytes, whole.data.bytes() - at)).buffer;
    BcastArgs fragment = whole;
    fragment.data = {address, part.count, part.type};
    return fragment;
}

template <class Env>
Task Fragments<BcastArgs>::task(Env& env, Chosen<BcastArgs> const& chosen, BcastArgs const& whole,
                                BcastArgs const& fragment, unsigned k) const {
    if (number == 1 || whole.data.type->dense(whole.data.count)) return run_in(env, chosen, fragment);
    return through_packed(env, chosen, whole, fragment, bytes * k);
}

template Task Fragments<BcastArgs>::task(ShmEnv&, Chosen<BcastArgs> const&, BcastArgs const&, BcastArgs const&,
                                         unsigned) const;
template Task Fragments<BcastArgs>::task(NetEnv&, Chosen<BcastArgs> const&, BcastArgs const&, BcastArgs const&,
                                         unsigned) const;

void RunningOperation::end_by_peer_failure() {
    try {
        throw_failure_of(comm_, shm_->failed_rank());
    } catch (...) { task_->set_error(std::current_exception()); }
}

bool RunningOperation::drain() {
    FramePool& frames = shm_ ? shm_->frames() : net_->frames();
    if (!shm_ || is_local_error(error())) {
        frames.retain();
        frames.release();   // returns the frames that the error has retained to the pool
        return true;
    }
    if (!draining_) {
        frames.retain();
        sequence_.fail(number_);
        draining_ = true;
        drain_member_ = 0;
    }
    for (; drain_member_ < sequence_.area.members(); ++drain_member_) {
        if (drain_member_ == sequence_.rank) continue;
        suspension_ = {std::noop_coroutine(), &sequence_.area.done(drain_member_).value, number_, drain_member_,
                       &comm_};
        if (!suspension_.is_ready()) return false;
    }
    return true;
}

}   // namespace tutti::coll
