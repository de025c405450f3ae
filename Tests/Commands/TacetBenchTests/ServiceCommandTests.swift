import Foundation
import TestPostgres
import TestProcesses
import TestRepository
import Testing

@testable import tacet_bench

/// The built program against a real database and the built service.
@Suite("The load on the whole service")
struct ServiceCommandTests {
  @Test("at a steady rate tells of every message once, and what it cost")
  func messages() async throws {
    let (conninfo, folder) = try await makeHost()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let runs = try await measure(conninfo, folder, ["messages-50", "unfolded-50"], ["--round", "2"])
    #expect(runs.map(\.scenario) == ["messages-50", "unfolded-50"])
    #expect(runs.map(\.subject) == ["tacet", "tacet"])
    #expect(runs.map(\.round) == [2, 2])
    #expect(try #require(runs[0].figures["followers"]) > 0)
    #expect(runs[1].figures["followers"] == nil)
    for figures in runs.map(\.figures) {
      #expect(try #require(figures["pushes"]) + (figures["folded"] ?? 0) == 50)
      #expect(figures["lost"] == 0)
      #expect(figures["doubled"] == 0)
      #expect(figures["offered_per_second"] == 50)
      let names = [
        "accepted_p50_ms", "accepted_p90_ms", "accepted_p99_ms", "accepted_max_ms", "commit_p50_ms", "commit_p99_ms",
        "achieved_per_second", "cpu_us_per_message", "database_cpu_us_per_message", "total_cpu_us_per_message",
        "dead_rows_per_message", "rss_mb", "rss_peak_mb", "threads",
      ]
      for name in names { #expect(try #require(figures[name]) > 0, "\(name)") }
    }
  }

  @Test("by other ways loses nothing either, and leaves nothing behind")
  func others() async throws {
    let (conninfo, folder) = try await makeHost()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let names = ["group-10", "burst-200", "kill", "start"]
    let runs = try await measure(conninfo, folder, names, [])
    #expect(runs.map(\.scenario) == names)
    #expect(runs.map { $0.figures["lost"] } == [0, 0, 0, nil])
    #expect(try #require(runs[2].figures["resumed_ms"]) > 0)
    #expect(try #require(runs[3].figures["ready_ms"]) > 0)
    let left = try await TestPostgres.shared.psql(
      """
      select (select count(*) from tacet.deliveries), (select count(*) from tacet.inbox)
      """, through: conninfo)
    #expect(left == "0|0\n")
  }

  @Test("fails without a line when the service does not come up")
  func noService() async throws {
    let (conninfo, folder) = try await makeHost()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    await #expect {
      _ = try await measure(conninfo, folder, ["messages-50"], [], program: "/bin/false")
    } throws: { error in
      "\(error)".contains("the service did not become ready")
    }
  }

