// SPDX-License-Identifier: BSD-3-Clause
// relayed: alltoall(v, w) on several nodes over a few links per pair of nodes. Ranks pass their parts for a node to
// carriers in pieces; a carrier sends the pieces of many ranks as one message to its peer there, which distributes
// them. A round of pieces takes three steps, which overlap with those of the next rounds. Each link carries its share
// of its node's bytes once, and each byte is copied twice more than if its rank sent it.
// Bienz, Gropp, Olson, JPDC 130, 2019 (three steps).
//
// A node has different carriers for each other node, so all of its ranks share that work. The memory for data in flight
// is bounded, whatever the number of ranks and the sizes of parts (coll/blocks/relay.hpp). If parts are unequal, their
// sizes precede them by the same route; from then on all ranks know which messages there are.
//
// Termination: what is sent in step s depends on what arrived in earlier steps; all messages of a step are started
// before any of them is waited for; and both ends of a message count the steps by what they know of the sizes. The
// messages of a pair of ranks, to a carrier and from a carrier, are started in the same order at both ends.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/linear.hpp"
#include "coll/blocks/nodes.hpp"
#include "coll/blocks/relay.hpp"

namespace tutti::coll::algorithms::alltoall {
namespace {

constexpr std::size_t word = sizeof(std::uint64_t);

/// This rank's parts for the ranks of a node.
struct Outbound {
    int node, carrier;
    RelayRow row;
};
/// A link that this rank carries, in one direction: the data that some ranks of a node send to the ranks of another
/// one.
struct Link {
    int peer;   ///< the carrier at the other end
    PooledVector<int> sources;
    PooledVector<RelayRow> rows;                                        ///< of each source
    std::optional<Packed> sizes{}, rounds[2]{};                         ///< sizes of their parts; pieces of two rounds
    std::byte* round(std::size_t r) { return rounds[r % 2]->data(); }   ///< source after source
};
/// Position of a part for this rank in its source's row.
struct RowRange {
    std::uint64_t start, bytes;
};
/// What this rank receives through a link of its node.
struct Inbound {
    int carrier;
    PooledVector<int> sources;
    PooledVector<RowRange> ranges;   ///< of each source
};

/// The state of one rank.
class Relayed {
public:
    Relayed(NetEnv& env, AlltoallArgs const& a)
        : env_(env), a_(a), map_(env.partition()), plan_(map_, a.parameters[0], a.parameters[1], a.parameters[2]),
          flow_(env), outbound_(env.frames()), inbound_(env.frames()), leaving_(env.frames()), arriving_(env.frames()),
          saved_parts_(env.frames()), temporaries_(env.frames()), pending_unpack_(env.frames()) {}
    FramePool& frames() { return env_.frames(); }

    Task run() {
        std::exception_ptr error;
        bool inside = false;
        for (int turn = 0; turn < plan_.turns(); ++turn) {
            assign_roles(turn);
            if (!a_.equal_parts) co_await exchange_sizes();
            std::size_t const steps = allocate_buffers();
            for (std::size_t s = 0; s < steps; ++s) {
                begin(s);
                if (!std::exchange(inside, true)) co_await alltoall_within_node(env_, a_, error);
                co_await wait_step();
                unpack_received();
            }
            saved_parts_.clear();
        }
        if (!inside) co_await alltoall_within_node(env_, a_, error);
        if (error) std::rethrow_exception(error);
        flow_.check();
        truncation_.check(env_);
    }

private:
    /// A part saved before it is overwritten in place.
    struct Saved {
        int rank;
        Packed part;
    };
    /// Data received into memory of this rank, to be distributed when the step ends.
    struct ReceivedRound {
        Inbound const* from;
        std::size_t round;
        std::byte const* data;
    };

