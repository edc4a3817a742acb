// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v) on several nodes: masters tell each other the sizes, with their nodes' blocks where these are few bytes
// (one step of N − 1 messages), and each broadcasts all such blocks at once on its node. Larger ones go round a ring in
// segments, N − 1 steps; the broadcasts of segments inside hide behind it but for the last one.
// Ring: Thakur, Rabenseifner, Gropp, IJHPCA 2005, "Allgather"; masters: Zhu, Goodell, Gropp, Thakur, EuroPVM/MPI 2009;
// that sizes travel with the parts is ours.
#include "coll/algorithms/algorithm.hpp"
#include "coll/blocks/messages/segments.hpp"
#include "coll/blocks/nodes/net_flow.hpp"
#include "coll/blocks/nodes/node_block.hpp"
#include "coll/blocks/nodes/node_parts.hpp"

namespace tutti::coll::algorithms::allgather {
namespace {

constexpr std::size_t word = sizeof(std::uint64_t);
/// In the size of a node's first part: the master had no room for all that its master sent.
constexpr std::uint64_t cut = 1ULL << 63;

/// Of a large block of a node: each has so many, whatever its size.
std::size_t most_pieces(AllgatherArgs const& a, std::size_t largest) {
    std::size_t const segment = std::max<std::size_t>(1, a.parameters[1]);
    return std::max<std::size_t>(1, (largest + segment - 1) / segment);
}

/// One rank's view of the operation.
class NodeGathering {
public:
    NodeGathering(NetEnv& env, AllgatherArgs const& a)
        : env_(env), a_(a), map_(env.map()), blocks_(static_cast<std::size_t>(map_.count()), env.frames()),
          news_(env.frames(), word * static_cast<std::size_t>(env.size()) + a.parameters[2]) {}
    FramePool& frames() { return env_.frames(); }
    bool master() const { return env_.rank() == map_.master(map_.mine()); }

    Task run() {
        co_await own_block();
        PooledVector<Packed> messages(frames());
        if (master()) co_await exchange(messages);
        co_await on_node(env_, Collective::bcast, bytes_from(news_.data(), news_.bytes, 0));
        make_blocks();
        lay_out();
        take_small(messages);
        co_await round();
        if (!with_news() && row_.bytes > 0) co_await spread(row_.data, row_.bytes);
        Truncation truncation;
        for (auto& b : blocks_) b->unpack(env_, truncation);
        if (cut_ >= 0) truncation.note(cut_, block(map_.of(cut_))->bytes, room(map_.of(cut_)));
        truncation.check();
    }

private:
    std::optional<NodeBlock>& block(int node) { return blocks_[static_cast<std::size_t>(node)]; }
    std::optional<NodeBlock>& own() { return block(map_.mine()); }
    /// Where the sizes of a node's parts stand.
    std::byte* sizes_of(int node) {
        std::size_t before = 0;
        for (int n = 0; n < node; ++n) before += map_.members(n).size();
        return news_.data() + before * word;
    }
    std::size_t head(int node) const { return map_.members(node).size() * word; }
    bool at_once(int node) { return block(node)->bytes <= a_.parameters[0]; }
    std::size_t others() {
        std::size_t sum = 0;
        for (int n = 0; n < map_.count(); ++n)
            if (n != map_.mine()) sum += block(n)->bytes;
        return sum;
    }

    /// At the master; at all ranks of the node if it comes with the sizes there, or is large.
    Task own_block() {
        AllgatherArgs const& a = a_;
        Buffer const mine = a.is_in_place ? a.parts[env_.rank()] : a.mine;
        NodeSizes node(env_);
        co_await node.learn(mine);
        int const here = map_.mine();
        std::memcpy(sizes_of(here), node.sizes.data(), head(here));
        largest_ = node.largest();
        NodeBlock& block = own().emplace(frames(), a, map_.members(here), node.sizes);
        at_all_ranks_ = node.here() || !at_once(here);
        if (master() || at_all_ranks_) block.lie_somewhere(frames());
        if (node.here()) {
            node.put(block.data);
            co_return;
        }
        bool const in_place = a.is_in_place && block.in_users_buffer();
        PartList list(frames());
        for (std::size_t i = 0; block.data && i < node.sizes.size(); ++i) list.add(block.part(i));
        if (at_all_ranks_) co_await gather_everywhere(list, mine, in_place);
        else co_await gather_at_master(list, mine, in_place);
    }
    Task gather_everywhere(PartList const& list, Buffer mine, bool in_place) {
        AllgatherArgs args{};
        args.parts = list.parts();
        args.largest = largest_;
        args.is_in_place = in_place;
        args.mine = in_place ? args.parts[map_.index_of(env_.rank())] : mine;
        co_await on_node(env_, Collective::allgather, args);
    }
    Task gather_at_master(PartList const& list, Buffer mine, bool in_place) {
        RootedArgs args{};
        args.mine = mine;
        args.root = 0;
        args.equal = false;
        if (master()) {
            args.parts = list.parts();
            args.in_place_at_root = in_place;
            if (in_place) args.mine = args.parts[0];
        }
        co_await on_node(env_, Collective::gather, args);
    }

