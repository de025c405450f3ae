import Foundation
import TestHosts
import TestIDs
import TestPostgres
import TestProcesses
import TestRepository
import Testing

@Suite("tacet init")
struct InitCommandTests {
  private let folder: String

  init() throws { folder = try makeTemporaryFolder("test-init") }

  private func database(_ tables: String) async throws -> [String: String] {
    let server = try await TestPostgres.shared
    let conninfo = try await server.makeDatabase()
    try await server.psql(tables, database: String(try #require(conninfo.split(separator: "=").last)))
    return ["DATABASE_URL": conninfo]
  }

  @Test("writes a file that is readable, names what to run, and overwrites nothing")
  func writes() async throws {
    let settings = try await database(HostSample.supabaseChat.tables)
    let file = folder + "/wiring.sql"
    let first = try await CommandRun.tacet(["init", "--output", file], settings)
    #expect(first.exitCode == 0, "\(first.output)")
    for line in HostSample.supabaseChat.summary { #expect(first.lines.contains(line)) }
    #expect(first.output.contains("psql -X -v ON_ERROR_STOP=1 -f \(file)"))
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(text.contains("create or replace function tacet.message_context(message_id uuid)"))
    let second = try await CommandRun.tacet(["init", "--output", file], settings)
    #expect(second.exitCode == 1)
    #expect(second.output.contains("--output names another file"))
    let printed = try await CommandRun.tacet(["init", "--output", "-"], settings)
    #expect(printed.output == text)
  }

  @Test("without a terminal an open question is an error that names the option and the choices")
  func unanswered() async throws {
    let settings = try await database(HostSample.slackClone.tables)
    let run = try await CommandRun.tacet(["init", "--output", "-"], settings)
    #expect(run.exitCode == 1)
    #expect(run.output.contains("Which table says who takes part"))
    #expect(run.output.contains("With everyone, every user of public.users gets every message (now about 0 users)."))
    #expect(run.output.contains("--participants: everyone"))
    let wrong = try await CommandRun.tacet(["init", "--output", "-", "--participants", "nothing"], settings)
    #expect(wrong.exitCode == 1)
    #expect(wrong.output.contains("--participants nothing: there is no such table."))
  }

  @Test("writes nothing for the tables of the default contract")
  func defaultTables() async throws {
    let settings = try await database(String(contentsOf: Repository.hostTables, encoding: .utf8))
    let run = try await CommandRun.tacet(["init", "--output", folder + "/none.sql"], settings)
    #expect(run.exitCode == 0, "\(run.output)")
    #expect(run.output.contains("Nothing is to be written"))
    #expect(!FileManager.default.fileExists(atPath: folder + "/none.sql"))
  }

  @Test("a catalog that is too large is read in part, and it says so")
  func large() async throws {
    let settings = try await database(
      HostSample.supabaseChat.tables + """
        ;
        do $$
        begin
          for n in 1..51 loop
            execute format('create table wide_%s (%s)', n, (
              select string_agg(format('c%s int', c), ', ') from generate_series(1, 100) c));
          end loop;
        end
        $$
        """)
    let run = try await CommandRun.tacet(["init", "--output", "-"], settings)
    #expect(run.exitCode == 0, "\(run.output)")
    #expect(run.output.contains("tacet init: 2 tables were not looked at"))
  }

  @Test("says that a database cannot be reached, without its password")
  func unreachable() async throws {
    let settings = ["DATABASE_URL": "host=127.0.0.1 port=1 user=nobody password=open-sesame"]
    let run = try await CommandRun.tacet(["init", "--output", "-"], settings)
    #expect(run.exitCode == 1)
    #expect(run.output.hasPrefix("tacet init: "))
    #expect(!run.output.contains("open-sesame"))
  }
}