    // --- The roles of this rank in a turn ----------------------------------------------------------------------------
    void assign_roles(int turn) {
        int const here = map_.own_part(), rank = env_.rank();
        outbound_.clear(), inbound_.clear(), leaving_.clear(), arriving_.clear();
        plan_.each_peer(turn, here, [&](int node) {
            outbound_.push_back({node, plan_.carrier(here, node, plan_.link_of(rank, node)), own_row(node)});
            for (int l = 0; l < plan_.links(here, node); ++l) {
                int const carrier = plan_.carrier(here, node, l), peer = plan_.carrier(node, here, l);
                if (carrier == rank) add_link(leaving_, peer, here, node, l);
                if (carrier == rank) add_link(arriving_, peer, node, here, l);
                Inbound& in = inbound_.emplace_back(carrier, plan_.sources(frames(), node, here, l),
                                                    PooledVector<RowRange>(frames()));
                for (int source : in.sources) in.ranges.push_back({row_position(source, rank) * each(), each()});
            }
        });
    }
    void add_link(PooledVector<Link>& to, int peer, int from_node, int to_node, int link) {
        Link& l =
            to.emplace_back(peer, plan_.sources(frames(), from_node, to_node, link), PooledVector<RelayRow>(frames()));
        if (!a_.equal_parts) l.sizes.emplace(frames(), l.sources.size() * ranks_of(to_node) * word);
        for (std::size_t i = 0; a_.equal_parts && i < l.sources.size(); ++i)
            l.rows.emplace_back(frames(), each(), ranks_of(to_node));
    }
    RelayRow own_row(int node) {
        if (a_.equal_parts) return {frames(), each(), ranks_of(node)};
        PooledVector<std::uint64_t> sizes(frames());
        for (int p = 0; p < map_.size(node); ++p)
            sizes.push_back(outgoing(a_, plan_.target(env_.rank(), node, p)).bytes());
        return {frames(), sizes};
    }
    /// Bytes of a part if all are equal.
    std::size_t each() const { return a_.equal_parts ? outgoing(a_, env_.rank()).bytes() : 0; }
    std::size_t ranks_of(int node) const { return static_cast<std::size_t>(map_.size(node)); }
    std::size_t row_position(int source, int target) const {
        return static_cast<std::size_t>(plan_.part_position(source, target));
    }

    // --- Sizes that only their senders know --------------------------------------------------------------------------
    Task exchange_sizes() {
        for (Outbound const& o : outbound_) {
            Packed const& sizes = temporaries_.emplace_back(frames(), ranks_of(o.node) * word);
            for (std::size_t p = 0; p < ranks_of(o.node); ++p) write(sizes, p, o.row.bytes(p));
            send(sizes.data(), sizes.bytes, o.carrier);
        }
        for (Link& l : leaving_) {
            std::size_t const row = l.sizes->bytes / l.sources.size();
            for (std::size_t i = 0; i < l.sources.size(); ++i) expect(l.sizes->data() + i * row, row, l.sources[i]);
        }
        co_await wait_step();
        for (Link& l : leaving_) send(l.sizes->data(), l.sizes->bytes, l.peer);
        for (Link& l : arriving_) expect(l.sizes->data(), l.sizes->bytes, l.peer);
        co_await wait_step();
        for (Link& l : leaving_) read_rows(l);
        for (Link& l : arriving_) {
            read_rows(l);
            for (int target : map_.members()) send_ranges(l, target);
        }
        for (Inbound& in : inbound_)
            expect(reinterpret_cast<std::byte*>(in.ranges.data()), in.ranges.size() * sizeof(RowRange), in.carrier);
        co_await wait_step();
    }
    void read_rows(Link& l) {
        std::size_t const parts = l.sizes->bytes / word / l.sources.size();
        auto const* const sizes = reinterpret_cast<std::uint64_t const*>(l.sizes->data());
        for (std::size_t i = 0; i < l.sources.size(); ++i)
            l.rows.emplace_back(frames(), std::span(sizes + i * parts, parts));
        l.sizes.reset();
    }
    void send_ranges(Link const& l, int target) {
        Packed const& ranges = temporaries_.emplace_back(frames(), l.sources.size() * sizeof(RowRange));
        for (std::size_t i = 0; i < l.sources.size(); ++i) {
            std::size_t const at = row_position(l.sources[i], target);
            write(ranges, 2 * i, l.rows[i].start(at));
            write(ranges, 2 * i + 1, l.rows[i].bytes(at));
        }
        send(ranges.data(), ranges.bytes, target);
    }
    static void write(Packed const& to, std::size_t at, std::uint64_t value) {
        std::memcpy(to.data() + at * word, &value, word);
    }

