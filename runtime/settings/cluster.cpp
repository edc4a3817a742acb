// SPDX-License-Identifier: BSD-3-Clause
// Text form of a Cluster, one item per line:
//     cluster 1 HERE
//     key 64 hexadecimal digits
//     node NAME ADDRESS ADDRESS …
//     rank NODE PLACE PORT          (in the order of world ranks)
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

Cluster::Cluster(std::vector<Node> nodes, std::vector<Rank> ranks, int here, JobKey key)
    : size_(static_cast<int>(ranks.size())), here_(here), nodes_(std::move(nodes)), ranks_(std::move(ranks)),
      key_(key) {
    for (int r = 0; r < size_; ++r) {
        if (at(r).node != here_) continue;
        auto const place = static_cast<std::size_t>(at(r).place);
        if (here_ranks_.size() <= place) here_ranks_.resize(place + 1, -1);
        here_ranks_[place] = r;
    }
}

std::string Cluster::to_text() const {
    if (alone()) return {};
    TextWriter out;
    out << "cluster 1 " << here_ << "\nkey " << hex(key_) << '\n';
    for (Node const& n : nodes_) {
        out << "node " << n.name;
        for (std::string const& address : n.addresses) out << ' ' << address;
        out << '\n';
    }
    for (Rank const& r : ranks_) out << "rank " << r.node << ' ' << r.place << ' ' << r.port << '\n';
    return out.str();
}

topo::Result<Cluster> Cluster::from_text(std::string_view text) {
    auto refuse = [](std::string const& line) {
        return topo::Result<Cluster>::failure("not the description of a cluster: " + line);
    };
    TextReader in{std::string(text)};
    std::vector<Node> nodes;
    std::vector<Rank> ranks;
    JobKey key{};
    int version = 0, here = -1;
    std::string line, word, digits64;
    if (!std::getline(in, line) || !(TextReader(line) >> word >> version >> here) || word != "cluster" || version != 1)
        return refuse(line);
    while (std::getline(in, line)) {
        TextReader words(line);
        words >> word;
        if (word == "key" && words >> digits64 && read_hex(digits64, key)) continue;
        if (word == "node") {
            Node& n = nodes.emplace_back();
            if (!(words >> n.name)) return refuse(line);
            while (words >> word) n.addresses.push_back(word);
        } else if (Rank r; word == "rank" && words >> r.node >> r.place >> r.port) {
            ranks.push_back(r);
        } else {
            return refuse(line);
        }
    }
    int const count = static_cast<int>(nodes.size());
    std::vector<std::vector<bool>> taken(nodes.size());
    for (Rank const& r : ranks) {
        if (r.node < 0 || r.node >= count || r.place < 0 || r.place >= static_cast<int>(ranks.size()))
            return refuse("a rank is nowhere");
        auto& places = taken[static_cast<std::size_t>(r.node)];
        auto const place = static_cast<std::size_t>(r.place);
        if (places.size() <= place) places.resize(place + 1);
        if (places[place]) return refuse("two ranks at one place");
        places[place] = true;
    }
    for (auto const& places : taken)
        if (std::find(places.begin(), places.end(), false) != places.end()) return refuse("a place without a rank");
    if (here < 0 || here >= count || ranks.empty()) return refuse("nodes or ranks are missing");
    return Cluster(std::move(nodes), std::move(ranks), here, key);
}

}   // namespace tutti
