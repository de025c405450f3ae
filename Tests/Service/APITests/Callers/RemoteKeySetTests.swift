import FoundationEssentials
import Reactors
import TestLogs
import Testing

@testable import API

@Suite("A key set elsewhere", .timeLimit(.minutes(1)))
struct RemoteKeySetTests {
  private let key = IssuerKey("es-1")

  @Test("many requests on several reactors wait for one fetch", arguments: [1, 3])
  func singleFlight(reactorCount: Int) async throws {
    try await TokenRig.run(reactorCount: reactorCount, publishing: keySet(key.published())) { rig async throws in
      rig.keys.hold()
      let token = try key.token()
      try await withThrowingTaskGroup(of: Int.self) { group in
        for reactor in rig.reactors {
          for _ in 0..<20 {
            group.addTask { [verifier = rig.verifier] in
              try await reactor.perform { reactor in
                let user = try await verifier.userID(of: token, on: reactor)
                reactor.assertIsolated("a request goes on where it was")
                return user == TokenForge.user ? 1 : 0
              }
            }
          }
        }
        while rig.keys.count == 0 { await Task.yield() }
        rig.keys.release()
        let answered = try await group.reduce(0, +)
        #expect(answered == reactorCount * 20)
      }
      #expect(rig.keys.count == 1)
    }
  }

  @Test("a token that was verified costs no job of another thread, and no signature, until its end")
  func remembered() async throws {
    try await TokenRig.run(publishing: keySet(key.published())) { rig async throws in
      let token = try key.token(TokenForge.claims(exp: "1800000100"))
      let jobs = try await rig.reactors[0].perform { [verifier = rig.verifier] reactor in
        _ = try await verifier.userID(of: token, on: reactor)
        let before = reactor.executor.jobsFromOtherThreads
        for _ in 0..<1000 { _ = try await verifier.userID(of: token, on: reactor) }
        return reactor.executor.jobsFromOtherThreads - before
      }
      #expect(jobs == 0)
      rig.clock.advance(by: 159)
      #expect(try await rig.ask(token).status == 200)
      rig.clock.advance(by: 1)
      #expect(try await rig.ask(token).status == 401)
    }
  }

  @Test("unknown keys make the set be fetched once a minute at the most, whoever makes them up")
  func unknownKeys() async throws {
    try await TokenRig.run(publishing: keySet(key.published())) { rig async throws in
      #expect(try await rig.ask(try key.token()).status == 200)
      for second in 0..<120 {
        #expect(try await rig.ask(try IssuerKey("made-up-\(second)").token()).status == 401)
        rig.clock.advance(by: 1)
      }
      #expect(rig.keys.count == 2)
    }
  }

  @Test("a set is fetched again ten minutes later, behind any use, and a key that is gone ends what was remembered")
  func refresh() async throws {
    try await TokenRig.run(publishing: keySet(key.published())) { rig async throws in
      let token = try key.token()
      #expect(try await rig.ask(token).status == 200)
      rig.keys.publish(keySet(IssuerKey("es-2").published()))
      rig.clock.advance(by: 599)
      #expect(try await rig.ask(token).status == 200)
      #expect(rig.keys.count == 1)
      rig.clock.advance(by: 1)
      #expect(try await rig.ask(token).status == 200)
      while rig.keySet.use() == 1 { await Task.yield() }
      #expect(try await rig.ask(token).status == 401)
      #expect(rig.keys.count == 2)
    }
  }

  @Test(
    "what is no key set, or has no usable key, keeps the last one, and the log says so",
    arguments: ["", "<html>", "{}", #"{"keys":[]}"#, #"{"keys":[{"kty":"oct","kid":"s","k":"AAAA"}]}"#])
  func unusable(document: String) async throws {
    try await TokenRig.run(publishing: keySet(key.published())) { rig async throws in
      #expect(try await rig.ask(try key.token()).status == 200)
      rig.keys.publish(document)
      rig.clock.advance(by: 60)
      #expect(try await rig.ask(try IssuerKey("unknown").token()).status == 401)
      #expect(rig.keys.count == 2)
      #expect(try await rig.ask(try key.token()).status == 200)
      #expect(
        rig.lines.texts == [
          "notice: key set taken", "warning: the key set cannot be fetched, the last one serves until it can",
        ])
    }
  }

  @Test("a set that is there ahead lets nobody wait")
  func warmUp() async throws {
    try await TokenRig.run(publishing: keySet(key.published())) { rig async throws in
      #expect(rig.keySet.readinessDetail == "no key set has been had yet")
      rig.keySet.warmUp()
      rig.keySet.warmUp()
      while rig.keySet.use() == 0 { await Task.yield() }
      rig.keys.hold()
      #expect(try await rig.ask(try key.token()).status == 200)
      #expect(rig.keys.count == 1)
    }
  }
}
