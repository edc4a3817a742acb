// SPDX-License-Identifier: BSD-3-Clause
// The commands of PMI, over a socket, in version 1 or 2. A version 1 message is a line "cmd=put key=value key=value"; a
// version 2 message is its length in six characters and "cmd=kvs-put;key=value;". Each process sends one command at a
// time and gets one answer. What a process puts can be read by all after a barrier.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "runtime/job/join_job.hpp"

namespace tutti {

/// The commands of one version. Not thread-safe, except abort(), which any thread may call during another call except
/// finish(). All throw Error if the server refuses the command or the connection is lost.
class PmiProtocol {
public:
    virtual ~PmiProtocol() = default;

    /// Returns the number of characters that a value may have under this key.
    virtual std::size_t longest_value(std::string const& key) const = 0;
    virtual void put(std::string const& key, std::string const& value) = 0;
    virtual void barrier() = 0;
    /// Returns nothing if no rank has put the key.
    virtual std::optional<std::string> get(std::string const& key) = 0;
    /// Returns what the server itself knows of the job under `key`.
    virtual std::optional<std::string> attribute(std::string const& key) = 0;
    /// Returns before the server has received the request.
    virtual void abort(int code, std::string const& message) = 0;
    virtual void finish() = 0;

    int rank = -1, size = -1;
};

/// Connects to the server in version 1.1, or 2.0 if it refuses that. Throws Error, also if the server does not answer
/// within `place.patience`, or reports an invalid rank.
std::unique_ptr<PmiProtocol> connect_pmi_protocol(PmiPlace place);

}   // namespace tutti
