// SPDX-License-Identifier: BSD-3-Clause
// Standard input of the ranks. A file or a pipe is simply inherited by the rank that is to read it: what it does not
// read is still there for the next command. Only a terminal (whose readers must be in its foreground group) and input
// to all ranks go through mpiexec, and what ranks of other nodes read.
#pragma once

#include <string>
#include <vector>

#include <poll.h>

#include "launcher/base/descriptor.hpp"
#include "launcher/base/job.hpp"

namespace tutti::launcher {

class Input {
public:
    /// `ranks`: those of this node; `far`: other nodes that are to get it, too.
    Input(InputTo to, std::vector<int> const& ranks, std::vector<int> const& far = {});

    /// What becomes descriptor 0 of that rank.
    int descriptor_for(int rank) const;
    /// All ranks have their copies: closes what only they need.
    void ranks_are_started();
    /// Where what that node is to get can be read; nothing when it gets none.
    Descriptor take_far(int node);

    void watch(std::vector<pollfd>& set) const;
    void serve(std::vector<pollfd> const& set);
    /// The terminal belongs to another group now; whether it has come back must be looked at from time to time.
    bool in_background() const;

private:
    struct Reader {
        int rank;   ///< of this node, or −1 − another node
        Descriptor read, write;
        std::size_t taken = 0;   // bytes of text_ that it has got
    };

    bool all_taken() const;
    void read_more();
    void feed(Reader& reader);

    InputTo to_;
    bool forwarding_ = false, terminal_ = false, ended_ = false;
    Descriptor nothing_;   // /dev/null
    std::vector<Reader> readers_;
    std::string text_;
};

}   // namespace tutti::launcher
