// SPDX-License-Identifier: BSD-3-Clause
// The assignment of ranks to nodes, and the parsers of host lists and host files.
#include "launcher/placement/allocation.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <sstream>

#include "launcher/base/text.hpp"
#include "runtime/base/error.hpp"
#include "runtime/job/interfaces.hpp"

namespace tutti::launcher {
namespace {

struct HostSlots {
    std::string name;
    bool here = false;
    int slots = 0, most = 0;   ///< most: 0 means no limit
    int used = 0;
    int node = -1;   ///< its number in the job, once it has a rank

    bool full() const { return most > 0 && used >= most; }
};

class Dealer {
public:
    Dealer(Job const& job, std::string const& own) : job_(job), own_(own) {}

    /// Returns the indices of these hosts in places_; all names of one node share one entry.
    std::vector<std::size_t> places_of(std::vector<Host> const& hosts) {
        std::vector<std::size_t> list;
        for (Host const& host : hosts) {
            std::size_t const at = find_or_add(host.name);
            bool const again = std::find(list.begin(), list.end(), at) != list.end();
            if (!again) list.push_back(at);
            add_slots(places_[at], host, again);
        }
        if (list.empty()) {
            list.push_back(find_or_add(own_));
            places_[list[0]].slots = 1;
        }
        return list;
    }

    std::size_t dealt() const { return out_.node_of.size(); }

    void deal(std::vector<std::size_t> const& list, int ranks) {
        for (int i = 0; i < ranks; ++i) out_.node_of.push_back(next(list));
    }

    /// Puts the next rank on this node, as a rank file says, regardless of slots.
    void put(std::string const& name) {
        HostSlots& place = places_[find_or_add(name)];
        ++place.used;
        out_.node_of.push_back(number_of(place));
    }

    /// Renumbers the ranks from `first` on across nodes: the first rank of each node, then the second of each.
    void number_across_nodes(std::size_t first) {
        std::vector<int> left(out_.nodes.size());
        for (std::size_t r = first; r < out_.node_of.size(); ++r) ++left[static_cast<std::size_t>(out_.node_of[r])];
        for (std::size_t r = first, node = 0; r < out_.node_of.size(); node = (node + 1) % left.size())
            if (left[node]-- > 0) out_.node_of[r++] = static_cast<int>(node);
    }

