// SPDX-License-Identifier: BSD-3-Clause
// Vector clocks, calls that convey no news, and the encoding of piggyback data.
#include "p2p/check/order.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace tutti::p2p {

bool CallOrder::conveys_news(Function function) {
    static constexpr Function local[] = {"MPI_Put",
                                         "MPI_Get",
                                         "MPI_Accumulate",
                                         "MPI_Get_accumulate",
                                         "MPI_Fetch_and_op",
                                         "MPI_Compare_and_swap",
                                         "MPI_Win_lock",
                                         "MPI_Win_lock_all",
                                         "MPI_Win_unlock",
                                         "MPI_Win_unlock_all",
                                         "MPI_Win_flush",
                                         "MPI_Win_flush_all",
                                         "MPI_Win_flush_local",
                                         "MPI_Win_flush_local_all",
                                         "MPI_Comm_rank",
                                         "MPI_Comm_size",
                                         "MPI_Get_address",
                                         "MPI_Alloc_mem",
                                         "MPI_Wtime"};
    static constexpr std::string_view beginnings[] = {"MPI_Type_", "MPI_Group_", "MPI_Info_", "MPI_Aint_"};
    std::string_view const name = function.name();
    return std::ranges::find(local, function) == std::end(local) &&
           std::ranges::none_of(beginnings, [&](std::string_view one) { return name.starts_with(one); });
}

namespace {

struct Head {   // without padding, because it is sent as bytes
    std::uint64_t site;
    std::int32_t rank;
    std::uint32_t number, synchronous;
    std::uint16_t uncertain;
    Function function;
};

}   // namespace

Piggyback SendPiggyback::to_bytes() const {
    Head const head{site, rank, number, synchronous, uncertain, function};
    std::size_t const clock_bytes = clock.size() * sizeof clock[0];
    auto bytes = std::make_shared<std::vector<std::byte>>(sizeof head + clock_bytes);
    std::memcpy(bytes->data(), &head, sizeof head);
    std::memcpy(bytes->data() + sizeof head, clock.data(), clock_bytes);
    return bytes;
}

SendPiggyback SendPiggyback::from_bytes(Piggyback const& piggyback) {
    Head head;
    std::memcpy(&head, piggyback->data(), sizeof head);
    SendPiggyback sent{head.rank,     head.number, head.synchronous != 0, head.uncertain != 0, head.site,
                       head.function, {}};
    sent.clock.resize((piggyback->size() - sizeof head) / sizeof sent.clock[0]);
    std::memcpy(sent.clock.data(), piggyback->data() + sizeof head, sent.clock.size() * sizeof sent.clock[0]);
    return sent;
}

void VectorClock::merge(std::span<std::uint32_t const> values, bool is_uncertain) {
    if (values.size() == values_.size()) {
        latest_known_elsewhere_ = std::max(latest_known_elsewhere_, values[me_]);
        std::ranges::transform(values, values_, values_.begin(), [](auto a, auto b) { return std::max(a, b); });
    } else {
        is_uncertain = true;
    }
    is_uncertain_ |= is_uncertain;
    ++updates_;
}

std::vector<std::uint32_t> VectorClock::values_for_members(std::span<int const> outsiders) {
    std::vector<std::uint32_t> shared{tick(), is_uncertain_};
    for (int const rank : outsiders) shared.push_back(values_[static_cast<std::size_t>(rank)]);
    return shared;
}

void VectorClock::merge_members(std::span<int const> members, std::span<int const> outsiders,
                                std::span<std::uint32_t const> all) {
    std::size_t const each = 2 + outsiders.size();
    for (std::size_t m = 0; m < members.size(); ++m) {
        auto const shared = all.subspan(m * each, each);
        auto const raise = [this](int rank, std::uint32_t to) {
            std::uint32_t& known = values_[static_cast<std::size_t>(rank)];
            known = std::max(known, to);
        };
        raise(members[m], shared[0]);   // only the member itself knows its latest event
        is_uncertain_ |= shared[1] != 0;
        for (std::size_t i = 0; i < outsiders.size(); ++i) raise(outsiders[i], shared[2 + i]);
    }
    if (outsiders.empty()) is_uncertain_ = false;
    latest_known_elsewhere_ = last_event();
    ++updates_;
}

}   // namespace tutti::p2p
