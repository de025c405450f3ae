import Cryptography
import Foundation
import TestKeys
import TestPostgres
import TestProcesses
import Testing

@testable import tacet

@Suite("tacet serve")
struct ServeCommandTests {
  /// Usable but for what a test changes. The secrets are words that can be looked for.
  private static let settings = [
    "DATABASE_URL": "postgresql://tacet:hunter2@127.0.0.1:1/app",
    "WEBHOOK_SECRET": "hunter2-of-the-webhooks-and-longer",
    "SERVICE_KEY": "hunter2-of-the-services-and-longer",
    "APNS_KEY_ID": "ABC123DEFG",
    "APNS_TEAM_ID": "DEF123GHIJ",
    "APNS_BUNDLE_ID": "com.example.app",
    "APNS_PRIVATE_KEY": P256PrivateKey().pem,
    "LISTEN_ADDRESS": "127.0.0.1:0",
  ]

  @Test(
    "does not start with a setting it cannot use, and names it",
    arguments: [
      ("LISTEN_ADDRESS", "nowhere"), ("LISTEN_ADDRESS", "127.0.0.1:99999"), ("REACTORS", "0"), ("REACTORS", "many"),
      ("APNS_KEY_ID", "short"), ("APNS_BUNDLE_ID", "no spaces please"), ("APNS_ENVIRONMENT", "staging"),
      ("APNS_URL", "ftp://apple"), ("APNS_CA_FILE", "/nowhere/ca.pem"), ("APNS_PRIVATE_KEY", "hunter2-key"),
      ("SUPPRESSION_WINDOW_SECONDS", "-1"), ("WEBHOOK_WAIT_MILLISECONDS", "soon"), ("LOG_LEVEL", "loud"),
      ("LOG_FORMAT", "xml"), ("PUSH_TRIGGER_ENABLED", "perhaps"), ("TACET_CONFIG", "/nowhere/tacet.conf"),
      ("WEBHOOK_SECRET", "whsec_hunter2%"), ("WEBHOOK_SECRET", ""), ("APNS_KEYID", "ABC123DEFG"),
      ("WEBHOOK_SECRETS", "hunter2"),
    ])
  func unusable(_ key: String, _ value: String) async throws {
    let run = try await CommandRun.tacet(["serve"], Self.settings.merging([key: value]) { $1 })
    #expect(run.exitCode > 0)
    #expect(run.output.contains(key))
    expectNoSecret(run)
  }

  @Test("names every setting that is missing at once")
  func missing() async throws {
    let run = try await CommandRun.tacet(["serve"])
    #expect(run.exitCode > 0)
    for key in ["DATABASE_URL", "WEBHOOK_SECRET", "APNS_KEY_ID", "APNS_TEAM_ID", "APNS_BUNDLE_ID", "APNS_PRIVATE_KEY"] {
      #expect(run.output.contains(key))
    }
  }

  @Test("reads its key from a file, and names the setting when there is none in it")
  func keyFile() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).p8")
    defer { try? FileManager.default.removeItem(at: file) }
    try "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n".write(
      to: file, atomically: true, encoding: .utf8)
    var settings = Self.settings
    settings["APNS_PRIVATE_KEY"] = nil
    settings["APNS_PRIVATE_KEY_FILE"] = file.path
    let run = try await CommandRun.tacet(["serve"], settings)
    #expect(run.exitCode > 0)
    #expect(run.output.contains("APNS_PRIVATE_KEY_FILE"))
    expectNoSecret(run)
  }

  @Test("a key on a curve that APNs does not take is refused")
  func otherCurve() async throws {
    let key = KeyText.elliptic(curve: "P-384")
    let run = try await CommandRun.tacet(["serve"], Self.settings.merging(["APNS_PRIVATE_KEY": key]) { $1 })
    #expect(run.exitCode > 0)
    #expect(run.output.contains("APNS_PRIVATE_KEY"))
    #expect(!run.output.contains(key.split(separator: "\n")[1]))
  }

  @Test("an address it cannot listen at ends it")
  func unusableAddress() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID())/no/folder.sock").path
    let run = try await CommandRun.tacet(["serve"], Self.settings.merging(["LISTEN_ADDRESS": "unix:\(path)"]) { $1 })
    #expect(run.exitCode > 0)
    #expect(!run.output.isEmpty)
    expectNoSecret(run)
  }

  @Test(
    "does not start where the schema is older than its own, needs a newer service or a new installation, and says so")
  func schema() async throws {
    let server = try await TestPostgres.shared
    let conninfo = try await server.makeDatabase()
    let settings = Self.settings.merging(["DATABASE_URL": conninfo]) { $1 }
    let before = try await CommandRun.tacet(["serve"], settings)
    #expect(before.exitCode > 0)
    #expect(before.output.contains("lacks migrations") && before.output.contains("tacet migrate"), "\(before.output)")
    let migrate = ["migrate", "--create-host-tables"]
    #expect(try await CommandRun.tacet(migrate, ["DATABASE_URL": conninfo]).exitCode == 0)
    try await server.psql(
      "insert into tacet.migrations (version, name, oldest_service) values (9000, 'later', 8999)", through: conninfo)
    let after = try await CommandRun.tacet(["serve"], settings)
    #expect(after.exitCode > 0)
    #expect(after.output.contains("migration 9000") && after.output.contains("migration 8999"), "\(after.output)")
    expectNoSecret(after)
    try await server.psql(
      "update tacet.migrations set name = '0030_tacet_features' where version = 1", through: conninfo)
    for command in [["serve"], migrate] {
      let refused = try await CommandRun.tacet(command, settings)
      #expect(refused.exitCode > 0)
      #expect(refused.output.contains("before the first release"), "\(refused.output)")
      #expect(refused.output.contains("Reinstall: "), "\(refused.output)")
      #expect(refused.output.contains("db/uninstall.sql"))
    }
  }

  @Test("does not start where a process listens that is none of its database")
  func sharedPort() async throws {
    let conninfo = try await TestPostgres.shared.makeDatabase()
    let database = ["DATABASE_URL": conninfo]
    #expect(try await CommandRun.tacet(["migrate", "--create-host-tables"], database).exitCode == 0)
    // As a service does, so that the kernel allows a second listener.
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var one: Int32 = 1
    setsockopt(listener, SOL_SOCKET, SO_REUSEPORT, &one, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    try withUnsafeMutablePointer(to: &address) {
      try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        try #require(bind(listener, $0, length) == 0 && listen(listener, 8) == 0)
        try #require(getsockname(listener, $0, &length) == 0)
      }
    }
    let listening = ["LISTEN_ADDRESS": "127.0.0.1:\(UInt16(bigEndian: address.sin_port))"]
    let run = try await CommandRun.tacet(["serve"], Self.settings.merging(database.merging(listening) { $1 }) { $1 })
    #expect(run.exitCode > 0)
    #expect(run.output.contains("another process listens on 127.0.0.1:"), "\(run.output)")
    expectNoSecret(run)
  }

  private func expectNoSecret(_ run: CommandRun) {
    #expect(!run.output.contains("hunter2"))
    let key = Self.settings["APNS_PRIVATE_KEY"]?.split(separator: "\n") ?? []
    #expect(key.count > 2 && !run.output.contains(key[1]))
  }
}