    // --- Rounds ------------------------------------------------------------------------------------------------------
    /// Allocates memory for the links that this rank carries. Returns the number of steps in which it participates.
    std::size_t allocate_buffers() {
        std::size_t steps = 0;
        auto const extend = [&](std::size_t row, std::size_t delay) {
            if (row > 0) steps = std::max(steps, plan_.rounds(row) + delay);
        };
        for (Outbound const& o : outbound_) extend(o.row.bytes(), 0);
        for (auto [links, delay] : {std::pair(&leaving_, std::size_t{1}), std::pair(&arriving_, std::size_t{2})})
            for (Link& l : *links) {
                for (auto& round : l.rounds) round.emplace(frames(), bytes(l, 0));
                for (RelayRow const& row : l.rows) extend(row.bytes(), delay);
            }
        for (Inbound const& in : inbound_)
            for (RowRange const& p : in.ranges) extend(p.bytes > 0 ? p.start + p.bytes : 0, 2);
        return steps;
    }
    std::size_t bytes(Link const& l, std::size_t round) const {
        std::size_t sum = 0;
        for (RelayRow const& row : l.rows) sum += plan_.bytes(row.bytes(), round);
        return sum;
    }

    /// Starts step s: round s to the carriers, round s − 1 between carriers, and round s − 2 from them.
    void begin(std::size_t s) {
        for (Outbound const& o : outbound_) send_piece(o, s);
        for (Link& l : leaving_) {
            std::byte* to = l.round(s);
            for (std::size_t i = 0; i < l.sources.size(); ++i) {
                std::size_t const n = plan_.bytes(l.rows[i].bytes(), s);
                expect(to, n, l.sources[i]);
                to += n;
            }
        }
        if (s < 1) return;
        for (Link& l : leaving_) send(l.round(s - 1), bytes(l, s - 1), l.peer);
        for (Link& l : arriving_) expect(l.round(s - 1), bytes(l, s - 1), l.peer);
        if (s < 2) return;
        for (Link& l : arriving_) distribute(l, s - 2);
        for (Inbound const& in : inbound_) expect_parts(in, s);
    }
    /// A message of no bytes is not sent, because both ends know that it is empty.
    void send(std::byte* data, std::size_t bytes, int to) {
        if (bytes > 0) flow_.send({packed_buffer(data, bytes), 0, bytes}, to);
    }
    void expect(std::byte* address, std::size_t bytes, int from) {
        if (bytes > 0) expect({packed_buffer(address, bytes), 0, bytes}, from);
    }
    void expect(Piece const& piece, int from) {
        flow_.expect(piece, from);
        ++expected_;
    }
    Task wait_step() {
        for (; expected_ > 0; --expected_) co_await flow_.wait_oldest_receive();
        co_await flow_.wait_sends();
        if (pending_unpack_.empty()) temporaries_.clear();
    }

    Buffer part_for(int rank) const {
        for (Saved const& s : saved_parts_)
            if (s.rank == rank) return s.part.buffer();
        return outgoing(a_, rank);
    }
    void send_piece(Outbound const& o, std::size_t round) {
        std::size_t const at = round * plan_.piece(), n = plan_.bytes(o.row.bytes(), round);
        std::byte* to = nullptr;
        o.row.each(at, at + n, [&](std::size_t p, std::size_t from, std::size_t length) {
            Buffer const part = part_for(plan_.target(env_.rank(), o.node, static_cast<int>(p)));
            if (length == n) return flow_.send({part, from, n}, o.carrier, a_.is_in_place);
            if (!to) to = temporaries_.emplace_back(frames(), n).data();
            env_.load(to, part, from, length);
            to += length;
        });
        if (to) send(to - n, n, o.carrier);
    }

    /// Distributes the pieces of a round to the ranks of this node; the pieces of several sources for a rank are one
    /// message.
    void distribute(Link& l, std::size_t round) {
        auto const here = map_.members();
        struct Share {
            std::size_t bytes = 0, pieces = 0;
            std::byte* data = nullptr;
        };
        PooledVector<Share> shares(here.size(), frames());
        auto const each_piece = [&](auto f) {
            std::byte* from = l.round(round);
            std::size_t const at = round * plan_.piece();
            for (std::size_t i = 0; i < l.sources.size(); ++i)
                l.rows[i].each(at, at + plan_.bytes(l.rows[i].bytes(), round),
                               [&](std::size_t p, std::size_t, std::size_t n) {
                                   int const target = plan_.target(l.sources[i], map_.own_part(), static_cast<int>(p));
                                   f(shares[static_cast<std::size_t>(map_.index_of(target))], from, n);
                                   from += n;
                               });
        };
        each_piece([](Share& s, std::byte* from, std::size_t n) { s = {s.bytes + n, s.pieces + 1, from}; });
        for (Share& s : shares)
            if (s.pieces > 1) s.data = temporaries_.emplace_back(frames(), s.bytes).data();
        each_piece([&](Share& s, std::byte* from, std::size_t n) {
            if (s.pieces < 2) return;
            env_.copy(s.data, from, n, 0);
            s.data += n;
        });
        for (std::size_t i = 0; i < here.size(); ++i)
            send(shares[i].data - (shares[i].pieces > 1 ? shares[i].bytes : 0), shares[i].bytes, here[i]);
    }

