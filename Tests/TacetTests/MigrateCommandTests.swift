import Foundation
import PushStore
import TestPostgres
import Testing

@Suite("tacet migrate")
struct MigrateCommandTests {
  @Test("says of every migration that it was applied, and the second time that it was already")
  func twice() async throws {
    let settings = ["DATABASE_URL": try await TestPostgres.shared.makeDatabase()]
    for state in ["applied", "already applied"] {
      let run = try await CommandRun.tacet(["migrate"], settings)
      #expect(run.exitCode == 0)
      #expect(run.lines == Migration.all.map { "\($0.name): \(state)" })
    }
  }

  @Test("needs no other setting than the database's, but refuses those it does not know")
  func unknownSetting() async throws {
    let run = try await CommandRun.tacet(["migrate"], ["DATABASE_URL": "host=/nowhere", "TACET_CONFIGURATION": "x"])
    #expect(run.exitCode != 0)
    #expect(run.output.contains("TACET_CONFIGURATION"))
    #expect(run.output.contains("did you mean TACET_CONFIG"))
  }

  @Test("without a database's address names the setting")
  func missing() async throws {
    let run = try await CommandRun.tacet(["migrate"])
    #expect(run.exitCode != 0)
    #expect(run.output.contains("DATABASE_URL"))
  }

  @Test("that cannot get in says why, and never with which password")
  func refused() async throws {
    let server = try await TestPostgres.shared
    let wrong = try await CommandRun.tacet(
      ["migrate"], ["DATABASE_URL": server.tcpConninfo(password: "hunter2-of-the-tests")])
    #expect(wrong.exitCode != 0)
    #expect(wrong.output.contains("28P01"))
    #expect(!wrong.output.contains("hunter2"))
    let absent = try await CommandRun.tacet(["migrate"], ["DATABASE_URL": server.conninfo(database: "nowhere")])
    #expect(absent.exitCode != 0)
    #expect(absent.output.contains("3D000"))
  }

  @Test(
    "that understands no address shows nothing of it",
    arguments: ["postgresql://tacet:hunter2@[::1/app", "host=x pasword=hunter2", "hunter2"])
  func unusable(_ address: String) async throws {
    let run = try await CommandRun.tacet(["migrate"], ["DATABASE_URL": address])
    #expect(run.exitCode != 0)
    #expect(!run.output.contains("hunter2"))
    #expect(!run.output.isEmpty)
  }

  @Test("that meets a host it cannot serve keeps what it did before, and fails with the server's condition")
  func failing() async throws {
    let server = try await TestPostgres.shared
    let conninfo = try await server.makeDatabase()
    let database = try #require(conninfo.split(separator: "dbname=").last)
    // A trigger for whole statements with their new rows cannot be made on a view.
    try await server.psql("create view messages as select 1 as id", database: String(database))
    let run = try await CommandRun.tacet(["migrate"], ["DATABASE_URL": conninfo])
    #expect(run.exitCode != 0)
    #expect(run.output.contains("SQLSTATE"))
    let names = Migration.all.prefix { run.output.contains("\($0.name): applied") }.map(\.name)
    #expect(names.count < Migration.all.count)
    let noted = try await server.psql(
      """
      select case when to_regclass('tacet.migrations') is null then ''
        else (xpath('//name/text()', query_to_xml('select name from tacet.migrations order by version desc limit 1', true, true, '')))[1]::text
        end
      """, database: String(database)
    ).trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(noted == (names.count >= 2 ? names.last ?? "" : ""))
  }
}
