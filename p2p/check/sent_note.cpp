// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/check/sent_note.hpp"

#include <algorithm>
#include <cstring>

namespace tutti::p2p {
namespace {

struct Head {
    std::int32_t rank;
    std::uint32_t number, synchronous, uncertain;
    std::uint64_t site;
    char call[24];   // the longest is MPI_Isendrecv_replace
};

}   // namespace

Note SentNote::to_bytes() const {
    Head head{rank, number, synchronous, uncertain, site, {}};
    std::memcpy(head.call, call.data(), std::min(call.size(), sizeof head.call - 1));
    std::size_t const clock_bytes = clock.size() * sizeof clock[0];
    auto bytes = std::make_shared<std::vector<std::byte>>(sizeof head + clock_bytes);
    std::memcpy(bytes->data(), &head, sizeof head);
    std::memcpy(bytes->data() + sizeof head, clock.data(), clock_bytes);
    return bytes;
}

SentNote SentNote::from_bytes(Note const& note) {
    Head head;
    std::memcpy(&head, note->data(), sizeof head);
    SentNote sent{head.rank, head.number, head.synchronous != 0, head.uncertain != 0, head.site, head.call, {}};
    sent.clock.resize((note->size() - sizeof head) / sizeof sent.clock[0]);
    std::memcpy(sent.clock.data(), note->data() + sizeof head, sent.clock.size() * sizeof sent.clock[0]);
    return sent;
}

}   // namespace tutti::p2p
