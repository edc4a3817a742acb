// SPDX-License-Identifier: BSD-3-Clause
// How a rank exposes a buffer with gaps, or two buffers together (a single contiguous one: Environment::expose). For a
// buffer with gaps, peers also need a description of its datatype. They then load and store there (PeerBuffer), or let
// the kernel copy from segment to segment (RemoteSegments).
#pragma once

#include "coll/env/env.hpp"

namespace tutti::coll {

/// Returns how peers access a buffer with gaps: by load and store if they can reach every byte between the first and
/// the last that it touches; else by segments that the kernel copies; else not.
template <class Env>
AccessPath path_to_gaps(Env const& env, ConstBuffer const& b) {
    AddressRange const range = AddressRange::of(b.address, b.count, *b.type);
    AccessPath const all = env.access_path(reinterpret_cast<void const*>(range.first), range.bytes);
    return all == AccessPath::attach ? env.kernel_path() : all;
}

/// Writes the description of a datatype into `capacity` bytes of staging memory from `at` on. Returns its length in
/// bytes, or 0 if it does not fit.
template <class Env>
std::size_t write_layout(Env& env, Datatype const& type, std::size_t at, std::size_t capacity) {
    constexpr std::size_t word = sizeof(std::int64_t);
    return word * flatten(type, {reinterpret_cast<std::int64_t*>(env.staging() + at), capacity / word});
}
/// The same into memory that is taken for it. This rank must have exposed its staging memory. Returns the distance from
/// there (Environment::layout_of).
template <class Env>
std::uint64_t write_layout(Env& env, Datatype const& type) {
    std::size_t const length = flat_length(type);
    StagingMemory const memory = env.more_staging(length * sizeof(std::int64_t));
    flatten(type, {reinterpret_cast<std::int64_t*>(env.shared_memory(memory.offset)), length});
    return memory.offset - env.exposure(env.rank()).staging;
}

/// Exposes a buffer with gaps, whose datatype is described at this distance from the staging memory.
template <class Env>
void expose_layout(Env& env, ConstBuffer const& b, std::uint64_t layout, AccessPath access) {
    env.expose_staged();
    Exposure& exposed = env.own_exposure();
    exposed = {reinterpret_cast<std::uint64_t>(b.address), exposed.staging, b.bytes(), layout, access};
}
/// Exposes a buffer of any layout. A buffer with gaps is exposed as AccessPath::load_store if peers can load and store
/// there and its datatype can be written into `capacity` bytes of staging memory from `at` on; otherwise it is staged.
template <class Env>
AccessPath expose_buffer(Env& env, ConstBuffer const& b, std::size_t at, std::size_t capacity) {
    if (b.type->dense(b.count)) return env.expose(first_byte(b), b.bytes());
    if (path_to_gaps(env, b) != AccessPath::load_store || write_layout(env, *b.type, at, capacity) == 0)
        return env.expose_staged();
    expose_layout(env, b, at, AccessPath::load_store);
    return AccessPath::load_store;
}
/// The same, but peers may also let the kernel copy from or to a buffer with gaps, whose datatype is written wherever
/// there is room.
template <class Env>
AccessPath expose_segments(Env& env, ConstBuffer const& b) {
    if (b.type->dense(b.count)) return env.expose(first_byte(b), b.bytes());
    env.expose_staged();
    AccessPath const path = path_to_gaps(env, b);
    if (path != AccessPath::staged) expose_layout(env, b, write_layout(env, *b.type), path);
    return path;
}

/// Exposes the buffer that peers load from and the one that they store to, by load and store alone, without staging
/// memory. Both have the same size, or one is empty. `worst`: the best access path that may be granted.
template <class Env>
void expose_both(Env& env, std::span<std::byte const> in, std::span<std::byte const> out,
                 AccessPath worst = AccessPath::load_store) {
    for (auto buffer : {in, out})
        if (!buffer.empty()) worst = std::max(worst, env.access_path(buffer.data(), buffer.size()));
    Exposure& exposed = env.own_exposure();
    exposed.address = reinterpret_cast<std::uint64_t>(in.data());
    exposed.result = reinterpret_cast<std::uint64_t>(out.data());
    exposed.bytes = std::max(in.size(), out.size());
    exposed.access = worst;
}
/// The same for each buffer alone: the address of one that peers can neither load and store nor perhaps attach is 0.
/// Returns the worst access path of the others.
template <class Env>
AccessPath expose_loadable(Env& env, std::span<std::byte const> in, std::span<std::byte> out) {
    AccessPath worst = AccessPath::load_store;
    auto const address = [&](auto buffer) -> std::uint64_t {
        if (buffer.empty()) return 0;
        AccessPath const access = env.access_path(buffer.data(), buffer.size());
        if (access > AccessPath::attach) return 0;
        worst = std::max(worst, access);
        return reinterpret_cast<std::uint64_t>(buffer.data());
    };
    env.own_exposure().address = address(in);
    env.own_exposure().result = address(out);
    return worst;
}

}   // namespace tutti::coll
