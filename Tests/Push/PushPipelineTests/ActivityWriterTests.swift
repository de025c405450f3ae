import Postgres
import PushRules
import PushStore
import Reactors
import TestIDs
import Testing

@testable import PushPipeline

@Suite("The activity writer")
struct ActivityWriterTests {
  private static let known = "select count(*) from tacet.activity"

  @Test("signs of a second are one statement, and a user who was noted costs none")
  func gathering() async throws {
    try await PipelineRig.run { rig, reactor in
      let writer = ActivityWriter(store: rig.store, logger: .quiet)
      let users = (0..<20).map { _ in HostID.new() }
      for user in users + users { writer.note(user, on: reactor) }
      #expect(writer.writes == 0)
      try await rig.await(Self.known, 20, on: reactor)
      for user in users { writer.note(user, on: reactor) }
      try await writer.write(users[0], on: reactor)
      let late = HostID.new()
      try await writer.write(late, on: reactor)
      #expect(writer.writes == 2)
      #expect(try await rig.value(Self.known, as: Int64.self, on: reactor) == 21)
    }
  }

  @Test("a user whose sign could not be written is written with the next one")
  func failure() async throws {
    try await PipelineRig.run { rig, reactor in
      let writer = ActivityWriter(store: rig.store, logger: .quiet)
      let user = HostID.new()
      try await rig.execute("alter table tacet.activity rename to lost", on: reactor)
      await #expect(throws: PostgresError.self) { try await writer.write(user, on: reactor) }
      writer.note(user, on: reactor)
      while writer.writes < 2 { await reactor.sleep(for: .milliseconds(1)) }
      try await rig.execute("alter table tacet.lost rename to activity", on: reactor)
      repeat { writer.note(user, on: reactor) } while try await rig.value(Self.known, as: Int64.self, on: reactor) == 0
    }
  }

  @Test("a million signs of one user are one statement, and users beyond the bound are left to the database")
  func bounds() async throws {
    try await PipelineRig.run { rig, reactor in
      let writer = ActivityWriter(store: rig.store, logger: .quiet)
      let user = HostID.new()
      for _ in 0..<1_000_000 { try await writer.write(user, on: reactor) }
      #expect(writer.writes == 1)
      for _ in 0..<ActivityWriter.usersMax { writer.note(HostID.new(), on: reactor) }
      try await writer.write(user, on: reactor)
      try await rig.await(Self.known, Int64(ActivityWriter.usersMax) + 1, on: reactor)
      #expect(try await rig.value("select count(*) from tacet.user_sessions", as: Int64.self, on: reactor) == 50_001)
    }
  }
}

extension PipelineRig {
  /// Returns once a query gives a number.
  fileprivate func await(_ query: String, _ number: Int64, on reactor: isolated Reactor) async throws {
    while try await value(query, as: Int64.self, on: reactor) < number { await reactor.sleep(for: .milliseconds(5)) }
  }
}
