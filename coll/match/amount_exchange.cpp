// SPDX-License-Identifier: BSD-3-Clause
#include "coll/match/amount_exchange.hpp"

#include <cstring>

#include "coll/match/all_call_records.hpp"
#include "coll/match/call_records.hpp"
#include "runtime/process.hpp"

namespace tutti::coll {
namespace {

struct Letter {
    std::uint64_t context, number;
    int sender;   ///< of MPI_COMM_WORLD
    Amount amount;
    std::uint64_t site;
};

}   // namespace

void AmountExchange::begin(Comm const& comm, std::uint64_t number, Collective collective, RootedArgs const& args) {
    bool const is_root = comm.rank() == args.root, to_root = collective == Collective::gather;
    for (int r = 0; is_root && r < comm.size(); ++r) {
        if (r == args.root) continue;
        Amount const part = Amount::of(args.parts[r]);
        if (to_root) expect(comm, number, r, part);
        else send(comm, number, r, part);
    }
    if (!is_root && to_root) send(comm, number, args.root, Amount::of(args.mine));
    if (!is_root && !to_root) expect(comm, number, args.root, Amount::of(args.mine));
    take();
}

void AmountExchange::begin(Comm const& comm, std::uint64_t number, Collective, AlltoallArgs const& args) {
    for (int r = 0; r < comm.size(); ++r) {
        if (r == comm.rank()) continue;
        send(comm, number, r, Amount::of(args.send[r]));
        expect(comm, number, r, Amount::of(args.receive[r]));
    }
    take();
}

void AmountExchange::send(Comm const& comm, std::uint64_t number, int rank, Amount const& amount) {
    Letter const letter{comm.context, number, comm.process.rank(), amount,
                        reinterpret_cast<std::uintptr_t>(comm.process.call_site)};
    std::vector<std::byte> bytes(sizeof letter);
    std::memcpy(bytes.data(), &letter, sizeof letter);
    mail_.send(std::move(bytes), comm.world_rank(rank));
}

void AmountExchange::expect(Comm const& comm, std::uint64_t number, int rank, Amount const& amount) {
    Place const place{comm.context, number, comm.world_rank(rank)};
    Expected const expected{amount, rank, comm.rank()};
    auto const came = came_.find(place);
    if (came == came_.end()) return void(expected_.emplace(place, expected));
    Sent const sent = came->second;
    came_.erase(came);
    compare(place, expected, sent);
}

void AmountExchange::take() {
    while (std::optional<std::vector<std::byte>> const bytes = mail_.next()) {
        Letter letter;
        std::memcpy(&letter, bytes->data(), sizeof letter);
        Place const place{letter.context, letter.number, letter.sender};
        auto const at = expected_.find(place);
        if (at == expected_.end()) {
            came_.emplace(place, Sent{letter.amount, letter.site});
            continue;
        }
        Expected const expected = at->second;
        expected_.erase(at);
        compare(place, expected, {letter.amount, letter.site});
    }
}

void AmountExchange::compare(Place const& place, Expected const& expected, Sent const& sent) {
    if (sent.amount.matches(expected.amount)) return;
    auto const& [context, number, sender] = place;
    std::string const text = difference_in_words(expected.sender, sent.amount, expected.receiver, expected.amount);
    if (CallRecords const* const records = records_.find(context))   // none: the communicator has been freed
        records->report_amounts(sender, text, {number, sent.site});
}

}   // namespace tutti::coll
