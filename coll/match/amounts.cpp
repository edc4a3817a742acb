// SPDX-License-Identifier: BSD-3-Clause
#include "coll/match/amounts.hpp"

#include <cstring>

#include "coll/match/all_call_records.hpp"
#include "coll/match/call_records.hpp"
#include "p2p/p2p.hpp"
#include "runtime/base/error.hpp"
#include "runtime/datatype/signature.hpp"
#include "runtime/objects/comm.hpp"
#include "runtime/process.hpp"

namespace tutti::coll {
namespace {

struct AmountMessage {
    std::uint64_t context, number;
    int sender;   ///< rank in MPI_COMM_WORLD
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
    receive();
}

void AmountExchange::begin(Comm const& comm, std::uint64_t number, Collective, AlltoallArgs const& args) {
    for (int r = 0; r < comm.size(); ++r) {
        if (r == comm.rank()) continue;
        send(comm, number, r, Amount::of(args.send[r]));
        expect(comm, number, r, Amount::of(args.receive[r]));
    }
    receive();
}

void AmountExchange::send(Comm const& comm, std::uint64_t number, int rank, Amount const& amount) {
    AmountMessage const message{comm.context, number, comm.process.rank(), amount,
                                reinterpret_cast<std::uintptr_t>(comm.process.call_site)};
    std::vector<std::byte> bytes(sizeof message);
    std::memcpy(bytes.data(), &message, sizeof message);
    mailbox_.send(std::move(bytes), comm.world_rank(rank));
}

void AmountExchange::expect(Comm const& comm, std::uint64_t number, int rank, Amount const& amount) {
    Key const key{comm.context, number, comm.world_rank(rank)};
    Expected const expected{amount, rank, comm.rank()};
    auto const early = early_.find(key);
    if (early == early_.end()) return void(expected_.emplace(key, expected));
    Sent const sent = early->second;
    early_.erase(early);
    compare(key, expected, sent);
}

void AmountExchange::receive() {
    while (std::optional<std::vector<std::byte>> const bytes = mailbox_.next()) {
        AmountMessage message;
        std::memcpy(&message, bytes->data(), sizeof message);
        Key const key{message.context, message.number, message.sender};
        auto const at = expected_.find(key);
        if (at == expected_.end()) {
            early_.emplace(key, Sent{message.amount, message.site});
            continue;
        }
        Expected const expected = at->second;
        expected_.erase(at);
        compare(key, expected, {message.amount, message.site});
    }
}

void AmountExchange::compare(Key const& key, Expected const& expected, Sent const& sent) {
    if (sent.amount.matches(expected.amount)) return;
    auto const& [context, number, sender] = key;
    std::string const text = describe_difference(expected.sender, sent.amount, expected.receiver, expected.amount);
    if (CallRecords const* const records = matcher_.find(context))   // null: the communicator has been freed
        records->report_amounts(sender, text, {number, sent.site});
}

Mailbox::~Mailbox() {
    for (IncomingMessage& op : incoming_)
        if (!op.done) p2p::engine(process_).abandon(op);
    for (OutgoingMessage& op : outgoing_)
        if (!op.done) p2p::engine(process_).abandon(op);
}

void Mailbox::send(std::vector<std::byte> bytes, int to) {
    while (!outgoing_.empty() && outgoing_.front().done) outgoing_.pop_front();
    OutgoingMessage& op = outgoing_.emplace_back();
    op.bytes = std::move(bytes);
    op.data = p2p::Data::of_bytes(op.bytes.data(), op.bytes.size());
    op.key = {p2p::context_of(*process_.world, p2p::Flavour::internal), process_.rank(), tag_};
    op.peer = process_.cluster.peer_id(to);
    p2p::engine(process_).begin(op);
}

std::optional<std::vector<std::byte>> Mailbox::next() {
    p2p::Engine& engine = p2p::engine(process_);
    p2p::Key const key{p2p::context_of(*process_.world, p2p::Flavour::internal), any_source, tag_};
    while (p2p::Unexpected* const message = engine.find(key)) {
        IncomingMessage& op = incoming_.emplace_back();
        op.bytes.resize(message->bytes);
        op.data = p2p::Data::of_bytes(op.bytes.data(), op.bytes.size());
        op.key = message->key;
        op.peer = message->peer;
        engine.begin(op, engine.dequeue(message));
    }
    while (!incoming_.empty() && incoming_.front().done) {
        std::vector<std::byte> bytes = std::move(incoming_.front().bytes);
        bool const failed = incoming_.front().failed();
        incoming_.pop_front();
        if (!failed) return bytes;
    }
    return std::nullopt;
}

namespace {

std::string mismatch(ConstBuffer const& out, ConstBuffer const& in) {
    if (Amount::of(out).matches(Amount::of(in))) return {};
    std::string const sent = describe(out), expected = describe(in);
    return join("sends ", sent, " to itself and expects ", expected == sent ? "other types" : expected);
}

}   // namespace

Amount Amount::of(ConstBuffer const& data) {
    TypeSignature const* const signature = data.type ? data.type->signature() : nullptr;
    if (!signature || data.count == 0) return {};
    Amount amount{data.bytes(), 0};
    if (!signature->untyped) amount.signature = signature->hash.repeated(data.count).value;
    return amount;
}

std::string describe(ConstBuffer const& data) {
    if (data.type && data.type->predefined) return join(data.count, " ", data.type->name);
    std::size_t const bytes = data.type ? data.bytes() : 0;
    return join(bytes, bytes == 1 ? " byte" : " bytes", " of a derived datatype");
}

std::string describe_difference(int sender, Amount const& sent, int receiver, Amount const& expected) {
    std::string const text = join("rank ", sender, " sends ", sent.bytes, sent.bytes == 1 ? " byte" : " bytes",
                                  " and rank ", receiver, " expects ");
    if (sent.bytes != expected.bytes) return text + join(expected.bytes);
    return text + "the same number of bytes of other types";
}

std::string own_part_mismatch(Comm const& comm, Collective collective, RootedArgs const& args) {
    if (comm.is_inter() || comm.rank() != args.root || args.in_place_at_root || args.parts.empty()) return {};
    Buffer const part = args.parts[args.root];
    return collective == Collective::gather ? mismatch(args.mine, part) : mismatch(part, args.mine);
}

std::string own_part_mismatch(Comm const& comm, Collective, AllgatherArgs const& args) {
    if (comm.is_inter() || args.is_in_place) return {};
    return mismatch(args.mine, args.parts[comm.rank()]);
}

std::string own_part_mismatch(Comm const& comm, Collective, AlltoallArgs const& args) {
    if (comm.is_inter() || args.is_in_place) return {};
    return mismatch(args.send[comm.rank()], args.receive[comm.rank()]);
}

}   // namespace tutti::coll