    /// Bytes of other nodes that come with the sizes at most.
    std::size_t few() const { return a_.parameters[2]; }
    /// Sizes, and parts where they are few, from every master to every other.
    Task exchange(PooledVector<Packed>& messages) {
        Division const& map = map_;
        int const here = map.mine();
        std::size_t const limit = a_.parameters[0], bytes = own()->bytes;
        Packed mine(frames(), head(here) + (bytes <= limit ? bytes : 0));
        std::memcpy(mine.data(), sizes_of(here), head(here));
        if (bytes <= limit) env_.load(mine.data() + head(here), own()->buffer(), 0, bytes);
        PooledVector<int> peers(frames());
        for (int i = 1; i < map.count(); ++i) peers.push_back(map.master((here + i) % map.count()));
        messages.reserve(static_cast<std::size_t>(map.count()));
        for (int n = 0; n < map.count(); ++n) messages.emplace_back(frames(), n == here ? 0 : head(n) + room(n));
        Messages<NetEnv> m(env_);
        auto const message = [&](int from) -> Packed& { return messages[static_cast<std::size_t>(map.of(from))]; };
        co_await m.exchange_all(
            std::span<int const>(peers),
            [&](int) -> MessagePart {
                return {mine.buffer(), 0, mine.bytes};
            },
            [&](int from) { return message(from).bytes; }, [&](int from) { return m.into(message(from).buffer(), 0); });
        for (int from : peers) {
            int const node = map.of(from);
            std::memcpy(sizes_of(node), message(from).data(), head(node));
            if (m.received(from) > message(from).bytes) sizes_of(node)[word - 1] |= std::byte{0x80};
        }
        add_small(messages);
    }
    /// Bytes of a node's parts that come at once, as this rank expects them.
    std::size_t room(int node) const {
        std::size_t sum = 0;
        for (int r : map_.members(node)) sum += a_.parts[r].bytes();
        return std::min(sum, a_.parameters[0]);
    }
    /// The parts of a node that came with their sizes, as far as there was room for them.
    void put_parts(PooledVector<Packed> const& messages, int node, std::byte* to) {
        Packed const& message = messages[static_cast<std::size_t>(node)];
        copy_bytes(to, message.data() + head(node), std::min(block(node)->bytes, message.bytes - head(node)));
    }

    /// The blocks of other nodes go with the news if they are small together.
    void add_small(PooledVector<Packed> const& messages) {
        make_blocks();
        std::byte* to = news_.data() + news_.bytes - few();
        for (int n = 0; with_news() && n < map_.count(); ++n) {
            if (n == map_.mine()) continue;
            put_parts(messages, n, to);
            to += block(n)->bytes;
        }
    }
    void make_blocks() {
        for (int n = 0; n < map_.count(); ++n) {
            if (block(n)) continue;
            PooledVector<std::uint64_t> sizes(map_.members(n).size(), frames());
            std::memcpy(sizes.data(), sizes_of(n), head(n));
            if (sizes.front() & cut) sizes.front() &= ~cut, cut_ = map_.members(n).front();
            largest_ = std::max(largest_, std::ranges::max(sizes));
            block(n).emplace(frames(), a_, map_.members(n), sizes);
        }
    }
    /// The own block may be large, and goes round, all the same.
    bool with_news() {
        bool all = at_all_ranks_ && others() <= few();
        for (int n = 0; n < map_.count(); ++n) all &= n == map_.mine() || at_once(n);
        return all;
    }
    bool in_row(int node) { return at_once(node) && block(node)->bytes > 0; }
    /// Gives all blocks a place. Those that came at once, and the own one if it is so small, are in a row, in the
    /// user's buffer if they lie there so.
    void lay_out() {
        bool adjoin = true;
        for (int n = 0; n < map_.count(); ++n) {
            NodeBlock& b = *block(n);
            if (!in_row(n)) b.lie_somewhere(frames());
            else if (row_.bytes == 0) row_.data = b.data;
            if (!in_row(n)) continue;
            adjoin = adjoin && b.data && b.data == row_.data + row_.bytes;
            row_.bytes += b.bytes;
        }
        if (adjoin) return;
        row_.memory = PooledBytes(frames(), row_.bytes);
        std::byte* to = row_.data = row_.memory.get();
        for (int n = 0; n < map_.count(); ++n) {
            if (!in_row(n)) continue;
            if (n == map_.mine() && (master() || at_all_ranks_)) env_.copy(to, block(n)->data, block(n)->bytes, 0);
            block(n)->lie_at(to);
            to += block(n)->bytes;
        }
    }
    /// What came at once: to all ranks with the news, or to the master with the sizes.
    void take_small(PooledVector<Packed> const& messages) {
        std::byte const* from = news_.data() + news_.bytes - few();
        for (int n = 0; n < map_.count(); ++n) {
            if (n == map_.mine() || !at_once(n)) continue;
            if (with_news()) {
                env_.store(block(n)->buffer(), 0, from, block(n)->bytes);
                from += block(n)->bytes;
            } else if (master()) {
                put_parts(messages, n, block(n)->data);
                env_.count(block(n)->bytes, block(n)->bytes);
            }
        }
    }

