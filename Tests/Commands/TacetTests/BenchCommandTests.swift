import Foundation
import TestHosts
import TestIDs
import TestPostgres
import Testing

@Suite("tacet bench", .uuidsOnly)
struct BenchCommandTests {
  @Test(
    "measures what an application's tables cost, and writes nothing",
    arguments: [HostSample.zulip, .supabaseChat, .discourse, .laravelChat, .marketplace])
  func applications(_ sample: HostSample) async throws {
    let host = try await BenchHost(sample)
    let before = try await host.rows()
    let run = try await host.bench(["--json"])
    #expect(run.exitCode == 0, "\(run.output)")
    let answer = try BenchAnswer(run)
    let table = sample.summary[0].split(separator: " ")[1]
    #expect(answer.messages_from.contains(table), "\(answer.messages_from)")
    #expect(answer.measured == answer.messages && answer.messages - answer.gone == 5)
    #expect(answer.read?.count == 5 && answer.recipients?.most == 1 && answer.targets?.most == 1)
    for name in ["message_context", "seen_by", "push_targets", "recipient_preferences", "unread_count"] {
      #expect(try #require(answer.times(of: name), "\(name)").count >= 5)
    }
    #expect(answer.times(of: "is_mentioned") == nil)
    #expect(answer.round_trip.count > 1 && answer.reads_per_second > 0)
    #expect(try await host.rows() == before)
  }

  @Test("prints a page for the default tables, and asks for mentions where they are wanted")
  func page() async throws {
    let host = try await BenchHost()
    try await host.wantMentionsOnly()
    let run = try await host.bench(["--against", host.settings["DATABASE_URL", default: ""]], settings: [:])
    #expect(run.exitCode == 0, "\(run.output)")
    let lines = run.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    for (name, count) in [("tacet.message_context", "5"), ("tacet.unread_count", "5"), ("tacet.is_mentioned", "5")] {
      #expect(lines.contains { $0.starts(with: [name, count]) }, "\(run.output)")
    }
    #expect(run.output.contains("as role postgres (the migrator's"))
    #expect(run.lines.contains("The 5 newest messages of public.messages; 0 of them gone or for nobody."))
    #expect(run.output.contains("Estimate: 100 messages a second take "))
  }

  @Test("takes as many messages as it is told, and those of the ledger before others")
  func ledger() async throws {
    let host = try await BenchHost()
    try await host.sql(
      """
      insert into tacet.push_log (subject_id, user_id, push_type, decision)
      select m.id, '\(BenchHost.reader)', 'message', 'sent' from messages m order by m.created_at limit 2
      """)
    let two = try BenchAnswer(try await host.bench(["--json", "--messages", "2"]))
    #expect(two.messages == 2 && two.messages_from == "newest messages of the ledger")
    #expect(two.recipients?.most == 1)
    let three = try BenchAnswer(try await host.bench(["--json", "--messages", "3"]))
    #expect(three.messages == 3 && three.messages_from.contains("public.messages"))
  }

  @Test("measures through a pooler that lends sessions for a transaction")
  func pooler() async throws {
    let host = try await BenchHost()
    let pooler = try await TestPgBouncer.launch(before: host.server)
    let settings = [
      "DATABASE_URL": pooler.conninfo(database: host.database), "DATABASE_POOL_MODE": "transaction",
    ]
    let before = try await host.rows()
    let run = try await host.bench(["--json"], settings: settings)
    #expect(run.exitCode == 0, "\(run.output)")
    #expect(try BenchAnswer(run).read?.count == 5)
    #expect(try await host.rows() == before)
  }

  @Test("runs on a standby, where nothing can be written")
  func standby() async throws {
    let primary = try await TestPostgres.launch()
    let host = try await BenchHost(server: primary)
    let standby = try await primary.launchStandby()
    try await primary.awaitReplay(by: standby)
    let run = try await host.bench(settings: ["DATABASE_URL": standby.conninfo(database: host.database)])
    #expect(run.exitCode == 0, "\(run.output)")
    #expect(run.output.contains(", a standby,"))
    #expect(run.output.contains("The 5 newest messages"))
  }

  @Test("tells the service's role, and one that only reads, from the migrator's")
  func roles() async throws {
    let host = try await BenchHost()
    let (service, reader) = ("service_\(host.database)", "reader_\(host.database)")
    try await host.sql(
      """
      create role \(service) login;
      select tacet.grant_service('\(service)');
      grant usage on schema public to \(service);
      grant select on public.messages, public.conversation_participants, public.profiles, public.push_tokens to \(service);
      create role \(reader) login bypassrls;
      grant pg_read_all_data to \(reader);
      grant execute on all functions in schema tacet to \(reader)
      """)
    for (role, words) in [
      (service, "(the service's)"), (reader, "(neither the service's nor the migrator's, without row-level security)"),
    ] {
      let run = try await host.bench(settings: ["DATABASE_URL": host.conninfo(as: role)])
      #expect(run.exitCode == 0, "\(run.output)")
      #expect(run.output.contains("as role \(role) \(words)"), "\(run.output)")
      #expect(run.lines.contains { $0.hasPrefix("read of a message ") && $0.contains(" 5 ") }, "\(run.output)")
    }
  }
}
