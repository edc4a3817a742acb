// SPDX-License-Identifier: BSD-3-Clause
#include "coll/call/fragments.hpp"

#include <vector>

#include "coll/blocks/messages/messages.hpp"

namespace tutti::coll {
namespace {

/// A fragment of a buffer with gaps goes through packed memory of its own size.
template <class Env>
Task through_packed(Env& env, Algorithm<BcastArgs> const& algorithm, BcastArgs const& whole, BcastArgs const& fragment,
                    std::size_t at) {
    std::vector<std::byte> packed(fragment.data.bytes());
    BcastArgs dense = fragment;
    dense.data.address = packed.data();
    if (env.rank() == whole.root) env.load(packed.data(), whole.data, at, packed.size());
    co_await run_in(env, algorithm, dense);
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
Task Fragments<BcastArgs>::task(Env& env, Algorithm<BcastArgs> const& algorithm, BcastArgs const& whole,
                                BcastArgs const& fragment, unsigned k) const {
    if (number == 1 || whole.data.type->dense(whole.data.count)) return run_in(env, algorithm, fragment);
    return through_packed(env, algorithm, whole, fragment, bytes * k);
}

template Task Fragments<BcastArgs>::task(ShmEnv&, Algorithm<BcastArgs> const&, BcastArgs const&, BcastArgs const&,
                                         unsigned) const;
template Task Fragments<BcastArgs>::task(NetEnv&, Algorithm<BcastArgs> const&, BcastArgs const&, BcastArgs const&,
                                         unsigned) const;

}   // namespace tutti::coll