    PooledVector<Piece> pieces(int node) {
        Buffer const b = block(node)->buffer();
        std::size_t const most = most_pieces(a_, largest_);
        Segments const s(block(node)->bytes, 1, at_once(node) ? whole : (block(node)->bytes + most - 1) / most);
        PooledVector<Piece> all(frames());
        for (std::uint64_t k = 0; k < s.count; ++k) all.push_back({b, s.at(k), s.bytes(k)});
        return all;
    }

    /// Large blocks go round from node to node, and each to the ranks of the node.
    Task round() {
        int const nodes = map_.count(), here = map_.mine();
        PooledVector<Piece> in(frames()),
            out(frames());   // out: the own block, then all that comes in but the last block
        bool const own_first = !at_once(here);
        for (int i = 0; i < nodes; ++i) {
            int const node = (here - i + nodes) % nodes;
            if (at_once(node)) continue;
            auto const all = pieces(node);
            if (i > 0) in.insert(in.end(), all.begin(), all.end());
            if (i + 1 < nodes) out.insert(out.end(), all.begin(), all.end());
        }
        bool const leads = master();
        int const next = map_.master((here + 1) % nodes), last = map_.master((here + nodes - 1) % nodes);
        NetFlow flow(env_);
        for (std::size_t k = 0; leads && k < std::min(NetFlow::ahead, in.size()); ++k) flow.expect(in[k], last);
        for (std::size_t k = 0; k < std::max(in.size(), out.size()); ++k) {
            if (leads && own_first && k < out.size()) flow.send(out[k], next);
            co_await flow.sent(NetFlow::ahead);
            if (k >= in.size()) continue;
            if (leads) co_await flow.arrive();
            if (leads && !own_first && k < out.size()) flow.send(out[k], next);
            if (leads && k + NetFlow::ahead < in.size()) flow.expect(in[k + NetFlow::ahead], last);
            co_await spread(in[k].place(), in[k].bytes);
        }
        co_await flow.sent();
    }
    Task spread(std::byte* data, std::size_t bytes) {
        co_await on_node(env_, Collective::bcast, bytes_from(data, bytes, 0));
    }

    NetEnv& env_;
    AllgatherArgs const& a_;
    Division const& map_;
    PooledVector<std::optional<NodeBlock>> blocks_;   ///< by node
    std::uint64_t largest_ = 0;                       ///< of all parts
    bool at_all_ranks_ = false;                       ///< of the node is its own block before they get the others'
    struct {
        std::byte* data = nullptr;
        std::size_t bytes = 0;
        PooledBytes memory;
    } row_;          ///< of the blocks that came at once
    int cut_ = -1;   ///< a rank of a node whose parts are not all there
    Packed news_;    ///< all sizes, node after node, and a few bytes
};

Task masters(NetEnv& env, AllgatherArgs const& a) {
    NodeGathering g(env, a);
    co_await g.run();
}

std::uint64_t masters_operations(AllgatherArgs const& a, Division const& map) {
    return 4 + static_cast<std::uint64_t>(map.count() - 1) * most_pieces(a, a.largest);
}

}   // namespace

constexpr Parameter masters_parameters[] = {
    {"direct", 65536, "bytes of a node's parts up to which they go to all other masters at once"},
    {"segment", 65536, "bytes of each rank's part that are handed on at a time round the ring"},
    {"with_sizes", 2040, "bytes of all other nodes' parts that a node's ranks get together with their sizes at most"},
};
extern constinit const Algorithm<AllgatherArgs> masters_algorithm = {
    "masters",
    "each node gathers, masters exchange blocks, at once or round a ring, each broadcasts on its node",
    Family::tutti,
    "Thakur, Rabenseifner, Gropp, IJHPCA 2005, Allgather; Zhu and others, EuroPVM/MPI 2009",
    requires_nothing,
    masters_parameters,
    TUTTI_RUNS_ON_NODES(masters)};

}   // namespace tutti::coll::algorithms::allgather
