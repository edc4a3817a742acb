// SPDX-License-Identifier: BSD-3-Clause
// Counting units of a Machine, the assumed placement of ranks that are not bound, and the text forms of both.
#include "topo/machine.hpp"

#include <algorithm>
#include <charconv>
#include <concepts>

namespace tutti::topo {

namespace {

template <class Key>
int distinct(const std::vector<Pu>& pus, Key key) {
    std::vector<int> ids;
    ids.reserve(pus.size());
    for (const Pu& pu : pus) ids.push_back(key(pu));
    std::sort(ids.begin(), ids.end());
    return static_cast<int>(std::unique(ids.begin(), ids.end()) - ids.begin());
}

// Returns the index of the first unit of every core, in machine order.
std::vector<int> first_unit_of_cores(const Machine& machine) {
    std::vector<int> firsts;
    for (std::size_t i = 0; i < machine.pus.size(); ++i) {
        const bool new_core = i == 0 || machine.pus[i].core != machine.pus[i - 1].core;
        if (new_core) firsts.push_back(static_cast<int>(i));
    }
    return firsts;
}

}   // namespace

std::string_view name_of(Level level) {
    static constexpr std::string_view names[level_count] = {"l2", "l3", "numa", "socket", "node"};
    return names[static_cast<int>(level)];
}

int Pu::at(Level level) const {
    switch (level) {
    case Level::l2: return l2;
    case Level::l3: return l3;
    case Level::numa: return numa;
    case Level::socket: return socket;
    case Level::node: break;
    }
    return 0;
}

Caches Caches::without_unknowns() const {
    Caches known = *this;
    if (known.last_level_size == 0) known.last_level_size = assumed_last_level_size;
    if (known.private_size == 0) known.private_size = std::min(assumed_private_size, known.last_level_size);
    return known;
}

int Machine::count(Level level) const {
    return distinct(pus, [level](const Pu& pu) { return pu.at(level); });
}

int Machine::core_count() const {
    return distinct(pus, [](const Pu& pu) { return pu.core; });
}

void Machine::complete_caches() {
    const auto complete = [this](int Pu::*const cache, int Pu::*const otherwise) {
        if (std::ranges::none_of(pus, [&](const Pu& pu) { return pu.*cache < 0; })) return;
        for (Pu& pu : pus) pu.*cache = pu.*otherwise;
    };
    complete(&Pu::l2, &Pu::core);
    complete(&Pu::l3, &Pu::socket);
}

Machine Machine::plain(std::span<const int> os_numbers) {
    Machine machine;
    machine.name = "this machine";
    for (const int os : os_numbers) {
        const int core = static_cast<int>(machine.pus.size());
        machine.pus.push_back({.os = os, .core = core, .l2 = core});
    }
    if (machine.pus.empty()) machine.pus.emplace_back();
    return machine;
}

Placement place_in_order(const Machine& machine, int ranks) {
    Placement placement;
    placement.fixed = machine.simulated;
    placement.pu.reserve(static_cast<std::size_t>(ranks));
    const std::vector<int> cores = first_unit_of_cores(machine);
    const bool one_each = ranks <= static_cast<int>(cores.size());
    for (int rank = 0; rank < ranks; ++rank) {
        const auto spread = static_cast<long>(rank) * static_cast<long>(machine.pus.size()) / ranks;
        placement.pu.push_back(one_each ? cores[static_cast<std::size_t>(rank)] : static_cast<int>(spread));
    }
    return placement;
}

// Text form in which the launcher passes a Machine and a Placement to the ranks: one item per line, parsed strictly.

namespace {

constexpr std::string_view machine_head = "tutti-machine 1";
constexpr std::string_view placement_head = "tutti-placement 1";
constexpr int largest_id = 1 << 20;   // bounds arithmetic and memory for invalid input

std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

// Reads numbers and lines from the front of a text. After the first failure every read returns an empty value.
class Reader {
public:
    explicit Reader(std::string_view text) : rest_(text) {}

    bool good() const { return good_; }
    bool at_end() const { return rest_.empty(); }

    std::string_view line() {
        const std::size_t end = rest_.find('\n');
        if (end == std::string_view::npos) return fail();
        const std::string_view result = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return result;
    }

    // Reads a line "key value" and returns the value.
    std::string_view line_of(std::string_view key) {
        std::string_view text = line();
        if (!text.starts_with(key) || text.size() <= key.size() || text[key.size()] != ' ') return fail();
        return text.substr(key.size() + 1);
    }

    template <std::integral Number>
    Number number(std::string_view& fields, Number most) {
        while (!fields.empty() && fields.front() == ' ') fields.remove_prefix(1);
        Number value = 0;
        const auto [end, error] = std::from_chars(fields.data(), fields.data() + fields.size(), value);
        if (error != std::errc() || value < 0 || value > most) {
            fail();
            return 0;
        }
        fields.remove_prefix(static_cast<std::size_t>(end - fields.data()));
        return value;
    }

