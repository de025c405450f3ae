import Cryptography
import Foundation
import Synchronization
import TestPostgres
import TestProcesses
import Testing

extension DoctorCase {
  /// What can be wrong with the settings, the way to the database and APNs.
  static let surroundings: [DoctorCase] = [
    .setting(
      "a setting is missing", "WEBHOOK_SECRET", nil, "FAIL  settings: WEBHOOK_SECRET is required and not set",
      exitCode: 2),
    .setting(
      "a setting is mistyped", "APNS_TEAMID", "TEAM000001", "FAIL  settings: APNS_TEAMID",
      part: "did you mean APNS_TEAM_ID", exitCode: 2),
    DoctorCase(
      what: "the key is none", line: "FAIL  settings: APNS_PRIVATE_KEY_FILE", part: "not a P-256 private key",
      exitCode: 2
    ) {
      let text = "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n"
      $0.settings["APNS_PRIVATE_KEY_FILE"] = try $0.write(text, to: "none.p8")
    },
    DoctorCase(
      what: "everybody may read the key", line: "warn  file ", part: "can be read by every user", remedy: "chmod o-rw",
      exitCode: 0
    ) {
      let key = try #require($0.scene.settings["APNS_PRIVATE_KEY"])
      $0.settings["APNS_PRIVATE_KEY_FILE"] = try $0.write(key, to: "open.p8", mode: 0o644)
    },
    .setting(
      "the database is away", "DATABASE_URL", "postgresql://tacet:hunter2@127.0.0.1:1/app", "FAIL  database:",
      part: "Connection refused", remedy: "see whether the server runs"),
    DoctorCase(
      what: "the password is wrong", line: "FAIL  database:", part: "28P01", remedy: "password in DATABASE_URL",
      exitCode: 1
    ) {
      $0.settings["DATABASE_URL"] = $0.scene.postgres.tcpConninfo(database: $0.scene.database, password: "hunter2")
    },
    DoctorCase(
      what: "a pooler lends sessions by transactions, and refuses their settings",
      line: "FAIL  listen: PgBouncer refuses",
      remedy: "DATABASE_POOL_MODE=transaction", exitCode: 1
    ) { $0.settings["DATABASE_URL"] = try await pooler(before: $0, settings: []) },
    DoctorCase(
      what: "a pooler swallows what is listened for", line: "FAIL  listen: notifications do not arrive: a pooler",
      remedy: "DATABASE_POOL_MODE=transaction", exitCode: 1
    ) {
      $0.settings["DATABASE_URL"] = try await pooler(before: $0, settings: ["ignore_startup_parameters = options"])
    },
    .setting(
      "the pool mode is for a pooler that is not there", "DATABASE_POOL_MODE", "transaction",
      "warn  pooler: none was found",
      exitCode: 0),
    DoctorCase(
      what: "APNs does not know the key", line: "FAIL  apns com.example.app/production:", part: "InvalidProviderToken",
      remedy: "APNS_KEY_ID", exitCode: 1
    ) {
      $0.settings["APNS_PRIVATE_KEY_FILE"] = try $0.write(P256PrivateKey().pem, to: "new.p8")
    },
    .setting(
      "the app is not the team's", "APNS_BUNDLE_ID", "com.example.stranger",
      "FAIL  apns com.example.stranger/production:", part: "refuses the topic", remedy: "APNS_BUNDLE_ID"),
    .setting(
      "APNs' certificate is not trusted", "APNS_CA_FILE", nil, "FAIL  apns com.example.app/production:",
      part: "is not trusted", remedy: "APNS_CA_FILE"),
    .setting(
      "nobody takes connections where APNs should be", "APNS_URL", "https://127.0.0.1:1",
      "FAIL  apns com.example.app/production: nobody takes connections"),
    DoctorCase(
      what: "APNs does not answer", line: "FAIL  apns com.example.app/production:", part: "does not answer in time",
      remedy: "firewall", exitCode: 1
    ) { $0.settings["APNS_URL"] = "https://127.0.0.1:\(try silentPort.get())" },
    DoctorCase(
      what: "the language model cannot be reached", line: "FAIL  language model:", remedy: "LANGUAGE_MODEL_URL",
      exitCode: 1
    ) {
      $0.settings["PUSH_TRIGGER_ENABLED"] = "true"
      $0.settings["LANGUAGE_MODEL_KEY"] = "hunter2"
      $0.settings["LANGUAGE_MODEL_URL"] = "http://127.0.0.1:1"
    },
    .setting(
      "campaigns are on without a language model", "PUSH_TRIGGER_ENABLED", "true",
      "warn  language model: LANGUAGE_MODEL_KEY is not set"),
    .setting(
      "the key set cannot be had", "JWKS_URL", "http://me:hunter2@127.0.0.1:1/keys",
      "FAIL  jwks: the key set cannot be fetched: the host cannot be reached", remedy: "JWKS_URL"),
  ]

  /// A pooler in transaction mode; it stays until the tests end.
  private static func pooler(before doctor: DoctorScene, settings: [String]) async throws -> String {
    let pooler = try await TestPgBouncer.launch(before: doctor.scene.postgres, settings: settings)
    poolers.withLock { $0.append(pooler) }
    return pooler.conninfo(database: doctor.scene.database)
  }

  private static let poolers = Mutex<[TestPgBouncer]>([])

  /// A port whose connections are made by the kernel and answered by nobody.
  private static let silentPort = Result {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) | listen(descriptor, 16) | getsockname(descriptor, $0, &length)
      }
    }
    guard code == 0 else { throw TestProcessError(description: "no silent port: errno \(errno)") }
    return UInt16(bigEndian: address.sin_port)
  }
}
