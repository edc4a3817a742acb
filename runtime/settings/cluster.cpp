// SPDX-License-Identifier: BSD-3-Clause
// Text form of a Cluster, one item per line:
//     cluster 1 NODE
//     key 64 hexadecimal digits
//     node NAME ADDRESS ADDRESS …
//     rank NODE LOCAL_RANK PORT          (in the order of world ranks)
#include "runtime/settings/cluster.hpp"

#include <algorithm>
#include <charconv>

#include "topo/text_streams.hpp"

namespace tutti {
namespace {

constexpr char digits[] = "0123456789abcdef";

std::string hex(JobKey const& key) {
    std::string text;
    for (std::byte b : key) {
        text += digits[std::to_integer<int>(b) >> 4];
        text += digits[std::to_integer<int>(b) & 15];
    }
    return text;
}

bool read_hex(std::string const& text, JobKey& key) {
    if (text.size() != 2 * key.size()) return false;
    for (std::size_t i = 0; i < key.size(); ++i) {
        unsigned value = 0;
        auto const [end, error] = std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, value, 16);
        if (error != std::errc{} || end != text.data() + 2 * i + 2) return false;
        key[i] = static_cast<std::byte>(value);
    }
    return true;
}

}   // namespace

Cluster Cluster::one_node(int ranks) {
    Cluster c;
    c.size_ = ranks;
    c.nodes_.resize(1);
    return c;
}

Cluster::Cluster(std::vector<Node> nodes, std::vector<Rank> ranks, int own_node, JobKey key)
    : size_(static_cast<int>(ranks.size())), this_node_(own_node), nodes_(std::move(nodes)), ranks_(std::move(ranks)),
      key_(key) {
    for (int r = 0; r < size_; ++r) {
        if (at(r).node != this_node_) continue;
        auto const local_rank = static_cast<std::size_t>(at(r).local_rank);
        if (local_ranks_.size() <= local_rank) local_ranks_.resize(local_rank + 1, -1);
        local_ranks_[local_rank] = r;
    }
}

std::string Cluster::to_text() const {
    if (is_single_node()) return {};
    TextWriter out;
    out << "cluster 1 " << this_node_ << "\nkey " << hex(key_) << '\n';
    for (Node const& n : nodes_) {
        out << "node " << n.name;
        for (std::string const& address : n.addresses) out << ' ' << address;
        out << '\n';
    }
    for (Rank const& r : ranks_) out << "rank " << r.node << ' ' << r.local_rank << ' ' << r.port << '\n';
    return out.str();
}

topo::Result<Cluster> Cluster::from_text(std::string_view text) {
    auto invalid = [](std::string const& reason) {
        return topo::Result<Cluster>::failure("invalid description of the job's nodes and ranks: " + reason);
    };
    TextReader in{std::string(text)};
    std::vector<Node> nodes;
    std::vector<Rank> ranks;
    JobKey key{};
    int version = 0, own_node = -1;
    std::string line, word, digits64;
    if (!std::getline(in, line) || !(TextReader(line) >> word >> version >> own_node) || word != "cluster" ||
        version != 1)
        return invalid(line);
    while (std::getline(in, line)) {
        TextReader fields(line);
        fields >> word;
        if (word == "key" && fields >> digits64 && read_hex(digits64, key)) continue;
        if (word == "node") {
            Node& n = nodes.emplace_back();
            if (!(fields >> n.name)) return invalid(line);
            while (fields >> word) n.addresses.push_back(word);
        } else if (Rank r; word == "rank" && fields >> r.node >> r.local_rank >> r.port) {
            ranks.push_back(r);
        } else {
            return invalid(line);
        }
    }
    int const count = static_cast<int>(nodes.size());
    std::vector<std::vector<bool>> assigned(nodes.size());   // by node and local rank
    for (Rank const& r : ranks) {
        if (r.node < 0 || r.node >= count || r.local_rank < 0 || r.local_rank >= static_cast<int>(ranks.size()))
            return invalid("a rank has a node or a local rank out of range");
        auto& of_node = assigned[static_cast<std::size_t>(r.node)];
        auto const local_rank = static_cast<std::size_t>(r.local_rank);
        if (of_node.size() <= local_rank) of_node.resize(local_rank + 1);
        if (of_node[local_rank]) return invalid("two ranks have the same local rank");
        of_node[local_rank] = true;
    }
    for (auto const& of_node : assigned)
        if (std::find(of_node.begin(), of_node.end(), false) != of_node.end())
            return invalid("a node's local ranks are not consecutive");
    if (own_node < 0 || own_node >= count || ranks.empty()) return invalid("nodes or ranks are missing");
    return Cluster(std::move(nodes), std::move(ranks), own_node, key);
}

}   // namespace tutti
