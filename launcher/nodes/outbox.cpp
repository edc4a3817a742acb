// SPDX-License-Identifier: BSD-3-Clause
// Writing queued bytes, and the heartbeat thread.
#include "launcher/nodes/outbox.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "launcher/base/job.hpp"
#include "launcher/nodes/link.hpp"
#include "runtime/base/error.hpp"

namespace tutti::launcher {

Outbox::Outbox(Descriptor out) : out_(std::move(out)) {
    fcntl(out_.get(), F_SETFL, fcntl(out_.get(), F_GETFL) | O_NONBLOCK);
}

void Outbox::add(std::string_view bytes) {
    std::lock_guard const lock(mutex_);
    if (!out_) return;
    queue_ += bytes;
    write_locked();
}

void Outbox::write_some() {
    std::lock_guard const lock(mutex_);
    write_locked();
}

void Outbox::add_beat() {
    std::lock_guard const lock(mutex_);
    if (!out_) return;
    if (queue_.empty()) queue_ = encoded(FrameType::beat, -1, {});
    write_locked();
}

void Outbox::close() {
    std::lock_guard const lock(mutex_);
    out_.reset();
    queue_.clear();
    written_ = 0;
}

bool Outbox::open() const {
    std::lock_guard const lock(mutex_);
    return static_cast<bool>(out_);
}

bool Outbox::empty() const {
    std::lock_guard const lock(mutex_);
    return queue_.empty();
}

int Outbox::blocked_descriptor() const {
    std::lock_guard const lock(mutex_);
    return queue_.empty() ? -1 : out_.get();
}

void Outbox::write_locked() {
    while (out_ && written_ < queue_.size()) {
        ssize_t const n = write(out_.get(), queue_.data() + written_, queue_.size() - written_);
        if (n > 0) written_ += static_cast<std::size_t>(n);
        else if (errno == EAGAIN) break;
        else if (errno != EINTR) out_.reset();   // bytes that the other end has sent can still be read
    }
    if (!out_) written_ = queue_.size();
    // A long queue is written in small pieces, and must not be moved after each of them.
    if (written_ <= queue_.size() / 2) return;
    queue_.erase(0, written_);
    written_ = 0;
}

Heartbeats::Heartbeats() try : thread_([this] { run(); }) {
} catch (std::system_error const& error) {
    throw LaunchError(join("the heartbeat thread cannot be started: ", error.what()), 1);
}

Heartbeats::~Heartbeats() {
    {
        std::lock_guard const lock(mutex_);
        is_stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void Heartbeats::add(std::weak_ptr<Outbox> outbox) {
    std::lock_guard const lock(mutex_);
    outboxes_.push_back(std::move(outbox));
}

void Heartbeats::run() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, Link::beat, [this] { return is_stopping_; }))
        std::erase_if(outboxes_, [](std::weak_ptr<Outbox> const& one) {
            std::shared_ptr<Outbox> const outbox = one.lock();
            if (outbox) outbox->add_beat();
            return !outbox || !outbox->open();
        });
}

}   // namespace tutti::launcher
