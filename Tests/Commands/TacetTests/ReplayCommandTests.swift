import Foundation
import TestIDs
import TestPostgres
import Testing

/// `tacet replay` as a process.
@Suite("tacet replay")
struct ReplayCommandTests {
  private static func row(decision: String, reason: String? = nil, known: String) -> String {
    let reason = reason.map { "'reason', '\($0)'," } ?? ""
    return """
      insert into tacet.push_log (subject_id, user_id, push_type, decision, history)
      select gen_random_uuid(), gen_random_uuid(), 'message', '\(decision)', jsonb_build_array(jsonb_build_object(
        'claim', 1, 'at', (extract(epoch from now()) * 1000000)::bigint + 2000, 'by', 'i', 'woken_by', 'notify', \(reason)
        'decision', '\(decision)', 'known', jsonb_build_object(\(known), 'message_us', 2000, 'devices', 1,
        'window_us', 60000000, 'ttl_us', 3600000000)));
      """
  }

  private static func database(_ sql: String) async throws -> String {
    let server = try await TestPostgres.shared
    let conninfo = try await server.makeMigratedDatabase()
    _ = try await server.psql(sql, database: String(conninfo.split(separator: "dbname=").last ?? ""))
    return conninfo
  }

  private static func replay(_ conninfo: String, _ arguments: [String] = []) async throws -> CommandRun {
    try await .tacet(["replay"] + arguments, ["DATABASE_URL": conninfo])
  }

  private static func rules(_ json: String) throws -> String {
    let file = FileManager.default.temporaryDirectory.appending(path: "rules-\(UUID().uuidString).json")
    try Data(json.utf8).write(to: file)
    return file.path
  }

  @Test("checks the ledger without rules, and tells what rules change")
  func both() async throws {
    let conninfo = try await Self.database(
      Self.row(decision: "sent", known: "'seen_us', 70000000")
        + Self.row(decision: "skipped", reason: "muted", known: "'muted', true"))
    let check = try await Self.replay(conninfo)
    #expect(check.exitCode == 0, "\(check.output)")
    #expect(
      check.output.hasPrefix("2 pushes with 2 decisions, committed from ") && check.lines.contains("differences: 0"))
    let path = try Self.rules(#"{"window_seconds": 300}"#)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let changed = try await Self.replay(conninfo, ["--rules", path, "--kind", "message", "--examples", "1"])
    #expect(changed.exitCode == 0, "\(changed.output)")
    #expect(changed.output.contains("sent: 1 as recorded, 0 by these rules\ndifferences: 1\n"))
    #expect(changed.output.contains("later or never") && changed.output.contains("  tacet explain --message "))
    let json = try await Self.replay(conninfo, ["--rules", path, "--json"])
    let document = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
    #expect(document?["differences"] as? Int == 1 && document?["pushes"] as? Int == 2)
    let past = try await Self.replay(conninfo, ["--from", "2020-01-01", "--to", "2020-01-02T00:00:00Z"])
    #expect(past.exitCode == 0 && past.output.hasPrefix("0 pushes with 0 decisions, committed from 2020-01-01T00:00"))
  }

  @Test("a ledger that contradicts its rules exits 1")
  func contradiction() async throws {
    let conninfo = try await Self.database(Self.row(decision: "sent", known: "'muted', true"))
    let check = try await Self.replay(conninfo)
    #expect(
      check.exitCode == 1 && check.output.contains("1 records contradict the rules of their time:"), "\(check.output)")
  }

  @Test(
    "what cannot be asked exits 2 and is named",
    arguments: [
      (["--from", "yesterday"], "--from must be a time like 2026-11-25T08:00:00Z, or a date"),
      (["--from", "2026-11-25", "--to", "2026-11-24"], "--from must be not later than --to"),
      (["--kind", "No"], "--kind must be a kind"),
      (["--examples", "101"], "--examples must be a number from 0 to 100"),
      (
        ["--rules", "/nowhere.json"], "--rules must be a file; /nowhere.json cannot be read: No such file or directory"
      ),
      (["--rules", "/dev/null"], "--rules must be a file of rules; in /dev/null, the rules cannot be read as JSON"),
    ])
  func refused(_ arguments: [String], _ text: String) async throws {
    let run = try await CommandRun.tacet(["replay"] + arguments, ["DATABASE_URL": "host=/nowhere"])
    #expect(run.exitCode == 2 && run.output == "tacet replay: \(text)\n", "\(run.output)")
  }
}