    Allocation take() && { return std::move(out_); }

private:
    int next(std::vector<std::size_t> const& list) {
        bool const dealing = job_.map.unit == topo::Unit::node && job_.map.per_unit == 0;
        HostSlots* best = nullptr;
        long least = 0;
        for (std::size_t at : list) {
            HostSlots& place = places_[at];
            long const rounds = place.used / place.slots;
            long const cost = rounds * 1'000'000 + (dealing ? std::min(place.used % place.slots, 999'999) : 0);
            if (place.full() || (best && cost >= least)) continue;
            best = &place;
            least = cost;
        }
        if (!best) throw Complaint("there are more ranks than the hosts may have (max-slots)");
        if (job_.no_oversubscribe && best->used >= best->slots && list.size() > 1)
            throw Complaint("there are more ranks than the hosts have slots, which --nooversubscribe forbids");
        ++best->used;
        return number_of(*best);
    }

    std::size_t find_or_add(std::string const& name) {
        bool const here = means_this_node(name, own_);
        for (std::size_t i = 0; i < places_.size(); ++i)
            if (places_[i].here ? here : same_node(places_[i].name, name)) return i;
        places_.push_back({here ? own_ : name, here});
        return places_.size() - 1;
    }

    /// A host named twice in one list has the slots of both entries; a host that a second program names keeps its
    /// slots.
    void add_slots(HostSlots& place, Host const& host, bool again) {
        if (job_.slots_per_node() > 0) place.slots = job_.slots_per_node();
        else if (again || place.slots == 0) place.slots += std::max(1, host.slots);
        if (host.most > 0) place.most = again ? place.most + host.most : host.most;
    }

    int number_of(HostSlots& place) {
        if (place.node < 0) {
            place.node = static_cast<int>(out_.nodes.size());
            out_.nodes.push_back(place.name);
            if (place.here) out_.here = place.node;
        }
        return place.node;
    }

    Job const& job_;
    std::string own_;
    std::vector<HostSlots> places_;
    Allocation out_;
};

Allocation allocate_by_file(Dealer dealer, Job const& job) {
    auto const named = static_cast<int>(job.rank_places.size());
    if (job.ranks() != named)
        throw Complaint(join(job.rank_file.empty() ? "the list of hosts" : "--rankfile: it", " names ", named,
                             " ranks, and ", job.ranks(), " are to start"));
    for (RankPlace const& rank : job.rank_places) dealer.put(rank.host);
    return std::move(dealer).take();
}

}   // namespace

std::vector<int> Allocation::ranks_on(int node) const {
    std::vector<int> ranks;
    for (std::size_t r = 0; r < node_of.size(); ++r)
        if (node_of[r] == node) ranks.push_back(static_cast<int>(r));
    return ranks;
}

Allocation allocate(Job const& job, std::string const& own) {
    Dealer dealer(job, own);
    if (!job.rank_places.empty()) return allocate_by_file(std::move(dealer), job);
    std::vector<std::size_t> const everywhere = dealer.places_of(job.hosts);
    for (Program const& program : job.programs) {
        bool const own_hosts = !program.hosts.empty();
        std::size_t const first = dealer.dealt();
        dealer.deal(own_hosts ? dealer.places_of(program.hosts) : everywhere, program.ranks);
        if (job.rank_by_node) dealer.number_across_nodes(first);
    }
    return std::move(dealer).take();
}

int slots_of_all(std::vector<Host> const& hosts, int per_node, std::string const& own) {
    int sum = 0;
    std::vector<std::string> seen;
    for (Host const& host : hosts) {
        bool const here = means_this_node(host.name, own);
        std::string const name = here ? own : host.name;
        bool const again = std::any_of(seen.begin(), seen.end(), [&](auto const& s) { return same_node(s, name); });
        if (!again) seen.push_back(name);
        if (per_node == 0) sum += std::max(1, host.slots);
        else if (!again) sum += per_node;
    }
    return std::max({1, sum, hosts.empty() ? per_node : 0});
}

// Names of nodes: lists and files of hosts.

namespace {

constexpr int most_slots = 1'000'000;

int slots_of(std::string_view text, std::string_view of) {
    int slots = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), slots);
    if (error != std::errc{} || end != text.data() + text.size() || slots < 1 || slots > most_slots)
        throw Complaint(join("the slots of host ", of, " must be a whole number from 1 to ", most_slots, ", not '",
                             shown(text), "'"));
    return slots;
}

/// Returns `name` if it has only the characters of host names, container names and addresses, optionally with a user
/// in front. Throws Complaint otherwise: an agent would take a leading dash for an option, and a shell might execute
/// the rest.
std::string checked_name(std::string_view name) {
    auto const fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("._-@:%").find(c) != std::string_view::npos;
    };
    if (name.empty() || name.starts_with('-') || !std::all_of(name.begin(), name.end(), fits))
        throw Complaint(join("'", shown(name), "' is not the name of a host"));
    return std::string(name);
}

/// An IPv6 address contains several colons; slots can follow it only if it is in brackets.
Host read_host(std::string_view text) {
    std::size_t bracket = text.find(']');
    if (text.starts_with('[') && bracket != std::string_view::npos) {
        std::string_view name = text.substr(1, bracket - 1), rest = text.substr(bracket + 1);
        return {checked_name(name), rest.starts_with(':') ? slots_of(rest.substr(1), name) : 0};
    }
    std::size_t colon = text.find(':');
    if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos)
        return {checked_name(text), 0};
    return {checked_name(text.substr(0, colon)), slots_of(text.substr(colon + 1), text.substr(0, colon))};
}

constexpr std::string_view line_shape = "a line is NAME, NAME:SLOTS or NAME slots=SLOTS max-slots=MOST";

