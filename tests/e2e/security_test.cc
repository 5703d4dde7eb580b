// Strangers at the door: no token, no certificate, too much, too slow, too deep.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/e2e/cluster.h"

namespace headsplit::e2e {
namespace {

using namespace std::chrono_literals;

constexpr const char* kSecret = "open-sesame-5b1c";

/// A connection that says what it likes.
class RawClient {
 public:
  explicit RawClient(const cli::Server& server) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    const auto port = std::stoi(server.url.substr(server.url.rfind(':') + 1));
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    const timeval limit{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~RawClient() { ::close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool send(const std::string& text) const {
    return ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }
  /// Everything until the other side closes.
  std::string read_to_end() const {
    std::string all;
    char bytes[4096];
    for (ssize_t count; (count = ::recv(socket_, bytes, sizeof bytes, 0)) > 0;) {
      all.append(bytes, static_cast<std::size_t>(count));
    }
    return all;
  }

 private:
  int socket_ = -1;
};

std::string answer_to(const cli::Server& server, const std::string& request) {
  const RawClient client(server);
  client.send(request);
  return client.read_to_end();
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\r')); }

std::string get(const std::string& target, const std::string& headers = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers +
         "\r\n";
}

std::string text_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

// ---- Binding and the token -------------------------------------------------------------------

TEST(Security, OtherAddressesThanLoopbackNeedATokenOrCertificatesOfClients) {
  const Scratch scratch;
  const Finished open = run(scratch, {program("headsplit-coordinator"), "--listen", "0.0.0.0:0",
                                      "--db", scratch.path("a.db")});
  EXPECT_EQ(open.exit_status, 2);
  EXPECT_NE(open.err.find("others can reach it"), std::string::npos) << open.err;
  EXPECT_FALSE(std::filesystem::exists(scratch.path("a.db")));
}

TEST(Security, AWrongTokenGetsNothingButA401AndLeavesNothingBehind) {
  const Scratch secrets;
  const Cluster cluster({"--token-file", secrets.file("token", str(kSecret, "\n"))});
  const cli::Server& server = cluster.server();
  const std::string right = str("Authorization: Bearer ", kSecret, "\r\n");
  EXPECT_EQ(first_line(answer_to(server, get("/api/sweeps", right))), "HTTP/1.1 200 OK");
  for (const std::string wrong :
       {"", "Authorization: Bearer \r\n", "Authorization: Bearer open-sesame-5b1d\r\n",
        "Authorization: Bearer open-sesame-5b1c1\r\n", "Authorization: Basic b3Blbg==\r\n"}) {
    for (const std::string target : {"/api/sweeps", "/metrics", "/api/agents", "/api/events"}) {
      EXPECT_EQ(first_line(answer_to(server, get(target, wrong))), "HTTP/1.1 401 Unauthorized");
    }
  }
  const std::string upgrade =
      "GET /agent HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
  EXPECT_EQ(first_line(answer_to(server, upgrade)), "HTTP/1.1 401 Unauthorized");
  // No second try on a connection: a scan holds none of ours.
  const std::string twice = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string answer = answer_to(server, twice + twice);
  EXPECT_EQ(answer.find("HTTP/1.1"), answer.rfind("HTTP/1.1")) << answer;
  EXPECT_TRUE(cluster.agents().empty());
}

TEST(Security, TheTokenIsInNoLogNoMetricAndNoDatabase) {
  const Scratch secrets;
  const std::string file = secrets.file("token", str(kSecret, "\n"));
  Cluster cluster({"--token-file", file});
  Command& agent = cluster.start_agent("a", {"--token-file", file});
  ASSERT_TRUE(eventually([&] { return agent.err().find("agent connected") != std::string::npos; }))
      << agent.err();
  const std::string right = str("Authorization: Bearer ", kSecret, "\r\n");
  const std::string metrics = answer_to(cluster.server(), get("/metrics", right));
  EXPECT_EQ(first_line(metrics), "HTTP/1.1 200 OK");
  answer_to(cluster.server(), get("/api/sweeps", str("Authorization: Bearer x", kSecret, "\r\n")));
  for (const std::string& text :
       {metrics, agent.err(), cluster.coordinator().err(), cluster.coordinator().out(),
        text_of_file(cluster.scratch().path("rows.db")),
        text_of_file(cluster.scratch().path("rows.db-wal"))}) {
    EXPECT_EQ(text.find(kSecret), std::string::npos);
  }
}

// ---- Limits ----------------------------------------------------------------------------------

TEST(Security, AHeadThatIsTooLargeIsRefused) {
  const Cluster cluster;
  const std::string large(20 << 10, 'x');
  const std::string answer = answer_to(cluster.server(), get("/healthz", "X-A: " + large + "\r\n"));
  EXPECT_EQ(first_line(answer), "HTTP/1.1 431 Request Header Fields Too Large") << answer;
}

TEST(Security, AConnectionThatAsksTooOftenIsToldSoAndEnded) {
  const Cluster cluster;
  std::string many;
  for (int i = 0; i < 500; ++i) many += "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string answer = answer_to(cluster.server(), many);
  EXPECT_NE(answer.find("HTTP/1.1 429 Too Many Requests"), std::string::npos);
  EXPECT_EQ(cli::http(cluster.server(), "GET", "/healthz")->status, 200) << "others are served";
}

TEST(Security, WhoSpeaksTooSlowlyIsNotWaitedFor) {
  const Cluster cluster;
  const RawClient slow(cluster.server());
  slow.send("GET /healthz HTTP/1.1\r\nHost:");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(slow.read_to_end(), "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, 15s) << "5 s for the first request";
}

TEST(Security, NoPathLeadsOutOfTheFilesOfThePage) {
  const Cluster cluster;
  for (const std::string target :
       {"/assets/../../etc/passwd", "/assets/..%2f..%2fetc%2fpasswd", "/assets/%2e%2e/%2e%2e/x",
        "/assets/vendor/..%2findex.html", "//etc/passwd", "/assets//etc/passwd"}) {
    const std::string answer = answer_to(cluster.server(), get(target));
    EXPECT_EQ(answer.find("root:"), std::string::npos) << target;
    EXPECT_NE(answer.find("HTTP/1.1 4"), std::string::npos) << target << ": " << answer;
  }
}

TEST(Security, ThePageRunsItsOwnScriptsAndNothingElse) {
  const Cluster cluster;
  const std::string page = answer_to(cluster.server(), get("/"));
  EXPECT_NE(page.find("Content-Security-Policy: default-src 'none'; script-src 'self';"),
            std::string::npos);
  EXPECT_EQ(page.find("unsafe-inline"), std::string::npos);
  EXPECT_EQ(page.find("unsafe-eval"), std::string::npos);
}

// ---- TLS -------------------------------------------------------------------------------------

/// An authority, certificates of it for the coordinator and for a client, and a stranger's.
class TlsTest : public testing::Test {
 protected:
  void SetUp() override {
    make_authority("ca");
    make_authority("other");
    make_certificate("server", "ca");
    make_certificate("client", "ca");
    make_certificate("stranger", "other");
  }

  std::string file(const std::string& name) const { return files_.path(name); }
  std::vector<std::string> server_options(bool mutual) const {
    std::vector<std::string> options = {"--tls-cert", file("server.crt"), "--tls-key",
                                        file("server.key")};
    if (mutual) options.insert(options.end(), {"--tls-client-ca", file("ca.crt")});
    return options;
  }
  Result<int> status_of(const Cluster& cluster, const TlsFiles& tls) const {
    const auto reply = cli::http({.url = cluster.server().url, .tls = tls}, "GET", "/api/version");
    if (!reply) return reply.error();
    return reply->status;
  }

  const Scratch files_;

 private:
  void openssl(std::vector<std::string> words) const {
    words.insert(words.begin(), "openssl");
    const Finished made = run(files_, words);
    ASSERT_EQ(made.exit_status, 0) << made.err;
  }
  void make_authority(const std::string& name) const {
    openssl({"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-days", "2", "-subj", "/CN=" + name, "-keyout", file(name + ".key"), "-out",
             file(name + ".crt")});
  }
  void make_certificate(const std::string& name, const std::string& authority) const {
    openssl({"req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-subj", "/CN=" + name, "-keyout", file(name + ".key"), "-out", file(name + ".csr")});
    const std::string names = files_.file(name + ".ext", "subjectAltName=IP:127.0.0.1\n");
    openssl({"x509", "-req", "-days", "2", "-in", file(name + ".csr"), "-CA",
             file(authority + ".crt"), "-CAkey", file(authority + ".key"), "-CAcreateserial",
             "-extfile", names, "-out", file(name + ".crt")});
  }
};

TEST_F(TlsTest, ClientsAndAgentsSpeakItAndTheSweepEnds) {
  Cluster cluster(server_options(false));
  EXPECT_TRUE(cluster.server().url.starts_with("https://127.0.0.1:")) << cluster.server().url;
  const TlsFiles trusting{.peer_ca = file("ca.crt")};
  EXPECT_EQ(status_of(cluster, trusting).value(), 200);
  Command& agent = cluster.start_agent("a", {"--tls-ca", file("ca.crt")});
  EXPECT_TRUE(eventually([&] { return agent.err().find("agent connected") != std::string::npos; }))
      << agent.err();
  const cli::Server server{.url = cluster.server().url, .tls = trusting};
  const auto submitted = cli::submit_sweep(
      server, "name: t\nlayouts: [{tp: 128}]\naxes: {context: 64}\n", "t.yaml", 0, "");
  ASSERT_TRUE(submitted) << submitted.error().message;
  EXPECT_TRUE(eventually([&] {
    const auto view = cli::sweep_of(server, submitted->id);
    return view && view->ok == 1;
  })) << agent.err();
}

TEST_F(TlsTest, ACoordinatorThatNobodyVouchesForIsNotTrusted) {
  const Cluster cluster(server_options(false));
  const auto unknown = status_of(cluster, {.peer_ca = file("other.crt")});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("certificate verify failed"), std::string::npos)
      << unknown.error().message;
  const cli::Server plain{.url = "http" + cluster.server().url.substr(5)};
  EXPECT_FALSE(cli::http(plain, "GET", "/healthz")) << "plain HTTP is not answered";
}

TEST_F(TlsTest, WithMutualTlsOnlyHoldersOfACertificateComeIn) {
  Cluster cluster(server_options(true));
  const TlsFiles ours{file("client.crt"), file("client.key"), file("ca.crt")};
  EXPECT_EQ(status_of(cluster, ours).value(), 200);
  EXPECT_FALSE(status_of(cluster, {.peer_ca = file("ca.crt")})) << "no certificate";
  EXPECT_FALSE(status_of(cluster, {file("stranger.crt"), file("stranger.key"), file("ca.crt")}));
  Command& agent = cluster.start_agent("a", {"--tls-ca", file("ca.crt"), "--tls-cert",
                                             file("client.crt"), "--tls-key", file("client.key")});
  EXPECT_TRUE(eventually([&] { return agent.err().find("agent connected") != std::string::npos; }))
      << agent.err();
}

TEST_F(TlsTest, OldVersionsAreRefused) {
  const Cluster cluster(server_options(false));
  const std::string address = cluster.server().url.substr(std::string("https://").size());
  for (const std::string version : {"-tls1", "-tls1_1"}) {
    const Finished old = run(files_, {"openssl", "s_client", version, "-connect", address});
    EXPECT_NE(old.exit_status, 0) << version;
  }
  for (const std::string version : {"-tls1_2", "-tls1_3"}) {
    const Finished fresh = run(files_, {"openssl", "s_client", version, "-connect", address});
    EXPECT_EQ(fresh.exit_status, 0) << version << fresh.err;
  }
}

TEST_F(TlsTest, FilesThatCannotBeUsedAreNamed) {
  const Finished ended =
      run(files_, {program("headsplit-coordinator"), "--listen", "127.0.0.1:0", "--db",
                   file("a.db"), "--tls-cert", file("server.crt"), "--tls-key", file("nothing")});
  EXPECT_EQ(ended.exit_status, 2);
  EXPECT_NE(ended.err.find("nothing: cannot be used as the key of"), std::string::npos)
      << ended.err;
}

}  // namespace
}  // namespace headsplit::e2e
