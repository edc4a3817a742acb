// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/serve/pmi_message.hpp"

#include <algorithm>
#include <limits>

#include "runtime/base/error.hpp"
#include "topo/text.hpp"

namespace tutti::launcher {
namespace {

constexpr std::size_t longest_pmi_message = 1 << 20, length_digits = 6;

/// Adds "name=value". The first field is the command.
void add_field(PmiMessage& message, std::string_view field) {
    std::size_t const equals = field.find('=');
    if (equals == std::string_view::npos) return;   // "endcmd", and blanks at the end of a line
    std::string const name(topo::trimmed(field.substr(0, equals)));
    bool const is_command = message.command.empty() && (name == "cmd" || name == "mcmd");
    if (is_command) message.command = field.substr(equals + 1);
    else message.fields.emplace_back(name, field.substr(equals + 1));
}

PmiMessage parse_line(std::string_view line, char separator) {
    PmiMessage message;
    for (std::string const& field : topo::split_words(line, std::string_view(&separator, 1))) add_field(message, field);
    return message;
}

/// In version 2, two semicolons are one of the value.
PmiMessage parse_version_two(std::string_view body) {
    PmiMessage message;
    std::string field;
    for (std::size_t at = 0; at < body.size(); ++at) {
        bool const is_escaped = body[at] == ';' && at + 1 < body.size() && body[at + 1] == ';';
        if (is_escaped) ++at;
        if (is_escaped || body[at] != ';') {
            field += body[at];
        } else {
            add_field(message, field);
            field.clear();
        }
    }
    add_field(message, field);
    return message;
}

std::optional<PmiMessage> take_line(std::string& bytes) {
    bool const has_lines = bytes.starts_with("mcmd=");
    std::string_view const last = has_lines ? "endcmd\n" : "\n";
    std::size_t const end = bytes.find(last);
    if (end == std::string::npos) return {};
    PmiMessage message = parse_line(std::string_view(bytes).substr(0, end), has_lines ? '\n' : ' ');
    bytes.erase(0, end + last.size());
    return message;
}

std::optional<PmiMessage> take_counted(std::string& bytes) {
    if (bytes.size() < length_digits) return {};
    auto const length = topo::whole_number(topo::trimmed(std::string_view(bytes).substr(0, length_digits)));
    if (!length) fail(ErrorClass::other, "a message without its length");
    std::size_t const end = length_digits + static_cast<std::size_t>(*length);
    if (bytes.size() < end) return {};
    PmiMessage message = parse_version_two(std::string_view(bytes).substr(length_digits, end - length_digits));
    bytes.erase(0, end);
    return message;
}

std::string escaped(std::string const& value) {
    std::string text;
    for (char c : value) text += c == ';' ? std::string(";;") : std::string(1, c);
    return text;
}

}   // namespace

std::string const* PmiMessage::find(std::string_view name) const {
    auto const at = std::ranges::find(fields, name, [](auto const& field) -> std::string_view { return field.first; });
    return at == fields.end() ? nullptr : &at->second;
}

std::string PmiMessage::text(std::string_view name) const {
    std::string const* const value = find(name);
    return value ? *value : "";
}

int PmiMessage::number(std::string_view name, int otherwise) const {
    std::string const* const value = find(name);
    return value ? topo::parse_number(*value, std::numeric_limits<int>::min()).value_or(otherwise) : otherwise;
}

std::optional<PmiMessage> take_message(std::string& bytes, int version) {
    std::optional<PmiMessage> message = version == 2 ? take_counted(bytes) : take_line(bytes);
    if (message && message->command.empty()) fail(ErrorClass::other, "a message without a command");
    if (!message && bytes.size() > longest_pmi_message) fail(ErrorClass::other, "a message that does not end");
    return message;
}

std::string message_bytes(PmiMessage const& message, int version) {
    std::string text = join("cmd=", message.command, version == 2 ? ";" : "");
    for (auto const& [name, value] : message.fields)
        text += version == 2 ? join(name, "=", escaped(value), ";") : join(" ", name, "=", value);
    if (version != 2) return text + "\n";
    std::string const length = std::to_string(text.size());
    return std::string(length_digits - std::min(length_digits, length.size()), ' ') + length + text;
}

}   // namespace tutti::launcher