  @Test("leaves no service behind when it is killed", arguments: [SIGINT, SIGKILL])
  func killed(signal: Int32) async throws {
    let (conninfo, folder) = try await makeHost()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let service = "\(folder)/service"
    try await writeProgram("echo $$\nexec sleep 60\n", to: service)
    let bench = try ChildProcess(
      [
        builtProgram("tacet-bench"), "service", "--subject", "tacet=\(service),\(conninfo)", "--scenario", "start",
        "--folder", folder,
      ])
    let line = try await poll { try? String(contentsOfFile: "\(folder)/tacet.log", encoding: .utf8) }
    let id = try #require(pid_t(line.trimmingCharacters(in: .whitespacesAndNewlines)))
    kill(bench.id, signal)
    _ = bench.wait()
    // One that nobody has waited for is a zombie.
    let end = try await poll {
      let stat = (try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)) ?? "gone\n"
      return stat == "gone\n" || stat.contains(") Z ") ? "ended\n" : nil
    }
    #expect(end == "ended\n")
  }

  /// The first answer that ends in a line's end; other processes give no signal to wait for.
  private func poll(_ look: @escaping @Sendable () -> String?) async throws -> String {
    try await onOwnThread {
      for _ in 0..<2000 {
        if let text = look(), text.hasSuffix("\n") { return text }
        usleep(10_000)
      }
      throw TestProcessError(description: "nothing came of it in 20 s")
    }
  }

  /// A host application with few people, in a database of its own, and a folder for the run.
  private func makeHost() async throws -> (conninfo: String, folder: String) {
    let conninfo = try await TestPostgres.shared.makeDatabase()
    let host = try Repository.text("deploy/lib/bench/measure.sql")
    _ = try await onOwnThread {
      try run([
        "/usr/bin/env", "-i", "DATABASE_URL=\(conninfo)", builtProgram("tacet"), "migrate", "--create-host-tables",
      ])
    }
    try await TestPostgres.shared.psql(host, through: conninfo)
    try await TestPostgres.shared.psql("call measure.fill_host(40, 20, 100, 2, 10)", through: conninfo)
    return (conninfo, try makeTemporaryFolder("tacet-bench"))
  }

  /// The lines of a run with one second that counts; throws what was said when it failed.
  private func measure(
    _ conninfo: String, _ folder: String, _ scenarios: [String], _ more: [String],
    program: String = builtProgram("tacet")
  ) async throws -> [BenchRun] {
    let output = "\(folder)/runs"
    let command =
      [
        builtProgram("tacet-bench"), "service", "--subject", "tacet=\(program),\(conninfo)", "--folder", folder,
        "--seconds", "1", "--warm-up", "0.5",
      ] + scenarios.flatMap { ["--scenario", $0] } + more
    // The runs go to a file, what is said to the error that `run` throws.
    _ = try await onOwnThread { try run(["/bin/sh", "-c", #"exec "$@" 2>&1 >"$0""#, output] + command) }
    let lines = try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n")
    return try lines.map { try JSONDecoder().decode(BenchRun.self, from: Data($0.utf8)) }
  }
}

@Suite("A subject")
struct SubjectTests {
  @Test("is a name, a program and a connection string that may hold commas and equals signs")
  func taken() throws {
    let subject = try #require(Subject(argument: "tacet=/opt/a b/tacet,host=a,b dbname=x user=y"))
    #expect(subject.name == "tacet")
    #expect(subject.program == "/opt/a b/tacet")
    #expect(subject.conninfo == "host=a,b dbname=x user=y")
  }

  @Test(
    "is nothing less",
    arguments: [
      "", "tacet", "tacet=", "tacet=/opt/tacet", "tacet=/opt/tacet,", "tacet=,dbname=x", "=/opt/tacet,dbname=x",
    ])
  func refused(text: String) {
    #expect(Subject(argument: text) == nil)
  }
}

@Suite("A scenario of the service")
struct ServiceScenarioTests {
  @Test(
    "is called what it was asked for as",
    arguments: [
      ("messages-50", .messages, 50), ("unfolded-300", .unfolded, 300), ("group-1000", .group, 1000),
      ("burst-1000000", .burst, 1_000_000), ("sustained", .sustained, 0), ("kill", .kill, 0), ("start", .start, 0),
    ] as [(String, ServiceScenario.Kind, Int)])
  func names(name: String, kind: ServiceScenario.Kind, number: Int) throws {
    let scenario = try #require(ServiceScenario(argument: name))
    #expect(scenario.kind == kind)
    #expect(scenario.number == number)
    #expect("\(scenario)" == name)
  }

  @Test(
    "is no other",
    arguments: [
      "", "-", "messages", "messages-", "messages-0", "messages-050", "messages-+5", "messages-1000001", "fanout-1",
      "group", "group-", "group--1", "burst-1e4", "start-1", "start-0", "start-", "Start",
    ])
  func refused(text: String) {
    #expect(ServiceScenario(argument: text) == nil)
  }
}
