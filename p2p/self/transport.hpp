// SPDX-License-Identifier: BSD-3-Clause
// Messages to oneself: copied straight into a receive that waits, kept aside up to the eager size, else left where they
// are until there is a receive. Nothing comes by itself.
#pragma once

#include "p2p/matching/matching.hpp"
#include "p2p/transport.hpp"

namespace tutti::p2p {

class SelfTransport final : public Transport {
public:
    explicit SelfTransport(Matching& matching);

    bool reaches(int peer) const override { return peer == me_; }
    bool send_small(int, Key const&, Data const&) override { return false; }
    void begin(Send& op) override;
    void cancel(Send& op) override;
    void take(Receive& op, Unexpected& message) override;

    bool polled() const override { return false; }
    bool poll() override { return false; }
    bool poll_from(int) override { return false; }
    bool idle() const override { return true; }

private:
    Matching& matching_;
    int const me_;
    std::size_t const eager_limit_;
    std::uint64_t next_number_ = 0;   ///< counts sends
};

}   // namespace tutti::p2p