void take_word(Host& host, std::string const& word, std::vector<std::string>& notes) {
    std::size_t const equals = word.find('=');
    std::string const key = word.substr(0, equals);
    std::string_view const value = equals == std::string::npos ? "" : std::string_view(word).substr(equals + 1);
    bool const slots = key == "slots" || key == "cpu" || key == "count";
    bool const most = key == "max-slots" || key == "max_slots" || key == "slots-max" || key == "slots_max";
    bool const user = key == "user" || key == "username" || key == "user-name" || key == "user_name";
    if (equals == std::string::npos) throw Complaint(join("'", shown(word), "' is not understood; ", line_shape));
    if (slots) host.slots = slots_of(value, host.name);
    else if (most) host.most = slots_of(value, host.name);
    else if (user && host.name.find('@') == std::string::npos) host.name = checked_name(join(value, "@", host.name));
    else if (key == "ifname")
        notes.push_back(join("host ", host.name, ": ", shown(word), " has no effect; -iface chooses the network, for ",
                             "all nodes"));
    else if (key == "binding" || key == "bind_to" || key == "map_by")
        notes.push_back(join("host ", host.name, ": ", shown(word), " has no effect; --bind-to and --map-by do it for ",
                             "all nodes, --rankfile for each rank"));
    else if (!user) throw Complaint(join("'", shown(word), "' is not understood; ", line_shape));
}

void read_host_line(std::vector<Host>& hosts, std::string const& line, std::vector<std::string>& notes) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) return;
    Host host = read_host(word);
    while (words >> word) take_word(host, word, notes);
    if (host.most > 0 && host.slots > host.most)
        throw Complaint(join("host ", host.name, " has ", host.slots, " slots and at most ", host.most));
    hosts.push_back(host);
}

bool is_text(std::string_view line) {
    return std::none_of(line.begin(), line.end(), [](char c) {
        return (static_cast<unsigned char>(c) < 32 && c != '\t' && c != '\r') || c == 127;
    });
}

/// Looks up only numeric addresses among the interfaces, so that a job that names this node by its name opens no
/// socket.
bool is_own_address(std::string_view name) {
    auto const address = IpAddress::from_text(name);
    if (!address || address->loopback()) return false;
    std::vector<Interface> const all = interfaces();
    return std::any_of(all.begin(), all.end(), [&](Interface const& i) { return i.address.host() == address->host(); });
}

}   // namespace

std::string shown(std::string_view text) {
    constexpr std::size_t most = 60;
    constexpr char digits[] = "0123456789abcdef";
    std::string out;
    for (char c : text.substr(0, most)) {
        auto const byte = static_cast<unsigned char>(c);
        if (byte >= 32 && byte < 127) out += c;
        else out += {'\\', 'x', digits[byte / 16], digits[byte % 16]};
    }
    return text.size() > most ? out + "…" : out;
}

std::string host_name() {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == 0) return "localhost";
    return name.data();
}

bool same_node(std::string_view a, std::string_view b) {
    if (a == b) return true;
    if (IpAddress::from_text(a) || IpAddress::from_text(b)) return false;
    auto short_form = [](std::string_view n) { return n.substr(0, n.find('.')); };
    bool one_is_short = a.find('.') == std::string_view::npos || b.find('.') == std::string_view::npos;
    return one_is_short && short_form(a) == short_form(b);
}

bool means_this_node(std::string_view name, std::string_view own) {
    constexpr std::array<std::string_view, 8> local = {
        "localhost",     "localhost.localdomain", "localhost4", "localhost6",
        "ip6-localhost", "ip6-loopback",          "127.0.0.1",  "::1"};
    if (name.find('@') != std::string_view::npos) return false;   // we cannot start another user's processes
    if (std::find(local.begin(), local.end(), name) != local.end()) return true;
    return same_node(name, own) || is_own_address(name);
}

void add_host_list(std::vector<Host>& hosts, std::string_view text) {
    while (!text.empty()) {
        std::size_t comma = std::min(text.find(','), text.size());
        std::string_view word = text.substr(0, comma);
        word.remove_prefix(std::min(word.find_first_not_of(" \t\n"), word.size()));
        word = word.substr(0, word.find_last_not_of(" \t\n") + 1);
        if (!word.empty()) hosts.push_back(read_host(word));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
}

void add_host_file(std::vector<Host>& hosts, std::string const& file, std::vector<std::string>& notes) {
    std::istringstream in(named_file("the host file ", file));
    std::size_t const before = hosts.size();
    int number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        if (!is_text(line)) throw Complaint(join("the host file ", file, " is not a text; line ", number, " shows it"));
        try {
            read_host_line(hosts, line, notes);
        } catch (Complaint const& complaint) {
            throw Complaint(join("the host file ", file, ", line ", number, ": ", complaint.what()));
        }
    }
    if (hosts.size() == before) throw Complaint(join("the host file ", file, " names no host"));
}

}   // namespace tutti::launcher
