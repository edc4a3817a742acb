// SPDX-License-Identifier: BSD-3-Clause
// Names of nodes, lists and files of them.
#include "launcher/allocation/hosts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <sstream>

#include <unistd.h>

#include "launcher/base/words.hpp"
#include "runtime/base/error.hpp"
#include "runtime/job/interfaces.hpp"

namespace tutti::launcher {
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

/// What is in names of hosts, of containers and in addresses, with a user in front. An agent would take what begins
/// with a dash for an option of its own, and a shell might carry out the rest.
std::string checked_name(std::string_view name) {
    auto const fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("._-@:%").find(c) != std::string_view::npos;
    };
    if (name.empty() || name.starts_with('-') || !std::all_of(name.begin(), name.end(), fits))
        throw Complaint(join("'", shown(name), "' is not the name of a host"));
    return std::string(name);
}

// An address of the sixth version has several colons and no slots behind them, unless it stands in brackets.
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

// Only a number is looked for among the interfaces: a job on this node alone, by its name, opens no socket.
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
    if (name.find('@') != std::string_view::npos) return false;   // another user's processes are not ours to start
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
