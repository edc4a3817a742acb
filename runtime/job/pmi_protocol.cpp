// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/job/pmi_protocol.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
#include "topo/text.hpp"

namespace tutti {
namespace {

/// The fields of a message.
class PmiFields {
public:
    PmiFields() = default;
    PmiFields(std::string_view message, char separator) {
        while (!message.empty()) {
            std::string_view const field = message.substr(0, message.find(separator));
            message.remove_prefix(std::min(message.size(), field.size() + 1));
            std::size_t const equals = field.find('=');
            if (equals == std::string_view::npos) continue;
            fields_.emplace(topo::trimmed(field.substr(0, equals)), field.substr(equals + 1));
        }
    }
    /// Returns an empty text if there is no such field.
    std::string const& operator[](std::string_view name) const {
        static std::string const none;
        auto const at = fields_.find(name);
        return at == fields_.end() ? none : at->second;
    }
    int number(std::string_view name) const { return topo::whole_number((*this)[name]).value_or(-1); }

private:
    std::map<std::string, std::string, std::less<>> fields_;
};

/// The socket to the server. The server's process may end at any time, which no signal reports. Several threads may
/// send, each a whole message; only one may receive.
class PmiConnection {
public:
    explicit PmiConnection(int descriptor) : descriptor_(descriptor) { fcntl(descriptor, F_SETFD, FD_CLOEXEC); }
    PmiConnection(PmiConnection const&) = delete;
    PmiConnection& operator=(PmiConnection const&) = delete;
    ~PmiConnection() { close(descriptor_); }

    void send(std::string const& message) {
        std::lock_guard const whole(sending_);
        for (std::size_t sent = 0; sent < message.size();) {
            ssize_t const n = ::send(descriptor_, message.data() + sent, message.size() - sent, MSG_NOSIGNAL);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) fail(ErrorClass::other, "the connection to the server is lost (", std::strerror(errno), ")");
            sent += static_cast<std::size_t>(n);
        }
    }
    std::string receive_line() {
        std::size_t end;
        while ((end = received_.find('\n')) == std::string::npos) receive_more();
        return take(end + 1).substr(0, end);
    }
    /// Sets the longest time for which an answer may be awaited; 0: any time.
    void limit_waits(std::chrono::seconds limit) {
        limit_ = limit;
        timeval const time{limit.count(), 0};
        setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    }
    std::string receive(std::size_t bytes) {
        while (received_.size() < bytes) receive_more();
        return take(bytes);
    }

private:
    void receive_more() {
        char buffer[4096];
        ssize_t const n = recv(descriptor_, buffer, sizeof buffer, 0);
        if (n < 0 && errno == EINTR) return;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            fail(ErrorClass::other, "the server has not answered within ", limit_.count(),
                 " s (TUTTI_START_TIMEOUT). A process can join a job only once, so a script cannot run two programs");
        if (n < 0) fail(ErrorClass::other, "the connection to the server is lost (", std::strerror(errno), ")");
        if (n == 0) fail(ErrorClass::other, "the server has closed the connection");
        received_.append(buffer, static_cast<std::size_t>(n));
    }
    std::string take(std::size_t bytes) {
        std::string taken = received_.substr(0, bytes);
        received_.erase(0, bytes);
        return taken;
    }

    int descriptor_;
    std::chrono::seconds limit_{0};
    std::mutex sending_;
    std::string received_;
};

[[noreturn]] void fail_command(std::string_view command, std::string const& reason) {
    fail(ErrorClass::other, "PMI command ", command, ": ", reason.empty() ? "the server refuses it" : reason);
}

class PmiVersionOne : public PmiProtocol {
public:
    PmiVersionOne(std::unique_ptr<PmiConnection> connection, PmiPlace const& place)
        : connection_(std::move(connection)) {
        rank = place.rank, size = place.size;
        PmiFields const limits = command("get_maxes", "", "maxes");
        int const longest = limits.number("vallen_max");
        if (longest < 64) fail_command("get_maxes", join("values of at most ", longest, " characters"));
        longest_value_ = static_cast<std::size_t>(longest) - 1;   // some servers count the terminating zero
        space_ = command("get_my_kvsname", "", "my_kvsname")["kvsname"];
        if (space_.size() > 256) fail_command("get_my_kvsname", join("a name of ", space_.size(), " characters"));
    }

