import Foundation
import TestIDs
import TestPostgres
import Testing

@Suite("tacet bench in a database with a fault", .uuidsOnly)
struct BenchFaultTests {
  @Test(
    "names a slow function and its worst call, and fails a limit that the read exceeds",
    arguments: [
      ("message_context", "m"), ("seen_by", "c"), ("push_targets", "u"),
      ("recipient_preferences", "u, 'message', c, now()"), ("unread_count", "u"), ("is_mentioned", "m, u"),
    ])
  func slow(_ function: String, _ arguments: String) async throws {
    let host = try await BenchHost(messages: 1)
    try await host.wantMentionsOnly()
    try await host.precede(function, by: "perform pg_sleep(0.02)")
    let run = try await host.bench(["--limit-p99", "15.5"])
    #expect(run.exitCode == 1, "\(run.output)")
    #expect(run.output.contains("at p99, longer than 15 ms."), "\(run.output)")
    let finding = try #require(run.lines.first { $0.hasPrefix("- tacet.\(function) is slow: ") }, "\(run.output)")
    let message = try await host.sql("select id from messages")
    let ids = ["m": message, "c": BenchHost.conversation, "u": BenchHost.reader]
    let call = arguments.replacing(/\b[mcu]\b/) { "'\(ids[String($0.output), default: ""])'" }
    #expect(finding.hasSuffix("explain (analyze, buffers) select * from tacet.\(function)(\(call))"), "\(finding)")
    #expect(try await host.bench(["--limit-p99", "10000"]).exitCode == 0)
  }

  @Test("ends what does not end in time, and names it")
  func timeout() async throws {
    let host = try await BenchHost(messages: 1)
    try await host.precede("seen_by", by: "perform pg_sleep(60)")
    let run = try await host.bench(["--seconds", "1"])
    #expect(run.exitCode == 1)
    #expect(run.output.contains("- tacet.seen_by does not end in time"), "\(run.output)")
    #expect(run.output.contains("No message was read"))
  }

  @Test("a missing index is named beside the function that needs it")
  func index() async throws {
    let host = try await BenchHost()
    try await host.sql("drop index push_tokens_user_idx")
    try await host.precede("push_targets", by: "perform pg_sleep(0.01)")
    let run = try await host.bench()
    let finding = run.lines.first { $0.hasPrefix("- tacet.push_targets is slow") } ?? ""
    #expect(finding.contains("The index push_tokens_user_idx is missing"), "\(run.output)")
  }

  @Test("a function that writes is refused and named")
  func writing() async throws {
    let host = try await BenchHost()
    try await host.sql("create table looks (at timestamptz)")
    try await host.precede("seen_by", by: "insert into public.looks values (now())")
    let run = try await host.bench()
    #expect(run.exitCode == 1)
    #expect(run.output.contains("tacet.seen_by writes, which is refused here"), "\(run.output)")
    #expect(try await host.sql("select count(*) from looks") == "0")
  }

  @Test("what a function notifies is not sent")
  func notifying() async throws {
    let host = try await BenchHost()
    try await host.precede("seen_by", by: "perform pg_notify('looks', 'one')")
    let listener = try PsqlSession(host.settings["DATABASE_URL", default: ""])
    _ = try listener.run("listen looks;")
    let run = try await host.bench()
    #expect(run.exitCode == 0, "\(run.output)")
    // What is committed is heard.
    try await host.sql("select pg_notify('looks', 'two')")
    let heard = try listener.run("select 'nothing else';")
    #expect(heard.contains("\"two\"") && !heard.contains("\"one\""), "\(heard)")
  }

  @Test("without messages, without a migration, without rights or a server it says so, and fails")
  func nothingToMeasure() async throws {
    let empty = try await BenchHost(messages: 0)
    let none = try await empty.bench()
    #expect(none.exitCode == 1)
    #expect(
      none.output
        == "tacet bench: there is no message: the ledger is empty, and role postgres sees no row of public.messages\n")
    let role = "stranger_\(empty.database)"
    try await empty.sql("create role \(role) login")
    let refused = try await empty.bench(settings: ["DATABASE_URL": empty.conninfo(as: role)])
    #expect(refused.exitCode == 1)
    #expect(refused.output.contains("role \(role) may not call the host contract"), "\(refused.output)")
    let bare = try await empty.bench(settings: ["DATABASE_URL": try await empty.server.makeDatabase()])
    #expect(bare.exitCode == 1)
    #expect(bare.output.contains("run tacet migrate first"), "\(bare.output)")
    let gone = "host=127.0.0.1 port=1 user=nobody password=open-sesame"
    let unreachable = try await empty.bench(["--against", gone], settings: [:])
    #expect(unreachable.exitCode == 1)
    #expect(unreachable.output.hasPrefix("tacet bench: ") && !unreachable.output.contains("open-sesame"))
  }

  @Test(
    "an option outside of its bounds is refused by its name",
    arguments: [
      ["--messages", "0"], ["--messages", "10001"], ["--seconds", "0"], ["--concurrency", "65"], ["--rate", "0"],
      ["--limit-p99", "0"], ["--limit-p99", "nan"], ["--limit-p99", "60001"],
    ])
  func bounds(_ option: [String]) async throws {
    let run = try await CommandRun.tacet(["bench"] + option, ["DATABASE_URL": "host=/nowhere"])
    #expect(run.exitCode == 64, "\(run.output)")
    #expect(run.output.contains(option[0]))
  }
}
