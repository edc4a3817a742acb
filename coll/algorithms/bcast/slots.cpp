// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts of small messages through slots: slots and hierarchical_slots.
//
// slots: the root writes its slot and returns; all other ranks read it. One step; s bytes written, (p − 1)·s read.
// Slots are reused only several operations later, so the root does not wait for its readers.
#include "coll/algorithms/algorithm.hpp"

// hierarchical_slots: each leader reads its own leader's slot and writes its own, which its team reads. The root leads
// every team of which it is a member. L steps; s bytes written per leader, (p − 1)·s read.
// XHC (Katevenis, Ploumidis, Marazakis), section IV, the copy-in-copy-out path.

namespace tutti::coll::algorithms::bcast {

template <class Env>
Task hierarchical_slots(Env& env, BcastArgs const& a) {
    std::size_t const bytes = a.data.bytes();
    if (env.rank() == a.root) {
        env.load(env.slot(bytes), a.data, 0, bytes);
        env.publish();
        env.demote_slot(bytes);
        co_return;
    }
    int const mine = env.hierarchy().levels_of(env.rank(), a.root);
    int const leader = env.hierarchy().team(mine - 1, env.rank(), a.root).leader;
    co_await env.until(leader);
    std::byte const* data = env.slot(leader, bytes);
    if (mine > 1) {   // a leader itself: forward the data first
        env.count(bytes, bytes);
        copy_bytes(env.slot(bytes), data, bytes);
        env.publish();
        env.demote_slot(bytes);
    }
    env.store(a.data, 0, data, bytes);
}

constexpr Parameter hierarchical_slots_parameters[] = {hierarchy_parameter};
extern constinit const Algorithm<BcastArgs> hierarchical_slots_algorithm = {
    "hierarchical_slots",
    "leaders copy the message from slot to slot down the levels of the hierarchy",
    Family::tutti,
    "after XHC, section IV (copy-in-copy-out)",
    requires_slot,
    hierarchical_slots_parameters,
    TUTTI_SHM_ONLY(hierarchical_slots),
    {"2*(p + m - 1)*s"}};

template <class Env>
Task slots(Env& env, BcastArgs const& a) {
    std::size_t const bytes = a.data.bytes();
    if (env.rank() == a.root) {
        env.load(env.slot(bytes), a.data, 0, bytes);
        env.publish();
        env.demote_slot(bytes);
    } else {
        co_await env.until(a.root);
        env.store(a.data, 0, env.slot(a.root, bytes), bytes);
    }
}

extern constinit const Algorithm<BcastArgs> slots_algorithm = {
    "slots",  "all ranks read the root's slot", Family::tutti, "Tutti", requires_slot, {}, TUTTI_SHM_ONLY(slots),
    {"2*p*s"}};

}   // namespace tutti::coll::algorithms::bcast
