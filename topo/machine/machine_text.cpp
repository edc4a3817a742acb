// SPDX-License-Identifier: BSD-3-Clause
// The text form in which a Machine and a Placement travel from the launcher to the ranks: a line per thing, strict.
#include <algorithm>
#include <charconv>
#include <concepts>

#include "topo/machine/machine.hpp"

namespace tutti::topo {

namespace {

constexpr std::string_view machine_head = "tutti-machine 1";
constexpr std::string_view placement_head = "tutti-placement 1";
constexpr int largest_id = 1 << 20;   // guards arithmetic and memory against nonsense

std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

// Reads words and lines from the front; remembers the first failure, after which everything reads as empty.
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

    // A line "key value"; the value.
    std::string_view line_of(std::string_view key) {
        std::string_view text = line();
        if (!text.starts_with(key) || text.size() <= key.size() || text[key.size()] != ' ') return fail();
        return text.substr(key.size() + 1);
    }

    template <std::integral Number>
    Number number(std::string_view& words, Number most) {
        while (!words.empty() && words.front() == ' ') words.remove_prefix(1);
        Number value = 0;
        const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), value);
        if (error != std::errc() || value < 0 || value > most) {
            fail();
            return 0;
        }
        words.remove_prefix(static_cast<std::size_t>(end - words.data()));
        return value;
    }

    bool flag(std::string_view words) { return number(words, 1) == 1; }

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
    std::string_view words = reader.line_of("caches");
    Caches caches;
    caches.private_size = reader.number(words, most);
    caches.last_level_size = reader.number(words, most);
    caches.last_level_count = reader.number(words, largest_id);
    caches.line_size = reader.number(words, most);
    caches.inclusive = reader.number(words, 1) == 1;
    reader.expect(words.empty() && caches.line_size > 0 && caches.last_level_count > 0);
    return caches;
}

Pu read_pu(Reader& reader) {
    std::string_view words = reader.line();
    Pu pu;
    for (int* id : {&pu.os, &pu.core, &pu.l2, &pu.l3, &pu.numa, &pu.socket}) *id = reader.number(words, largest_id);
    reader.expect(words.empty());
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
    text += "\nname " + one_line(name) + "\ncpu " + one_line(cpu) + "\npretended " + (pretended ? "1" : "0");
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
    machine.pretended = reader.flag(reader.line_of("pretended"));
    machine.caches = read_caches(reader);
    std::string_view words = reader.line_of("pus");
    const int count = reader.number(words, largest_id);
    reader.expect(count > 0 && words.empty());
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
    std::string_view words = reader.line_of("pus");
    const int count = reader.number(words, largest_id);
    const int last = static_cast<int>(machine.pus.size()) - 1;
    while (reader.good() && static_cast<int>(placement.pu.size()) < count) {
        placement.pu.push_back(reader.number(words, last));
    }
    if (!reader.good() || !words.empty() || !reader.at_end()) {
        return Result<Placement>::failure("The description of where the ranks are is damaged or of another version.");
    }
    return placement;
}

Result<NodeMap> NodeMap::from_text(std::string_view text) {
    // No other line begins with it: names stand behind their key.
    const std::size_t before = text.find("\n" + std::string(placement_head));
    const std::size_t second = before == std::string_view::npos ? text.size() : before + 1;
    auto machine = Machine::from_text(text.substr(0, second));
    if (!machine) return Result<NodeMap>::failure(machine.error());
    auto placement = Placement::from_text(text.substr(second), *machine);
    if (!placement) return Result<NodeMap>::failure(placement.error());
    return NodeMap{std::move(*machine), std::move(*placement)};
}

}   // namespace tutti::topo
