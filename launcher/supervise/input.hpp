// SPDX-License-Identifier: BSD-3-Clause
// Standard input of the ranks. If it is a file or a pipe, the rank that reads it inherits it: input that the rank does
// not read remains for the next command. mpiexec forwards only input from a terminal (whose readers must be in its
// foreground group), input to several ranks, and input of ranks on other nodes.
#pragma once

#include <string>
#include <vector>

#include <poll.h>

#include "launcher/base/job.hpp"
#include "launcher/base/proc.hpp"

namespace tutti::launcher {

class Input {
public:
    /// `ranks`: the ranks of this node. `remote_nodes`: other nodes that also receive the input.
    Input(InputTarget to, std::vector<int> const& ranks, std::vector<int> const& remote_nodes = {});

    /// Returns the descriptor that becomes descriptor 0 of that rank.
    int descriptor_for(int rank) const;
    /// Must be called when all ranks have their copies: closes the descriptors that only ranks need.
    void ranks_are_started();
    /// Returns the pipe from which the input for that node can be read, which the caller then owns; empty if the node
    /// receives none.
    Descriptor take_pipe_for(int node);

    void watch(std::vector<pollfd>& set) const;
    void serve(std::vector<pollfd> const& set);
    /// Returns true while the terminal belongs to another process group. The caller must then check regularly whether
    /// mpiexec is in the foreground again.
    bool in_background() const;

private:
    struct Reader {
        int rank;   ///< a rank of this node, or −1 − the number of another node
        Descriptor read, write;
        std::size_t written = 0;   // bytes of text_ that it has received
    };

    bool all_written() const;
    void read_more();
    void feed(Reader& reader);

    InputTarget to_;
    bool forwarding_ = false, terminal_ = false, ended_ = false;
    Descriptor null_device_;   // /dev/null
    std::vector<Reader> readers_;
    std::string text_;
};

}   // namespace tutti::launcher
