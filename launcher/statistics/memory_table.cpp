// SPDX-License-Identifier: BSD-3-Clause
// Where the ranks' memory lies: shares of the pages that the kernel was asked about.
#include <algorithm>
#include <cstring>

#include "launcher/base/table.hpp"
#include "launcher/statistics/statistics.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {
namespace {

constexpr char memory_meaning[] =
    R"(node: the NUMA node to which the rank was bound, or on which it ran. state, rings, heap, arena: how many of the
pages looked at, among those that were there, lie on that node; state: what the rank shows of itself and counts; rings:
what it gets of messages; heap: memory of communicators that it has made; arena: its large blocks. moves: how often it
had gone to another node for good.
)";

std::string share(std::uint64_t there, std::uint64_t seen) {
    if (seen == 0) return "-";
    return join(there * 100 / seen, " % of ", seen);
}

}   // namespace

std::string memory_table(AllRankCounts const& counts) {
    Table table({"rank", "node", "state", "rings", "heap", "arena", "moves"}, 0);
    Placed all;
    bool any = false;
    std::uint64_t refused = 0;
    for (RankCounts const& one : counts) {
        Placed const& placed = one.rank_state->placed;
        refused = std::max(refused, placed.refused.read());
        std::uint64_t const node = placed.node.read();
        any = any || node != 0;
        std::vector<std::string> cells = {std::to_string(one.rank), node == 0 ? "-" : std::to_string(node - 1)};
        for (std::size_t part = 0; part < Placed::parts; ++part) {
            all.seen[part].add(placed.seen[part].read());
            all.there[part].add(placed.there[part].read());
            cells.push_back(share(placed.there[part].read(), placed.seen[part].read()));
        }
        all.moves.add(placed.moves.read());
        cells.push_back(std::to_string(placed.moves.read()));
        table.add(std::move(cells));
    }
    std::string const obstacle =
        refused == 0 ? ""
                     : join("The system does not let memory be placed, or does not tell where it lies: ",
                            std::strerror(static_cast<int>(refused)), ".\n");
    if (!any)
        return obstacle.empty() ? "Memory: there is one NUMA node, or tutti-info tells why none is chosen.\n"
                                : obstacle;
    std::vector<std::string> cells = {"all", ""};
    for (std::size_t part = 0; part < Placed::parts; ++part)
        cells.push_back(share(all.there[part].read(), all.seen[part].read()));
    cells.push_back(std::to_string(all.moves.read()));
    table.add(std::move(cells));
    return "Where the ranks' memory lies, as the kernel sees it:\n" + table.text() + memory_meaning + obstacle;
}

}   // namespace tutti::launcher
