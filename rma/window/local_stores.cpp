// SPDX-License-Identifier: BSD-3-Clause
#include "rma/window/local_stores.hpp"

#include <algorithm>
#include <cstring>

#include "p2p/check/digest.hpp"
#include "rma/window/accesses.hpp"

namespace tutti::rma {

void LocalStores::open(void const* base, std::int64_t bytes, std::uint64_t site) {
    is_open_ = base && bytes > 0 && static_cast<std::size_t>(bytes) <= most;
    if (!is_open_) return;
    base_ = static_cast<std::byte const*>(base);
    site_ = site;
    before_.assign(base_, base_ + bytes);
}

bool LocalStores::has_changed(Accessed const& one) const {
    auto const bytes = static_cast<std::size_t>(one.end - one.first);
    std::byte const *const before = before_.data() + one.first, *const now = base_ + one.first;
    if (!one.writes()) return std::memcmp(before, now, bytes) != 0;
    return (one.found != 0 && one.found != p2p::digest_of(p2p::Data::of_bytes(before, bytes))) ||
           (one.left != 0 && one.left != p2p::digest_of(p2p::Data::of_bytes(now, bytes)));
}

std::vector<Accessed> LocalStores::changed(std::span<Accessed const> all) const {
    std::vector<Accessed> found;
    if (!is_open_) return found;
    std::uint64_t furthest = 0;   // end of the writes before, in the order of their beginnings
    for (std::size_t i = 0; i < all.size(); ++i) {
        Accessed const& one = all[i];
        bool others_write = furthest > one.first;
        for (std::size_t next = i + 1; !others_write && next < all.size() && all[next].first < one.end; ++next)
            others_write = all[next].writes();
        if (!others_write && one.end <= before_.size() && has_changed(one)) found.push_back(one);
        if (one.writes()) furthest = std::max(furthest, one.end);
    }
    return found;
}

}   // namespace tutti::rma
