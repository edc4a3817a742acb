// SPDX-License-Identifier: BSD-3-Clause
#include "coll/match/amounts.hpp"

#include "runtime/base/error.hpp"
#include "runtime/datatype/signature.hpp"

namespace tutti::coll {
namespace {

std::string mismatch(ConstBuffer const& out, ConstBuffer const& in) {
    if (Amount::of(out).matches(Amount::of(in))) return {};
    std::string const sent = in_words(out), expected = in_words(in);
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

std::string in_words(ConstBuffer const& data) {
    if (data.type && data.type->predefined) return join(data.count, " ", data.type->name);
    std::size_t const bytes = data.type ? data.bytes() : 0;
    return join(bytes, bytes == 1 ? " byte" : " bytes", " of a derived datatype");
}

std::string difference_in_words(int sender, Amount const& sent, int receiver, Amount const& expected) {
    std::string const text = join("rank ", sender, " sends ", sent.bytes, sent.bytes == 1 ? " byte" : " bytes",
                                  " and rank ", receiver, " expects ");
    if (sent.bytes != expected.bytes) return text + join(expected.bytes);
    return text + "as many, of other types";
}

std::string own_part_mismatch(Comm const& comm, Collective collective, RootedArgs const& args) {
    if (comm.inter() || comm.rank() != args.root || args.in_place_at_root || args.parts.empty()) return {};
    Buffer const part = args.parts[args.root];
    return collective == Collective::gather ? mismatch(args.mine, part) : mismatch(part, args.mine);
}

std::string own_part_mismatch(Comm const& comm, Collective, AllgatherArgs const& args) {
    if (comm.inter() || args.is_in_place) return {};
    return mismatch(args.mine, args.parts[comm.rank()]);
}

std::string own_part_mismatch(Comm const& comm, Collective, AlltoallArgs const& args) {
    if (comm.inter() || args.is_in_place) return {};
    return mismatch(args.send[comm.rank()], args.receive[comm.rank()]);
}

}   // namespace tutti::coll