@Suite("Variables of the supervisor")
struct SupervisorTests {
  private static let process: pid_t = 4711

  @Test(
    "sockets are those of this process, by their names",
    arguments: [
      (["LISTEN_PID": "4711", "LISTEN_FDS": "1"], 3, nil),
      (["LISTEN_PID": "4711", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "tacet.socket"], 3, nil),
      (["LISTEN_PID": "4711", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "http:metrics"], 3, 4),
      (["LISTEN_PID": "4711", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "metrics:http"], 4, 3),
      (["LISTEN_PID": "4711", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "metrics"], nil, 3),
      (["LISTEN_PID": "4712", "LISTEN_FDS": "1"], nil, nil), (["LISTEN_FDS": "1"], nil, nil),
      (["LISTEN_PID": "4711"], nil, nil), (["LISTEN_PID": "4711", "LISTEN_FDS": "0"], nil, nil),
      (["LISTEN_PID": "4711", "LISTEN_FDS": "-1"], nil, nil), (["LISTEN_PID": "4711", "LISTEN_FDS": "17"], nil, nil),
      (["LISTEN_PID": "4711", "LISTEN_FDS": "many"], nil, nil), ([:], nil, nil),
    ] as [([String: String], Int32?, Int32?)])
  func sockets(_ variables: [String: String], _ interface: Int32?, _ metrics: Int32?) {
    let supervisor = Supervisor(environment: variables, processID: Self.process)
    #expect(supervisor.interfaceSocket == interface)
    #expect(supervisor.metricsSocket == metrics)
  }

  @Test("messages reach a path and a name in the abstract namespace", arguments: [true, false])
  func messages(_ isAbstract: Bool) throws {
    let inbox = try NotifySocket(isAbstract: isAbstract)
    let supervisor = Supervisor(environment: ["NOTIFY_SOCKET": inbox.name])
    supervisor.tellReady("serving on 127.0.0.1:1")
    #expect(inbox.next() == "READY=1\nSTATUS=serving on 127.0.0.1:1")
    supervisor.tellReloading()
    let reloading = try #require(inbox.next())
    #expect(reloading.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
    supervisor.tellStopping()
    #expect(inbox.next()?.hasPrefix("STOPPING=1\n") == true)
  }

  @Test(
    "an address that cannot be one, and an inbox that is full, are no fault",
    arguments: ["", "relative", String(repeating: "/", count: 200), "/nowhere/notify"])
  func unreachable(_ name: String) {
    Supervisor(environment: ["NOTIFY_SOCKET": name]).tellReady("")
  }

  @Test("a full inbox does not hold up the service")
  func full() throws {
    let inbox = try NotifySocket(isAbstract: true)
    let supervisor = Supervisor(environment: ["NOTIFY_SOCKET": inbox.name])
    for _ in 0..<5_000 { supervisor.tellStopping() }
    #expect(inbox.next()?.hasPrefix("STOPPING=1") == true)
  }
}
