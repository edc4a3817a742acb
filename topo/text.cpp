// SPDX-License-Identifier: BSD-3-Clause
#include "topo/text.hpp"

#include <algorithm>

namespace tutti::topo {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\n";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return result;
}

std::string upper(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return result;
}

std::vector<std::string> split_words(std::string_view text, std::string_view separators) {
    std::vector<std::string> words;
    for (std::size_t begin = 0;;) {
        const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
        words.emplace_back(trimmed(text.substr(begin, end - begin)));
        if (end == text.size()) return words;
        begin = end + 1;
    }
}

NumberList parse_number_list(std::string_view text) {
    constexpr std::size_t max_numbers = 1 << 20;
    NumberList list{{}, true};
    for (const std::string& part : split_words(text, ",")) {
        const auto range = parse_range(part);
        list.valid = range && static_cast<std::size_t>(range->last - range->first) < max_numbers - list.numbers.size();
        if (!list.valid) break;
        for (int number = range->first; number <= range->last; ++number) list.numbers.push_back(number);
    }
    return list;
}

std::optional<std::vector<int>> parse_rank_map(std::string_view text) {
    constexpr std::string_view vector = "(vector,";
    constexpr std::size_t most = 1 << 20;
    std::string_view rest = text;
    if (rest.starts_with(vector) && rest.ends_with(')'))
        rest = rest.substr(vector.size(), rest.size() - vector.size() - 1);
    std::vector<int> nodes;
    while (!rest.empty()) {
        const bool block = rest.starts_with('(');
        const std::size_t end = std::min(rest.find(block ? ')' : ','), rest.size());
        if (block && end == rest.size()) return std::nullopt;
        std::vector<std::size_t> numbers;
        for (const std::string& word : split_words(rest.substr(block ? 1 : 0, block ? end - 1 : end), ",")) {
            const auto number = whole_number(word);
            if (!number) return std::nullopt;
            numbers.push_back(static_cast<std::size_t>(*number));
        }
        if (numbers.size() != (block ? 3u : 1u)) return std::nullopt;
        const std::size_t ranks = block ? numbers[1] * numbers[2] : 1;
        if (nodes.size() + ranks > most) return std::nullopt;
        for (std::size_t i = 0; i < ranks; ++i)
            nodes.push_back(static_cast<int>(numbers[0] + (block ? i / numbers[2] : 0)));
        rest.remove_prefix(std::min(end + (block ? 1 : 0), rest.size()));
        if (rest.starts_with(',')) rest.remove_prefix(1);
    }
    if (nodes.empty()) return std::nullopt;
    return nodes;
}

}   // namespace tutti::topo