    // Slurm reads at most 1024 bytes, of which one must be free, and takes them for a whole command, although it
    // announces values of that length.
    std::size_t longest_value(std::string const& key) const override {
        constexpr std::size_t longest_line = 1023;
        return std::min(longest_value_, longest_line - line("put", put_arguments(key, "")).size());
    }
    void put(std::string const& key, std::string const& value) override {
        PmiFields const answer = command("put", put_arguments(key, value), "put_result");
        if (answer.number("rc") != 0) fail_command("put", answer["msg"]);
    }
    void barrier() override {
        PmiFields const answer = command("barrier_in", "", "barrier_out");
        if (!answer["rc"].empty() && answer.number("rc") != 0) fail_command("barrier_in", answer["msg"]);
    }
    std::optional<std::string> get(std::string const& key) override {
        PmiFields const answer = command("get", join(" kvsname=", space_, " key=", key), "get_result");
        if (answer.number("rc") != 0) return {};
        return answer["value"];
    }
    std::optional<std::string> attribute(std::string const& key) override { return get(key); }
    void abort(int code, std::string const&) override { connection_->send(join("cmd=abort exitcode=", code, "\n")); }
    void finish() override { command("finalize", "", "finalize_ack"); }

private:
    static std::string line(std::string_view name, std::string_view arguments) {
        return join("cmd=", name, arguments, "\n");
    }
    std::string put_arguments(std::string const& key, std::string const& value) const {
        return join(" kvsname=", space_, " key=", key, " value=", value);
    }
    PmiFields command(std::string_view name, std::string_view arguments, std::string_view expected) {
        connection_->send(line(name, arguments));
        PmiFields const answer(connection_->receive_line(), ' ');
        if (answer["cmd"] != expected) fail_command(name, join("the answer is '", answer["cmd"], "'"));
        return answer;
    }

    std::unique_ptr<PmiConnection> const connection_;
    std::string space_;   ///< the name of the job's keys
    std::size_t longest_value_ = 0;
};

class PmiVersionTwo : public PmiProtocol {
public:
    PmiVersionTwo(std::unique_ptr<PmiConnection> connection, PmiPlace const& place)
        : connection_(std::move(connection)), job_(place.job) {
        PmiFields const answer =
            command("fullinit", join("pmijobid=", job_, ";pmirank=", place.rank, ";threaded=FALSE;"));
        rank = answer.number("rank"), size = answer.number("size");
    }

    // the version's limit is 1024, with the terminating zero
    std::size_t longest_value(std::string const&) const override { return 1000; }

    void put(std::string const& key, std::string const& value) override {
        command("kvs-put", join("key=", key, ";value=", value, ";"));
    }
    void barrier() override { command("kvs-fence", ""); }
    std::optional<std::string> get(std::string const& key) override {
        return found(ask("kvs-get", join("jobid=", job_, ";srcid=-1;key=", key, ";")));
    }
    std::optional<std::string> attribute(std::string const& key) override {
        return found(ask("info-getjobattr", join("key=", key, ";")));
    }
    void abort(int, std::string const& message) override {
        std::string plain = message.substr(0, 500);
        std::ranges::replace_if(
            plain, [](char c) { return c == ';' || c == '\n'; }, ' ');
        send("abort", join("isworld=TRUE;msg=", plain, ";"));
    }
    void finish() override { command("finalize", ""); }

private:
    static std::optional<std::string> found(PmiFields const& answer) {
        if (answer["found"] == "FALSE" || answer["flag"] == "FALSE" || answer.number("rc") != 0) return {};
        return answer["value"];
    }
    void send(std::string_view name, std::string const& arguments) {
        std::string const text = join("cmd=", name, ";", arguments);
        std::string length = std::to_string(text.size());
        length.insert(0, 6 - length.size(), ' ');
        connection_->send(length + text);
    }
    PmiFields ask(std::string_view name, std::string const& arguments) {
        send(name, arguments);
        auto const length = topo::whole_number(topo::trimmed(connection_->receive(6)));
        if (!length) fail_command(name, "the answer has no length");
        PmiFields answer(connection_->receive(static_cast<std::size_t>(*length)), ';');
        if (answer["cmd"] != join(name, "-response")) fail_command(name, join("the answer is '", answer["cmd"], "'"));
        return answer;
    }
    PmiFields command(std::string_view name, std::string const& arguments) {
        PmiFields answer = ask(name, arguments);
        if (answer.number("rc") != 0) fail_command(name, answer["errmsg"]);
        return answer;
    }

