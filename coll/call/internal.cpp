// SPDX-License-Identifier: BSD-3-Clause
// The library's own collectives. On one node they use slots, in pieces of a slot's size; they are rare and their data
// is small, so they are flat and simple. Between nodes they use messages: Bruck's allgather and a binomial tree.
#include "coll/call/internal.hpp"

#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/linear.hpp"
#include "coll/call/drive.hpp"

namespace tutti::coll {

namespace algorithms::allgather {
extern const Algorithm<AllgatherArgs> bruck_algorithm;
}

namespace {

constexpr char call[] = "creation of a communicator";

Task gather_piece(ShmEnv& env, std::byte const* mine, std::size_t piece, std::byte* all, std::size_t stride) {
    std::memcpy(env.slot(piece), mine, piece);
    env.publish();
    for (int r = 0; r < env.size(); ++r) {
        co_await env.until(r);
        std::memcpy(all + static_cast<std::size_t>(r) * stride, env.slot(r, piece), piece);
    }
}

Task bcast_piece(ShmEnv& env, std::byte* data, std::size_t piece, int root) {
    if (env.rank() == root) {
        std::memcpy(env.slot(piece), data, piece);
        env.publish();
    } else {
        co_await env.until(root);
        std::memcpy(data, env.slot(root, piece), piece);
    }
}

}   // namespace

void allgather_bytes(Comm& comm, void const* mine, std::size_t n, void* all) {
    if (state_of(comm).multi_node) {
        AllgatherArgs const args = allgather_bytes_args(mine, n, all);
        auto const& bruck = algorithms::allgather::bruck_algorithm;
        return drive_multi_node(comm, state_of(comm).trees, call, 0, [&](NetEnv& env) { return bruck.net(env, args); });
    }
    std::size_t const most = state_of(comm).area.slot_bytes();
    for (std::size_t at = 0; at < n; at += most)
        drive(comm, call, [&](ShmEnv& env) {
            return gather_piece(env, static_cast<std::byte const*>(mine) + at, std::min(most, n - at),
                                static_cast<std::byte*>(all) + at, n);
        });
}

void bcast_bytes(Comm& comm, void* data, std::size_t n, int root) {
    if (state_of(comm).multi_node) {
        BcastArgs const args = bcast_bytes_args(data, n, root);
        return drive_multi_node(comm, state_of(comm).trees, call, 0,
                                [&](NetEnv& env) { return binomial_bcast(env, args); });
    }
    std::size_t const most = state_of(comm).area.slot_bytes();
    for (std::size_t at = 0; at < n; at += most)
        drive(comm, call, [&](ShmEnv& env) {
            return bcast_piece(env, static_cast<std::byte*>(data) + at, std::min(most, n - at), root);
        });
}

}   // namespace tutti::coll
