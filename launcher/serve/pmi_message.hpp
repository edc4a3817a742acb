// SPDX-License-Identifier: BSD-3-Clause
// The messages of PMI, versions 1 and 2. A message of version 1 is a line "cmd=put key=value key=value"; only a request
// to start processes has several lines, from "mcmd=" to "endcmd". A message of version 2 is its length in six
// characters and "cmd=kvs-put;key=value;", in which ";;" stands for a semicolon in a value. Source: the descriptions of
// PMI-1 and PMI-2 by the MPICH project, and what MPICH 4.0's clients send.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::launcher {

struct PmiMessage {
    std::string command;
    std::vector<std::pair<std::string, std::string>> fields;

    /// Returns the value of a field; null if there is no such field.
    std::string const* find(std::string_view name) const;
    /// Returns an empty text if there is no such field.
    std::string text(std::string_view name) const;
    /// Returns `otherwise` if there is no such field, or if it is not a number.
    int number(std::string_view name, int otherwise) const;
};

/// Removes the first message from the front of `bytes` and returns it; nothing if it is not complete. Throws Error if
/// the bytes are not a message, or if the message is longer than any client's.
std::optional<PmiMessage> take_message(std::string& bytes, int version);

/// Returns the bytes of a message.
std::string message_bytes(PmiMessage const& message, int version);

}   // namespace tutti::launcher