    std::unique_ptr<PmiConnection> const connection_;
    std::string job_;
};

/// Connects to PMI_PORT, "HOST:PORT".
int connect_to(std::string const& address) {
    std::size_t const colon = address.rfind(':');
    if (colon == std::string::npos) fail(ErrorClass::other, "PMI_PORT=", address, " has no port");
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    std::string const host = address.substr(0, colon), port = address.substr(colon + 1);
    if (int const error = getaddrinfo(host.c_str(), port.c_str(), &wanted, &found))
        fail(ErrorClass::other, "PMI_PORT=", address, ": ", gai_strerror(error));
    std::unique_ptr<addrinfo, void (*)(addrinfo*)> const all(found, freeaddrinfo);
    int last_error = 0;
    for (addrinfo const* one = found; one; one = one->ai_next) {
        int const descriptor = socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
        if (descriptor >= 0 && connect(descriptor, one->ai_addr, one->ai_addrlen) == 0) return descriptor;
        last_error = errno;
        if (descriptor >= 0) close(descriptor);
    }
    fail(ErrorClass::other, "PMI_PORT=", address, ": ", std::strerror(last_error));
}

/// Over PMI_PORT, the server states rank and size after the number by which it knows the process.
void introduce(PmiConnection& connection, PmiPlace& place) {
    connection.send(join("cmd=initack pmiid=", place.id, "\n"));
    if (PmiFields(connection.receive_line(), ' ')["cmd"] != "initack") fail_command("initack", "");
    for (int i = 0; i < 3; ++i) {   // size, rank and debug, in any order
        PmiFields const answer(connection.receive_line(), ' ');
        if (answer["cmd"] != "set") fail_command("initack", join("the answer is '", answer["cmd"], "'"));
        if (answer.number("size") >= 0) place.size = answer.number("size");
        if (answer.number("rank") >= 0) place.rank = answer.number("rank");
    }
}

/// Returns true if the server accepts the version.
bool request_version(PmiConnection& connection, std::string_view version) {
    connection.send(join("cmd=init ", version, "\n"));
    return PmiFields(connection.receive_line(), ' ').number("rc") == 0;
}

}   // namespace

std::unique_ptr<PmiProtocol> connect_pmi_protocol(PmiPlace place) {
    bool const inherited = place.descriptor >= 0;
    auto owned = std::make_unique<PmiConnection>(inherited ? place.descriptor : connect_to(place.port));
    PmiConnection& connection = *owned;
    connection.limit_waits(place.patience);
    if (!inherited) introduce(connection, place);
    std::unique_ptr<PmiProtocol> protocol;
    if (request_version(connection, "pmi_version=1 pmi_subversion=1"))
        protocol = std::make_unique<PmiVersionOne>(std::move(owned), place);
    else if (request_version(connection, "pmi_version=2 pmi_subversion=0"))
        protocol = std::make_unique<PmiVersionTwo>(std::move(owned), place);
    else fail_command("init", "the server speaks neither version 1.1 nor 2.0 of PMI");
    connection.limit_waits(std::chrono::seconds(0));
    if (protocol->size < 1 || protocol->rank < 0 || protocol->rank >= protocol->size)
        fail(ErrorClass::other, "the server reports an invalid rank: ", protocol->rank, " of ", protocol->size);
    return protocol;
}

}   // namespace tutti
