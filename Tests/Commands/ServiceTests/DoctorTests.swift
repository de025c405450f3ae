import Cryptography
import Foundation
import Simulators
import TestPostgres
import TestProcesses
import Testing

@Suite("tacet doctor", .serialized)
struct DoctorTests {
  @Test("finds a healthy service well, while it runs, and changes nothing", arguments: DatabaseRoute.allCases)
  func healthy(_ route: DatabaseRoute) async throws {
    let doctor = try await DoctorScene(route: route)
    let service = try await doctor.scene.startService(settings: doctor.settings)
    let before = try await doctor.scene.sql(Self.everything)
    let run = try await DoctorRun(doctor.settings)
    print("doctor, healthy, \(route.rawValue):\n" + run.lines.map { "  " + $0 }.joined(separator: "\n"))
    #expect(run.exitCode == 0, "\(run.text)")
    #expect(run.lines("FAIL") == [] && run.lines("warn") == [])
    #expect(run.lines("ok  ").count >= 15)
    #expect(try await doctor.scene.sql(Self.everything) == before)
    try await service.stop()
    await doctor.scene.simulator.stop()
  }

  @Test("tells what is broken and what to do about it", arguments: DoctorCase.database + DoctorCase.surroundings)
  func broken(_ fault: DoctorCase) async throws {
    var doctor = try await DoctorScene()
    try await fault.breakIt(&doctor)
    let run = try await DoctorRun(doctor.settings)
    let line = run.lines.first { $0.hasPrefix(fault.line) && Self.has($0, fault.part) }
    print("doctor, \(fault.what) (exit \(run.exitCode)):\n  \(line ?? run.text)")
    let found = try #require(line, "\(run.text)")
    #expect(found.contains("To do: ") && Self.has(found, fault.remedy))
    #expect(run.exitCode == fault.exitCode, "\(run.text)")
    #expect(!run.text.contains("hunter2") && !run.text.contains("words-of-a-row"))
    await doctor.scene.simulator.stop()
  }

  @Test("as JSON says the same, and nothing else")
  func json() async throws {
    var doctor = try await DoctorScene()
    doctor.settings["APNS_URL"] = "https://127.0.0.1:1"
    let run = try await DoctorRun(doctor.settings, ["--json"])
    #expect(run.exitCode == 1)
    let line = try #require(run.text.split(separator: "\n").first { $0.hasPrefix("{") })
    let document = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    #expect(document["exit_code"] as? Int == 1)
    let checks = try #require(document["checks"] as? [[String: String]])
    let failed = checks.filter { $0["verdict"] == "fail" }
    #expect(failed.map { $0["name"] } == ["apns com.example.app/production"])
    #expect(failed.allSatisfy { $0["found"]?.isEmpty == false && $0["remedy"]?.isEmpty == false })
    await doctor.scene.simulator.stop()
  }

  @Test("watching, it prints its first look like any other, and goes on")
  func watch() async throws {
    let doctor = try await DoctorScene()
    let watching = try ServiceProcess(["doctor", "--watch"], settings: doctor.settings)
    _ = try await watching.line(containing: " well, ")
    try await watching.signal(SIGTERM)
    #expect(try await watching.exitCode() == 128 + 15)
    await doctor.scene.simulator.stop()
  }

  /// Every text has the empty one; Foundation says otherwise.
  private static func has(_ text: String, _ part: String) -> Bool { part.isEmpty || text.contains(part) }

  /// What a check could have changed.
  private static let everything = """
    select (select count(*) from tacet.inbox), (select count(*) from tacet.deliveries), (select count(*) from tacet.push_log),
      (select count(*) from push_tokens where invalidated_at is null), (select count(*) from tacet.trigger_failures)
    """
}

/// One run of `tacet doctor`.
struct DoctorRun {
  let exitCode: Int
  /// The lines of the findings.
  let lines: [String]
  let text: String

  /// Runs it with these settings as its whole environment.
  init(_ settings: [String: String], _ arguments: [String] = []) async throws {
    let process = try ServiceProcess(["doctor"] + arguments, settings: settings)
    exitCode = try await process.exitCode()
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
