// SPDX-License-Identifier: BSD-3-Clause
// The parsers of rank files, rank maps and sequence files.
#include "launcher/placement/allocation.hpp"

#include <algorithm>
#include <optional>
#include <sstream>

#include "launcher/base/text.hpp"
#include "runtime/base/error.hpp"
#include "topo/text.hpp"

namespace tutti::launcher {
namespace {

constexpr char rank_line_format[] = "a line is rank N=HOST slot=CORES, such as rank 0=node1 slot=0-3";

std::string find_host(std::string const& text, std::vector<Host> const& hosts) {
    if (text.starts_with("+n")) {
        auto const index = topo::whole_number(std::string_view(text).substr(2));
        auto const at = static_cast<std::size_t>(index.value_or(-1));
        if (at < hosts.size()) return hosts[at].name;
        throw LaunchError(join("there is no node ", printable(text), " among the ", hosts.size(), " of the job"));
    }
    std::vector<Host> one;
    add_host_list(one, text);
    if (one.size() != 1 || one[0].slots > 0)
        throw LaunchError(join("'", printable(text), "' is not the name of a host"));
    return one[0].name;
}

RankFileEntry parse_rank_line(std::string const& line, std::vector<Host> const& hosts) {
    std::istringstream words(line);
    std::string rank, host_field, slots, more;
    words >> rank >> host_field >> slots;
    std::size_t const equals = host_field.find('=');
    auto const number = topo::whole_number(std::string_view(host_field).substr(0, equals));
    bool const slot = slots.empty() || slots.starts_with("slot=") || slots.starts_with("slots=");
    if (rank != "rank" || equals == std::string::npos || !number || !slot || words >> more)
        throw LaunchError(join("'", printable(line), "' is not understood; ", rank_line_format));
    return {*number, find_host(host_field.substr(equals + 1), hosts),
            slots.empty() ? "" : slots.substr(slots.find('=') + 1)};
}

/// Returns the cores of one socket, or of all, in the order of the machine.
std::vector<int> cores_of(topo::Machine const& machine, std::optional<int> socket) {
    std::vector<int> cores;
    for (topo::Pu const& unit : machine.pus)
        if ((!socket || unit.socket == *socket) && std::ranges::find(cores, unit.core) == cores.end())
            cores.push_back(unit.core);
    return cores;
}

class SlotParser {
public:
    explicit SlotParser(topo::Machine const& machine) : machine_(machine) {}

    void add(std::string_view word) {
        std::size_t const colon = word.find(':');
        if (colon != std::string_view::npos) {
            socket_ = topo::whole_number(word.substr(0, colon));   // also applies to the words after this one
            if (!socket_ || cores_of(machine_, socket_).empty())
                throw LaunchError(
                    join("slot=", printable(word), ": there is no socket ", printable(word.substr(0, colon)), " here"));
            word.remove_prefix(colon + 1);
        }
        if (word.starts_with('p')) return add_units(word);
        std::vector<int> const cores = cores_of(machine_, socket_);
        auto const range =
            word == "*" ? topo::NumberRange{0, static_cast<int>(cores.size()) - 1} : topo::parse_range(word);
        if (!range || range->last >= static_cast<int>(cores.size()))
            throw LaunchError(join("slot=", printable(word), ": cores are counted from 0 to ", cores.size() - 1,
                                   socket_ ? join(" in socket ", *socket_) : " on this machine"));
        for (int i = range->first; i <= range->last; ++i)
            for (topo::Pu const& unit : machine_.pus)
                if (unit.core == cores[static_cast<std::size_t>(i)]) units_.push_back(unit.os);
    }

    std::vector<int> result() && { return std::move(units_); }

private:
    void add_units(std::string_view word) {
        auto const range = topo::parse_range(word.substr(1));
        for (int os = range ? range->first : 0; range && os <= range->last; ++os) {
            if (std::ranges::find(machine_.pus, os, &topo::Pu::os) == machine_.pus.end())
                throw LaunchError(
                    join("slot=", printable(word), ": processing unit ", os, " is not among those usable here"));
            units_.push_back(os);
        }
        if (!range) throw LaunchError(join("slot=", printable(word), " is not understood; p4 is processing unit 4"));
    }

    topo::Machine const& machine_;
    std::optional<int> socket_;
    std::vector<int> units_;
};

}   // namespace

std::vector<RankFileEntry> read_rank_file(std::string const& file, std::vector<Host> const& hosts) {
    std::istringstream in(read_user_file("the rank file ", file));
    std::vector<RankFileEntry> entries;
    int number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        line = std::string(topo::trimmed(std::string_view(line).substr(0, line.find('#'))));
        if (line.empty()) continue;
        try {
            entries.push_back(parse_rank_line(line, hosts));
        } catch (LaunchError const& error) {
            throw LaunchError(join("the rank file ", file, ", line ", number, ": ", error.what()));
        }
    }
    std::ranges::stable_sort(entries, {}, &RankFileEntry::rank);
    for (std::size_t i = 0; i < entries.size(); ++i)
        if (entries[i].rank != static_cast<int>(i))
            throw LaunchError(entries[i].rank < static_cast<int>(i)
                                  ? join("the rank file ", file, " names rank ", entries[i].rank, " twice")
                                  : join("the rank file ", file, " does not place rank ", i));
    if (entries.empty()) throw LaunchError(join("the rank file ", file, " names no rank"));
    return entries;
}

std::vector<RankFileEntry> read_rank_map(std::string_view text, std::vector<Host> const& hosts) {
    auto const nodes = topo::parse_rank_map(text);
    if (!nodes)
        throw LaunchError(join("-rankmap needs the host number of each rank, such as 0,0,1,1, or blocks (FIRST,HOSTS,",
                               "RANKS), not '", printable(text), "'"));
    std::vector<RankFileEntry> entries;
    for (int host : *nodes) {
        auto const at = static_cast<std::size_t>(host);
        if (at >= std::max<std::size_t>(1, hosts.size()))
            throw LaunchError(join("-rankmap: there is no host ", host, "; hosts are counted from 0, and ",
                                   hosts.size(), hosts.size() == 1 ? " is named" : " are named"));
        entries.push_back({static_cast<int>(entries.size()), hosts.empty() ? host_name() : hosts[at].name, {}});
    }
    return entries;
}

std::vector<RankFileEntry> read_sequence(std::string const& file, std::vector<Host> const& hosts) {
    std::vector<RankFileEntry> entries;
    auto const add = [&](std::string const& host) { entries.push_back({static_cast<int>(entries.size()), host, {}}); };
    if (file.empty())
        for (Host const& host : hosts) add(host.name);
    std::istringstream in(file.empty() ? "" : read_user_file("the file of --map-by seq, ", file));
    for (std::string line, word; std::getline(in, line);) {
        std::istringstream words(line.substr(0, line.find('#')));
        if (words >> word) add(find_host(word, hosts));
    }
    if (entries.empty())
        throw LaunchError("--map-by seq: no host is named; -hostfile or seq:FILE=NAME names one for each rank");
    return entries;
}

std::vector<int> slot_units(std::string_view slots, topo::Machine const& machine) {
    SlotParser all(machine);
    for (std::string const& word : topo::split_words(slots, ",")) all.add(word);
    return std::move(all).result();
}

std::vector<int> parse_number_list(std::string_view what, std::string_view text) {
    topo::NumberList list = topo::parse_number_list(text);
    if (!list.valid) throw LaunchError(join(what, " needs numbers such as 0,2-5, not '", printable(text), "'"));
    return std::move(list.numbers);
}

}   // namespace tutti::launcher