    bool flag(std::string_view fields) { return number(fields, 1) == 1; }

    void expect(bool condition) {
        if (!condition) fail();
    }

private:
    std::string_view fail() {
        good_ = false;
        rest_ = {};
        return {};
    }

    std::string_view rest_;
    bool good_ = true;
};

Caches read_caches(Reader& reader) {
    constexpr std::size_t most = std::size_t{1} << 50;
    std::string_view fields = reader.line_of("caches");
    Caches caches;
    caches.private_size = reader.number(fields, most);
    caches.last_level_size = reader.number(fields, most);
    caches.last_level_count = reader.number(fields, largest_id);
    caches.line_size = reader.number(fields, most);
    caches.inclusive = reader.number(fields, 1) == 1;
    reader.expect(fields.empty() && caches.line_size > 0 && caches.last_level_count > 0);
    return caches;
}

Pu read_pu(Reader& reader) {
    std::string_view fields = reader.line();
    Pu pu;
    for (int* id : {&pu.os, &pu.core, &pu.l2, &pu.l3, &pu.numa, &pu.socket}) *id = reader.number(fields, largest_id);
    reader.expect(fields.empty());
    return pu;
}

bool os_numbers_differ(const std::vector<Pu>& pus) {
    std::vector<int> numbers;
    for (const Pu& pu : pus) numbers.push_back(pu.os);
    std::sort(numbers.begin(), numbers.end());
    return std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end();
}

}   // namespace

std::string Machine::to_text() const {
    std::string text(machine_head);
    text += "\nname " + one_line(name) + "\ncpu " + one_line(cpu) + "\nsimulated " + (simulated ? "1" : "0");
    text += "\ncaches " + std::to_string(caches.private_size) + ' ' + std::to_string(caches.last_level_size) + ' ' +
            std::to_string(caches.last_level_count) + ' ' + std::to_string(caches.line_size) +
            (caches.inclusive ? " 1" : " 0");
    text += "\npus " + std::to_string(pus.size()) + '\n';
    for (const Pu& pu : pus) {
        for (const int id : {pu.os, pu.core, pu.l2, pu.l3, pu.numa}) text += std::to_string(id) + ' ';
        text += std::to_string(pu.socket) + '\n';
    }
    return text;
}

Result<Machine> Machine::from_text(std::string_view text) {
    if (!text.starts_with(machine_head)) {
        return Result<Machine>::failure("The description of the machine does not begin with \"" +
                                        std::string(machine_head) +
                                        "\": launcher and library are of different versions.");
    }
    Reader reader(text);
    reader.expect(reader.line() == machine_head);
    Machine machine;
    machine.name = reader.line_of("name");
    machine.cpu = reader.line_of("cpu");
    machine.simulated = reader.flag(reader.line_of("simulated"));
    machine.caches = read_caches(reader);
    std::string_view fields = reader.line_of("pus");
    const int count = reader.number(fields, largest_id);
    reader.expect(count > 0 && fields.empty());
    while (reader.good() && static_cast<int>(machine.pus.size()) < count) machine.pus.push_back(read_pu(reader));
    if (!reader.good() || !reader.at_end() || !os_numbers_differ(machine.pus)) {
        return Result<Machine>::failure("The description of the machine is damaged.");
    }
    return machine;
}

std::string Placement::to_text() const {
    std::string text(placement_head);
    text += fixed ? "\nfixed 1\npus " : "\nfixed 0\npus ";
    text += std::to_string(pu.size());
    for (const int index : pu) text += ' ' + std::to_string(index);
    return text + '\n';
}

Result<Placement> Placement::from_text(std::string_view text, const Machine& machine) {
    Reader reader(text);
    reader.expect(reader.line() == placement_head);
    Placement placement;
    placement.fixed = reader.flag(reader.line_of("fixed"));
    std::string_view fields = reader.line_of("pus");
    const int count = reader.number(fields, largest_id);
    const int last = static_cast<int>(machine.pus.size()) - 1;
    while (reader.good() && static_cast<int>(placement.pu.size()) < count) {
        placement.pu.push_back(reader.number(fields, last));
    }
    if (!reader.good() || !fields.empty() || !reader.at_end()) {
        return Result<Placement>::failure(
            "The description of the placement of the ranks is damaged or of another version.");
    }
    return placement;
}

Result<NodeMap> NodeMap::from_text(std::string_view text) {
    // No other line begins with this head, because names follow their key.
    const std::size_t before = text.find("\n" + std::string(placement_head));
    const std::size_t second = before == std::string_view::npos ? text.size() : before + 1;
    auto machine = Machine::from_text(text.substr(0, second));
    if (!machine) return Result<NodeMap>::failure(machine.error());
    auto placement = Placement::from_text(text.substr(second), *machine);
    if (!placement) return Result<NodeMap>::failure(placement.error());
    return NodeMap{std::move(*machine), std::move(*placement)};
}

}   // namespace tutti::topo
