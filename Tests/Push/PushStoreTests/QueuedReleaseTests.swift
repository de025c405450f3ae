import Postgres
import Reactors
import Testing

@testable import PushStore

/// Releases that a host's transaction could not make, because a hold had changed since its snapshot.
@Suite("Queued releases")
struct QueuedReleaseTests {
  @Test(
    "the release is queued with the host's commit, is no trigger failure, and is made later", arguments: News.allCases)
  func queued(_ news: News) async throws {
    let scene = try await HeldScene.held()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      try await host.run("begin isolation level repeatable read; select count(*) from public.messages", on: reactor)
      try await service.run("update tacet.deliveries set held_us = 1", on: reactor)
      try await host.run(scene.sql(news), on: reactor)
      #expect(try await service.releaseQueued(on: reactor) == 0)
      try await host.run("commit", on: reactor)
      #expect(try await service.value("select count(*) from tacet.trigger_failures", on: reactor) == "0")
      #expect(try await service.claim(on: reactor) == [])
      #expect(try await service.releaseQueued(on: reactor) == 1)
      #expect(news.isKnown(to: try await service.claim(on: reactor)))
      #expect(try await service.releaseQueued(on: reactor) == 0)
    }
  }

  @Test("a host that rolls back has released nothing")
  func rolledBack() async throws {
    let scene = try await HeldScene.held()
    try await withTwoSessions(scene.chat.database) { host, service, reactor in
      try await host.run("begin isolation level repeatable read; select count(*) from public.messages", on: reactor)
      try await service.run("update tacet.deliveries set held_us = 1", on: reactor)
      try await host.run("\(scene.sql(.seen)); rollback", on: reactor)
      #expect(try await service.releaseQueued(on: reactor) == 0)
      #expect(try await service.claim(on: reactor) == [])
    }
  }

  @Test("the service is told, though it is awake and is told of nothing else")
  func notified() async throws {
    let scene = try await HeldScene.held()
    try await withListener(scene.chat.database.configuration) { listener, wakes, _, reactor in
      let (host, service) = (
        try await Session.open(scene.chat.database, on: reactor),
        try await Session.open(scene.chat.database, on: reactor)
      )
      defer { for session in [host, service] { session.connection.close(on: reactor) } }
      try await wakes.next(on: reactor)
      listener.setAwake(true, on: reactor)
      try await host.run("begin isolation level repeatable read; select count(*) from public.messages", on: reactor)
      try await service.run("update tacet.deliveries set held_us = 1", on: reactor)
      try await host.run("\(scene.sql(.seen)); commit", on: reactor)
      while wakes.releases == 0 { try await wakes.next(on: reactor) }
    }
  }
}

extension Session {
  fileprivate func releaseQueued(on reactor: isolated Reactor) async throws -> Int64 {
    try await connection.query(.releaseQueued(releasesMax: 100), on: reactor).one().decode(0)
  }
}
