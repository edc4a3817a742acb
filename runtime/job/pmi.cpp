// SPDX-License-Identifier: BSD-3-Clause
// A job server over PMI. Values are text of limited length there, so a value of JobServer is encoded and put in pieces:
// key "KEY-RANK-PIECE", the first piece begins with the number of pieces and a dot.
#include "runtime/job/pmi_protocol.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include <linux/sockios.h>
#include <sodium.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "runtime/job/interfaces.hpp"
#include "runtime/wait/short_wait.hpp"
#include "topo/text.hpp"

namespace tutti {
namespace {

constexpr int text_of_bytes = sodium_base64_VARIANT_URLSAFE_NO_PADDING;

std::string encoded(std::string const& bytes) {
    std::string text(sodium_base64_encoded_len(bytes.size(), text_of_bytes), '\0');
    sodium_bin2base64(text.data(), text.size(), reinterpret_cast<unsigned char const*>(bytes.data()), bytes.size(),
                      text_of_bytes);
    text.pop_back();   // the terminating zero
    return text;
}

std::string decoded(std::string const& text) {
    std::string bytes(text.size(), '\0');
    std::size_t length = 0;
    if (sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(), text.size(),
                          nullptr, &length, nullptr, text_of_bytes) != 0)
        fail(ErrorClass::other, "the server returned a value that no rank has put: ", text.substr(0, 40));
    bytes.resize(length);
    return bytes;
}

/// Returns true if the other end of a pipe or of a local socket has read everything, and for other descriptors.
bool is_output_read(int descriptor) {
    struct stat info {};
    if (fstat(descriptor, &info) != 0 || !(S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode))) return true;
    int unread = 0;
    unsigned long const request = S_ISFIFO(info.st_mode) ? FIONREAD : SIOCOUTQ;
    return ioctl(descriptor, request, &unread) != 0 || unread == 0;
}

/// Waits until the launcher has read what this process has printed, at most a second: Hydra ends as soon as it is asked
/// to end the job, and drops what has not reached mpiexec, such as the report of the error.
void wait_until_output_is_read() {
    constexpr std::int64_t longest_ns = 1'000'000'000, to_mpiexec_ns = 100'000'000;   // from its agent on this node
    sleep_until(longest_ns, [] { return is_output_read(STDOUT_FILENO) && is_output_read(STDERR_FILENO); });
    sleep_until(to_mpiexec_ns, [] { return false; });
}

class Pmi : public JobServer {
public:
    explicit Pmi(PmiPlace const& place) : protocol_(connect_pmi_protocol(place)) { find_local_ranks(); }

    int rank() const override { return protocol_->rank; }
    int size() const override { return protocol_->size; }
    std::vector<int> const& local_ranks() const override { return local_ranks_; }

    void put(Scope, std::string const& key, std::string const& value) override {
        constexpr std::size_t most_pieces = 9'999'999, number_length = 8;   // with its dot, in the first piece
        std::string const text = encoded(value);
        std::size_t const room = protocol_->longest_value(name_of(rank(), key, most_pieces)) - number_length;
        std::size_t const pieces = std::max<std::size_t>(1, (text.size() + room - 1) / room);
        for (std::size_t piece = 0; piece < pieces; ++piece) {
            std::string const part = text.substr(piece * room, room);
            protocol_->put(name_of(rank(), key, piece), piece == 0 ? join(pieces, ".", part) : part);
        }
    }
    void exchange() override { protocol_->barrier(); }
    std::string get(int rank, std::string const& key) override {
        std::string const first = get_piece(rank, key, 0);
        std::size_t const dot = first.find('.');
        auto const pieces = topo::whole_number(first.substr(0, dot));
        if (dot == std::string::npos || !pieces) fail(ErrorClass::other, "key ", key, " of rank ", rank, " is damaged");
        std::string text = first.substr(dot + 1);
        for (int piece = 1; piece < *pieces; ++piece) text += get_piece(rank, key, static_cast<std::size_t>(piece));
        return decoded(text);
    }

    void abort(int code, std::string const& message) override {
        wait_until_output_is_read();
        protocol_->abort(code, message);
    }
    void finish() override { protocol_->finish(); }

private:
    static std::string name_of(int rank, std::string const& key, std::size_t piece) {
        return join(key, "-", rank, "-", piece);
    }
    std::string get_piece(int rank, std::string const& key, std::size_t piece) {
        auto value = protocol_->get(name_of(rank, key, piece));
        if (!value) fail(ErrorClass::other, "rank ", rank, " has not put the key ", key);
        return *std::move(value);
    }

    /// The server describes which ranks it has started where; if it does not, the ranks exchange their hosts' names.
    void find_local_ranks() {
        if (auto const text = protocol_->attribute("PMI_process_mapping"))
            if (auto const nodes = topo::parse_rank_map(*text);
                nodes && nodes->size() >= static_cast<std::size_t>(size())) {
                for (int r = 0; r < size(); ++r)
                    if ((*nodes)[static_cast<std::size_t>(r)] == (*nodes)[static_cast<std::size_t>(rank())])
                        local_ranks_.push_back(r);
                return;
            }
        std::string const key = "tutti.host", name = host_name();
        put(Scope::job, key, name);
        exchange();
        for (int r = 0; r < size(); ++r)
            if (get(r, key) == name) local_ranks_.push_back(r);
    }

    std::unique_ptr<PmiProtocol> const protocol_;
    std::vector<int> local_ranks_;
};

}   // namespace

PmiPlace PmiPlace::of_this_process(std::chrono::seconds patience) {
    auto const text = [](char const* name) {
        char const* const value = std::getenv(name);
        return std::string(value ? value : "");
    };
    auto const number = [](char const* name) { return topo::variable_number(std::getenv(name)); };
    return {.descriptor = number("PMI_FD"),
            .port = text("PMI_PORT"),
            .id = text("PMI_ID"),
            .job = text("PMI_JOBID"),
            .rank = number("PMI_RANK"),
            .size = number("PMI_SIZE"),
            .patience = patience};
}

std::unique_ptr<JobServer> connect_pmi(PmiPlace const& place) { return std::make_unique<Pmi>(place); }

}   // namespace tutti
