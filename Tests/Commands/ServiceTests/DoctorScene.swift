import Cryptography
import Foundation
import TestPostgres
import TestProcesses
import Testing

/// One run of `tacet doctor`.
struct DoctorRun {
  let exitCode: Int
  /// The lines of the findings.
  let lines: [String]
  let text: String

  /// Runs it with these settings as its whole environment.
  init(_ settings: [String: String], _ arguments: [String] = []) async throws {
    let process = try ServiceProcess(["doctor"] + arguments, settings: settings)
    exitCode = try await process.exitCode(within: .seconds(60))
    text = process.text
    lines = text.split(separator: "\n").map(String.init).filter {
      line in ["ok    ", "warn  ", "FAIL  ", "skip  "].contains { line.hasPrefix($0) }
    }
  }

  /// Lines of this verdict.
  func lines(_ verdict: String) -> [String] { lines.filter { $0.hasPrefix(verdict) } }
}

/// A scene in which nothing is wrong: one app with a device, a key in a file of its own, clients' tokens by a secret.
struct DoctorScene {
  let scene: ServiceScene
  let folder: String
  var settings: [String: String]

  init(route: DatabaseRoute = .direct) async throws {
    scene = try await ServiceScene(route: route)
    folder = try makeTemporaryFolder("test-doctor")
    settings = scene.settings
    settings["APNS_PRIVATE_KEY"] = nil
    settings["APNS_PRIVATE_KEY_FILE"] = try write(try #require(scene.settings["APNS_PRIVATE_KEY"]), to: "app.p8")
    _ = try await Conversation(scene, [.away()])
  }

  /// Writes a file that only this user reads; its path.
  @discardableResult
  func write(_ text: String, to name: String, mode: Int = 0o600) throws -> String {
    let path = folder + "/" + name
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    return path
  }

  /// How a role without a password connects.
  func conninfo(as role: String) -> String {
    "host=\(scene.postgres.folder) port=\(scene.postgres.port) user=\(role) dbname=\(scene.database)"
  }
}

/// One thing that is broken, and the line that must tell of it.
struct DoctorCase: Sendable, CustomTestStringConvertible {
  let what: String
  /// The beginning of the line.
  let line: String
  /// A part of the same line.
  var part = ""
  /// A part of what to do.
  var remedy = ""
  let exitCode: Int
  let breakIt: @Sendable (inout DoctorScene) async throws -> Void

  var testDescription: String { what }

  /// A fault of the database that is made by SQL.
  static func sql(
    _ what: String, _ sql: String, _ line: String, part: String = "", remedy: String = "", exitCode: Int = 1
  ) -> DoctorCase {
    DoctorCase(what: what, line: line, part: part, remedy: remedy, exitCode: exitCode) { try await $0.scene.sql(sql) }
  }

  /// A fault of the settings.
  static func setting(
    _ what: String, _ key: String, _ value: String?, _ line: String, part: String = "", remedy: String = "",
    exitCode: Int = 1
  ) -> DoctorCase {
    DoctorCase(what: what, line: line, part: part, remedy: remedy, exitCode: exitCode) { $0.settings[key] = value }
  }
}
