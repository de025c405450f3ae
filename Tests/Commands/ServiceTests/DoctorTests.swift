import Foundation
import Simulators
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
    _ = try await watching.line(containing: " well, ", within: .seconds(60))
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
