// SPDX-License-Identifier: BSD-3-Clause
// A transport as `mpiexec --check` has it: every message of the program begins as an operation that the checks see, and
// sends in standard mode wait for their receives, as MPI allows (MPI 3.1, 3.4), so that programs that work only as long
// as their messages are small are found by the proof of deadlocks. Without --check there is none of these.
#pragma once

#include <memory>

#include "p2p/check/checks.hpp"
#include "p2p/transport.hpp"

namespace tutti::p2p {

class CheckedTransport final : public Transport {
public:
    CheckedTransport(std::unique_ptr<Transport> inner, Checks& checks) : inner_(std::move(inner)), checks_(checks) {}

    bool reaches(int peer) const override { return inner_->reaches(peer); }
    bool send_small(int peer, Key const& key, Data const& data) override {
        return !of_program(key) && inner_->send_small(peer, key, data);
    }
    First take_small(int peer, Key const& key, Data const& data, Status& status, int polls) override {
        return of_program(key) ? First::other : inner_->take_small(peer, key, data, status, polls);
    }
    void begin(Send& op) override {
        if (of_program(op.key)) {
            checks_.sends(op);
            if (op.mode == Mode::standard) op.mode = Mode::synchronous;
        }
        inner_->begin(op);
    }
    void cancel(Send& op) override { inner_->cancel(op); }
    void take(Receive& op, Unexpected& message) override { inner_->take(op, message); }
    void announce(Receive& op) noexcept override { inner_->announce(op); }
    bool withdraw(Receive& op) noexcept override { return inner_->withdraw(op); }
    bool polled() const override { return inner_->polled(); }
    bool poll() override { return inner_->poll(); }
    bool poll_from(int peer) override { return inner_->poll_from(peer); }
    int polls_in_a_row() const override { return inner_->polls_in_a_row(); }
    bool idle() const override { return inner_->idle(); }
    void say_goodbye() override { inner_->say_goodbye(); }
    bool parted() const override { return inner_->parted(); }
    void add_staying(std::vector<int>& ranks) const override { inner_->add_staying(ranks); }
    void close() override { inner_->close(); }
    void count_bytes(Segment const& segment, NetworkBytes& bytes) const override {
        inner_->count_bytes(segment, bytes);
    }

private:
    std::unique_ptr<Transport> const inner_;
    Checks& checks_;
};

}   // namespace tutti::p2p
