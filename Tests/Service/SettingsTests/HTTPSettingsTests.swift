import HTTP1
import PushRules
import Reactors
import Testing

@testable import Settings

@Suite("What HTTP peers may do")
struct HTTPSettingsTests {
  @Test("without settings the server's own defaults hold, and each setting is read")
  func limits() throws {
    #expect(try makeSettings().http == HTTPServiceConfiguration())
    let http = try makeSettings([
      "HTTP_CONNECTIONS_MAX": "1", "HTTP_PEER_CONNECTIONS_MAX": "2", "HTTP_CONNECTION_REQUESTS_MAX": "3",
      "HTTP_REQUEST_LINE_BYTES_MAX": "130", "HTTP_HEADER_COUNT_MAX": "9", "HTTP_HEADER_BYTES_MAX": "257",
      "HTTP_BODY_BYTES_MAX": "1025", "HTTP_BODY_BYTES_PER_SECOND_MIN": "0", "HTTP_HEADER_SECONDS": "2.5",
      "HTTP_BODY_SECONDS": "3", "HTTP_IDLE_SECONDS": "4", "HTTP_WRITE_SECONDS": "5",
    ]).http
    let numbers = [
      http.connections.totalMax, http.connections.perPeerMax, http.connections.requestsMax,
      http.limits.requestLineBytesMax, http.limits.fieldCountMax, http.limits.fieldBytesMax, http.limits.bodyBytesMax,
      http.timeouts.bodyBytesPerSecondMin,
    ]
    #expect(numbers == [1, 2, 3, 130, 9, 257, 1025, 0])
    let times = [http.timeouts.head, http.timeouts.body, http.timeouts.idle, http.timeouts.write]
    #expect(times == [.milliseconds(2500), .seconds(3), .seconds(4), .seconds(5)])
  }

  @Test("a socket's permissions are octal", arguments: [("0660", 0o660), ("600", 0o600), ("0", 0), ("777", 0o777)])
  func modes(_ text: String, _ mode: UInt32) throws {
    #expect(try makeSettings(["LISTEN_SOCKET_MODE": text]).http.unixSocketMode == mode)
  }

  @Test("other permissions are refused", arguments: ["1000", "680", "rw-rw----", "-1", "0o660"])
  func unusableModes(_ text: String) {
    #expect(problems(["LISTEN_SOCKET_MODE": text]).map(\.key) == ["LISTEN_SOCKET_MODE"])
  }

  @Test("proxies are addresses, networks and Unix sockets; nobody unless set")
  func proxies() throws {
    #expect(try makeSettings().http.proxies == TrustedProxies())
    let set = try makeSettings([
      "TRUSTED_PROXIES": "10.0.0.0/8, ::1 unix", "TRUSTED_PROXY_HEADER": "Forwarded",
    ]).http
    #expect(set.proxies.networks.map(\.description) == ["10.0.0.0/8", "::1/128"])
    #expect(set.proxies.includesUnixSockets && set.proxies.field == .forwarded)
  }

  @Test(
    "what is no network is refused as a whole", arguments: ["proxy.example", "10.0.0.1/8", "10.0.0.0/8;::1", "*", ","])
  func unusableProxies(_ text: String) {
    #expect(problems(["TRUSTED_PROXIES": text]).map(\.key) == ["TRUSTED_PROXIES"])
  }

  @Test("origins of pages are exact; none unless set")
  func crossOrigins() throws {
    #expect(try makeSettings().http.crossOrigins.origins == [])
    let set = "https://app.example.com, http://localhost:5173 capacitor://localhost"
    #expect(
      try makeSettings(["CORS_ORIGINS": set]).http.crossOrigins.origins == [
        "https://app.example.com", "http://localhost:5173", "capacitor://localhost",
      ])
  }

  @Test(
    "what no browser writes as an origin is refused",
    arguments: [
      "*", "null", "https://*.example.com", "app.example.com", "https://app.example.com/", "https://app.example.com/a",
      "https://App.example.com", "https://app.example.com:443", "http://a.example:80", "https://u@a.example",
      "https://a.example?b", "https://", ",", "file://a",
    ])
  func unusableOrigins(_ text: String) {
    #expect(problems(["CORS_ORIGINS": text]).map(\.key) == ["CORS_ORIGINS"])
  }

  @Test("another header is refused")
  func unusableHeader() {
    #expect(problems(["TRUSTED_PROXY_HEADER": "X-Real-IP"]).map(\.key) == ["TRUSTED_PROXY_HEADER"])
  }

  @Test("a certificate and its key come together or not at all")
  func tls() throws {
    let files = ["/c.pem": "certificate", "/k.pem": "key"]
    #expect(try makeSettings().tls == nil)
    let both = try makeSettings(["TLS_CERTIFICATE_FILE": "/c.pem", "TLS_KEY_FILE": "/k.pem"], files: files).tls
    #expect(both?.certificate == "certificate" && both?.key.exposed == "key")
    #expect(problems(["TLS_CERTIFICATE_FILE": "/c.pem"], files: files).map(\.key) == ["TLS_KEY_FILE"])
    #expect(problems(["TLS_KEY_FILE": "/k.pem"], files: files).map(\.key) == ["TLS_CERTIFICATE_FILE"])
    let gone = problems(["TLS_CERTIFICATE_FILE": "/c.pem", "TLS_KEY_FILE": "hunter2"], files: files)
    #expect(gone.map(\.code) == [.unreadable] && !gone[0].message.contains("hunter2"))
  }

  @Test("what is different needs a restart, but another certificate does not")
  func restart() throws {
    let files = ["/c.pem": "certificate", "/d.pem": "another", "/k.pem": "key"]
    func settings(_ changes: [String: String?]) throws -> ServeSettings { try makeSettings(changes, files: files) }
    let start = try settings(["TLS_CERTIFICATE_FILE": "/c.pem", "TLS_KEY_FILE": "/k.pem"])
    let renewed = try settings(["TLS_CERTIFICATE_FILE": "/d.pem", "TLS_KEY_FILE": "/k.pem"])
    #expect(renewed.keysNeedingRestart(since: start) == [])
    let changed = try settings(["HTTP_IDLE_SECONDS": "5", "TRUSTED_PROXIES": "unix"])
    #expect(
      changed.keysNeedingRestart(since: start) == ["TLS_CERTIFICATE_FILE", "TRUSTED_PROXIES", "HTTP_IDLE_SECONDS"])
  }
}
