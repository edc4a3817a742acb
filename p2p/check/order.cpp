// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/check/order.hpp"

#include <algorithm>

namespace tutti::p2p {

void Order::learn(std::span<std::uint32_t const> clock, bool is_uncertain) {
    if (clock.size() == clock_.size()) {
        heard_of_ = std::max(heard_of_, clock[me_]);
        std::ranges::transform(clock, clock_, clock_.begin(), [](auto a, auto b) { return std::max(a, b); });
    } else {
        is_uncertain = true;
    }
    is_uncertain_ |= is_uncertain;
    ++lessons_;
}

std::vector<std::uint32_t> Order::to_members(std::span<int const> outsiders) {
    std::vector<std::uint32_t> shared{tick(), is_uncertain_};
    for (int const rank : outsiders) shared.push_back(clock_[static_cast<std::size_t>(rank)]);
    return shared;
}

void Order::meet(std::span<int const> members, std::span<int const> outsiders, std::span<std::uint32_t const> all) {
    std::size_t const each = 2 + outsiders.size();
    for (std::size_t m = 0; m < members.size(); ++m) {
        auto const shared = all.subspan(m * each, each);
        auto const raise = [this](int rank, std::uint32_t to) {
            std::uint32_t& known = clock_[static_cast<std::size_t>(rank)];
            known = std::max(known, to);
        };
        raise(members[m], shared[0]);   // no rank knows more of a member than the member itself
        is_uncertain_ |= shared[1] != 0;
        for (std::size_t i = 0; i < outsiders.size(); ++i) raise(outsiders[i], shared[2 + i]);
    }
    if (outsiders.empty()) is_uncertain_ = false;
    heard_of_ = now();
    ++lessons_;
}

}   // namespace tutti::p2p
