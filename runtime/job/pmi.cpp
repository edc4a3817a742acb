// SPDX-License-Identifier: BSD-3-Clause
// Speaks PMI over a socket, in version 1 or 2. A version 1 message is a line "cmd=put key=value key=value"; a version 2
// message is its length in six characters and "cmd=kvs-put;key=value;". Each process sends one command at a time and
// gets one answer. What a process puts can be read by all after a barrier.
//
// Values are text of limited length, so a value of JobServer is encoded and put in pieces: key "KEY-RANK-PIECE", the
// first piece begins with the number of pieces and a dot.
#include "runtime/job/join_job.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>

#include <fcntl.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <sodium.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.hpp"
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

/// The fields of a message.
class Fields {
public:
    Fields() = default;
    Fields(std::string_view message, char separator) {
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

/// The socket to the server. The server's process may end at any time, which no signal reports.
class Connection {
public:
    explicit Connection(int descriptor) : descriptor_(descriptor) { fcntl(descriptor, F_SETFD, FD_CLOEXEC); }
    Connection(Connection const&) = delete;
    Connection& operator=(Connection const&) = delete;
    ~Connection() { close(descriptor_); }

    void send(std::string const& message) {
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
    std::string receive(std::size_t bytes) {
        while (received_.size() < bytes) receive_more();
        return take(bytes);
    }

private:
    void receive_more() {
        char buffer[4096];
        ssize_t const n = recv(descriptor_, buffer, sizeof buffer, 0);
        if (n < 0 && errno == EINTR) return;
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
    std::string received_;
};

/// The commands of one version.
class Protocol {
public:
    virtual ~Protocol() = default;

    virtual void put(std::string const& key, std::string const& value) = 0;
    virtual void barrier() = 0;
    /// Returns nothing if no rank has put the key.
    virtual std::optional<std::string> get(std::string const& key) = 0;
    /// Returns what the server itself knows of the job under `key`.
    virtual std::optional<std::string> attribute(std::string const& key) = 0;
    virtual void abort(int code, std::string const& message) = 0;
    virtual void finish() = 0;

    int rank = -1, size = -1;
    std::size_t longest_value = 0;
};

[[noreturn]] void fail_command(std::string_view command, std::string const& reason) {
    fail(ErrorClass::other, "PMI command ", command, ": ", reason.empty() ? "the server refuses it" : reason);
}

class VersionOne : public Protocol {
public:
    VersionOne(Connection& connection, PmiPlace const& place) : connection_(connection) {
        rank = place.rank, size = place.size;
        Fields const limits = command("get_maxes", "", "maxes");
        int const longest = limits.number("vallen_max");
        if (longest < 64) fail_command("get_maxes", join("values of at most ", longest, " characters"));
        longest_value = static_cast<std::size_t>(longest) - 1;   // some servers count the terminating zero
        space_ = command("get_my_kvsname", "", "my_kvsname")["kvsname"];
    }

    void put(std::string const& key, std::string const& value) override {
        Fields const answer = command("put", join(" kvsname=", space_, " key=", key, " value=", value), "put_result");
        if (answer.number("rc") != 0) fail_command("put", answer["msg"]);
    }
    void barrier() override { command("barrier_in", "", "barrier_out"); }
    std::optional<std::string> get(std::string const& key) override {
        Fields const answer = command("get", join(" kvsname=", space_, " key=", key), "get_result");
        if (answer.number("rc") != 0) return {};
        return answer["value"];
    }
    std::optional<std::string> attribute(std::string const& key) override { return get(key); }
    void abort(int code, std::string const&) override { connection_.send(join("cmd=abort exitcode=", code, "\n")); }
    void finish() override { command("finalize", "", "finalize_ack"); }

private:
    Fields command(std::string_view name, std::string_view arguments, std::string_view expected) {
        connection_.send(join("cmd=", name, arguments, "\n"));
        Fields const answer(connection_.receive_line(), ' ');
        if (answer["cmd"] != expected) fail_command(name, join("the answer is '", answer["cmd"], "'"));
        return answer;
    }

    Connection& connection_;
    std::string space_;   ///< the name of the job's keys
};

class VersionTwo : public Protocol {
public:
    VersionTwo(Connection& connection, PmiPlace const& place) : connection_(connection), job_(place.job) {
        Fields const answer = command("fullinit", join("pmijobid=", job_, ";pmirank=", place.rank, ";threaded=FALSE;"));
        rank = answer.number("rank"), size = answer.number("size");
        longest_value = 1000;   // the version's limit is 1024, with the terminating zero
    }

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
    static std::optional<std::string> found(Fields const& answer) {
        if (answer["found"] == "FALSE" || answer["flag"] == "FALSE" || answer.number("rc") != 0) return {};
        return answer["value"];
    }
    void send(std::string_view name, std::string const& arguments) {
        std::string const text = join("cmd=", name, ";", arguments);
        std::string length = std::to_string(text.size());
        length.insert(0, 6 - length.size(), ' ');
        connection_.send(length + text);
    }
    Fields ask(std::string_view name, std::string const& arguments) {
        send(name, arguments);
        auto const length = topo::whole_number(topo::trimmed(connection_.receive(6)));
        if (!length) fail_command(name, "the answer has no length");
        Fields answer(connection_.receive(static_cast<std::size_t>(*length)), ';');
        if (answer["cmd"] != join(name, "-response")) fail_command(name, join("the answer is '", answer["cmd"], "'"));
        return answer;
    }
    Fields command(std::string_view name, std::string const& arguments) {
        Fields answer = ask(name, arguments);
        if (answer.number("rc") != 0) fail_command(name, answer["errmsg"]);
        return answer;
    }

    Connection& connection_;
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
    explicit Pmi(PmiPlace place) : connection_(place.descriptor >= 0 ? place.descriptor : connect_to(place.port)) {
        if (place.descriptor < 0) introduce(place);
        connection_.send("cmd=init pmi_version=1 pmi_subversion=1\n");
        Fields answer(connection_.receive_line(), ' ');
        if (answer.number("rc") != 0) {   // a server that speaks version 2 only
            connection_.send("cmd=init pmi_version=2 pmi_subversion=0\n");
            answer = Fields(connection_.receive_line(), ' ');
            if (answer.number("rc") != 0) fail_command("init", "the server speaks neither version 1.1 nor 2.0 of PMI");
            protocol_ = std::make_unique<VersionTwo>(connection_, place);
        } else {
            protocol_ = std::make_unique<VersionOne>(connection_, place);
        }
        rank_ = protocol_->rank, size_ = protocol_->size;
        if (size_ < 1 || rank_ < 0 || rank_ >= size_)
            fail(ErrorClass::other, "the server reports an invalid rank: ", rank_, " of ", size_);
        find_local_ranks();
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    std::vector<int> const& local_ranks() const override { return local_ranks_; }
    std::string const& node_name() const override { return node_name_; }

    void put(Scope, std::string const& key, std::string const& value) override {
        std::string const text = encoded(value);
        std::size_t const room = protocol_->longest_value - 16;   // for the number of pieces
        std::size_t const pieces = std::max<std::size_t>(1, (text.size() + room - 1) / room);
        for (std::size_t piece = 0; piece < pieces; ++piece) {
            std::string const part = text.substr(piece * room, room);
            protocol_->put(name_of(rank_, key, piece), piece == 0 ? join(pieces, ".", part) : part);
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
    /// Over PMI_PORT, the server states rank and size after the number by which it knows the process.
    void introduce(PmiPlace& place) {
        connection_.send(join("cmd=initack pmiid=", place.id, "\n"));
        if (Fields(connection_.receive_line(), ' ')["cmd"] != "initack") fail_command("initack", "");
        for (int i = 0; i < 3; ++i) {   // size, rank and debug, in any order
            Fields const answer(connection_.receive_line(), ' ');
            if (answer["cmd"] != "set") fail_command("initack", join("the answer is '", answer["cmd"], "'"));
            if (answer.number("size") >= 0) place.size = answer.number("size");
            if (answer.number("rank") >= 0) place.rank = answer.number("rank");
        }
    }

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
                nodes && nodes->size() >= static_cast<std::size_t>(size_)) {
                for (int r = 0; r < size_; ++r)
                    if ((*nodes)[static_cast<std::size_t>(r)] == (*nodes)[static_cast<std::size_t>(rank_)])
                        local_ranks_.push_back(r);
                return;
            }
        std::string const key = "tutti.host";
        char name[256] = "?";
        gethostname(name, sizeof name - 1);
        put(Scope::job, key, name);
        exchange();
        for (int r = 0; r < size_; ++r)
            if (get(r, key) == name) local_ranks_.push_back(r);
    }

    Connection connection_;
    std::unique_ptr<Protocol> protocol_;
    int rank_ = -1, size_ = -1;
    std::vector<int> local_ranks_;
    std::string node_name_;
};

}   // namespace

PmiPlace PmiPlace::of_this_process() {
    auto const text = [](char const* name) {
        char const* const value = std::getenv(name);
        return std::string(value ? value : "");
    };
    auto const number = [&](char const* name) { return topo::whole_number(text(name)).value_or(-1); };
    return {number("PMI_FD"),  text("PMI_PORT"),   text("PMI_ID"),
            text("PMI_JOBID"), number("PMI_RANK"), number("PMI_SIZE")};
}

std::unique_ptr<JobServer> connect_pmi(PmiPlace const& place) { return std::make_unique<Pmi>(place); }

std::unique_ptr<JobServer> connect_pmi() { return connect_pmi(PmiPlace::of_this_process()); }

}   // namespace tutti