    /// Calls f(source, offset in its part, bytes, size of the part) for what is received in a round.
    template <class F>
    void each_part(Inbound const& in, std::size_t round, F f) const {
        std::size_t const at = round * plan_.piece(), end = at + plan_.piece();
        for (std::size_t i = 0; i < in.sources.size(); ++i) {
            auto const [start, bytes] = in.ranges[i];
            std::size_t const first = std::max<std::size_t>(at, start),
                              last = std::min<std::size_t>(end, start + bytes);
            if (first < last) f(in.sources[i], first - start, last - first, bytes);
        }
    }
    /// Receives directly to the destination if there is one piece and it has room.
    void expect_parts(Inbound const& in, std::size_t s) {
        std::size_t sum = 0, pieces = 0;
        Piece piece{};
        each_part(in, s - 2, [&](int source, std::size_t at, std::size_t n, std::size_t bytes) {
            if (a_.is_in_place) save(source, at + n, s);
            bool const fits = bytes <= a_.receive[source].bytes();
            piece = {a_.receive[source], at, n};
            pieces += fits ? 1 : 2;
            sum += n;
        });
        if (pieces == 1) return expect(piece, in.carrier);
        if (pieces == 0) return;
        std::byte* const data = temporaries_.emplace_back(frames(), sum).data();
        pending_unpack_.push_back({&in, s - 2, data});
        expect(data, sum, in.carrier);
    }
    void unpack_received() {
        for (ReceivedRound const& c : pending_unpack_) {
            std::byte const* data = c.data;
            each_part(*c.from, c.round, [&](int source, std::size_t at, std::size_t n, std::size_t bytes) {
                deliver(env_, a_.receive[source], at, data, n, bytes, source, truncation_);
                data += n;
            });
        }
        pending_unpack_.clear();
        temporaries_.clear();
    }
    /// In place, data received in step s overwrites the first bytes of a part for the same rank, so that part is saved
    /// unless these bytes have been sent. They have been if both nodes have the same number of ranks and equal parts.
    void save(int rank, std::size_t bytes, std::size_t s) {
        auto const& o = *std::ranges::find(outbound_, map_.part_of(rank), &Outbound::node);
        std::size_t const p = row_position(env_.rank(), rank);
        if (o.row.start(p) + std::min(bytes, o.row.bytes(p)) <= (s + 1) * plan_.piece()) return;
        if (std::ranges::find(saved_parts_, rank, &Saved::rank) != saved_parts_.end()) return;
        Packed const& part = saved_parts_.emplace_back(rank, Packed(frames(), o.row.bytes(p))).part;
        env_.load(part.data(), a_.receive[rank], 0, part.bytes);
    }

    NetEnv& env_;
    AlltoallArgs const& a_;
    NodePartition const& map_;
    RelayPlan const plan_;
    NetFlow flow_;
    PooledVector<Outbound> outbound_;
    PooledVector<Inbound> inbound_;
    PooledVector<Link> leaving_, arriving_;
    PooledVector<Saved> saved_parts_;              ///< in place
    PooledVector<Packed> temporaries_;             ///< until the step ends
    PooledVector<ReceivedRound> pending_unpack_;   ///< distributed when the step ends
    std::size_t expected_ = 0;                     ///< number of messages
    Truncation truncation_;
};

Task relayed(NetEnv& env, AlltoallArgs const& a) {
    Relayed x(env, a);
    co_await x.run();
}

std::uint64_t relayed_operations(AlltoallArgs const&, NodePartition const&) { return 1; }

}   // namespace

constexpr Parameter relayed_parameters[] = {
    memory_parameter,
    {"links", links_per_node_pair, "links per pair of nodes, each between two ranks", ParameterKind::number},
    {"piece", 4096, "minimum bytes that a rank sends to a node per round, if need be to fewer nodes per round"}};
extern constinit const Algorithm<AlltoallArgs> relayed_algorithm = {
    "relayed",
    "a few carriers per pair of nodes relay all ranks' parts, in rounds of pieces",
    Family::tutti,
    "after Bienz, Gropp, Olson, JPDC 130, 2019",
    requires_nothing,
    relayed_parameters,
    TUTTI_NET_ONLY(relayed)};

}   // namespace tutti::coll::algorithms::alltoall
