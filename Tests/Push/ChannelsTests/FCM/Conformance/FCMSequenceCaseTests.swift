import FCMSimulation
import HTTPTypes
import PushRules
import Reactors
import Synchronization
import TestFCMCases
import Testing

@testable import Channels

@Suite("The cases of several requests", .timeLimit(.minutes(5)))
struct FCMSequenceCaseTests {
  @Test("there are 7 cases; S06 is about HTTP/2, which the simulator does not speak: see HTTPTransfersTests")
  func count() {
    #expect(FCMCase.sequences.map(\.identifier) == ["S01", "S02", "S03", "S04", "S05", "S06", "S07"])
  }

  @Test("S01 an access token is renewed before its end, while pushes go on with the old one")
  func renewal() async throws {
    try await FCMRig.run { rig in
      let clock = MovedClock()
      let tokens = AccessTokenSource(rig.account, clock: clock.clock)
      #expect(try await rig.send(FCMRig.message(), with: tokens).disposition == .accepted)
      clock.advance(seconds: 3300)
      try await rig.order(.post, "/clock", #"{"advance_ms": 3300000}"#)
      // The push that starts the renewal keeps its client until that has ended.
      let attempt = try await rig.withClient(tokens) { client, reactor in
        let attempt = await client.send(FCMRig.message(), until: Reactor.now + 20_000_000_000, on: reactor)
        _ = await client.drain(within: .seconds(20), on: reactor)
        return attempt
      }
      #expect(attempt.disposition == .accepted)
      #expect(rig.simulator.service.exchangeCount == 2)
      #expect(rig.simulator.service.messages.map(\.status) == [200, 200])
    }
  }

  @Test("S02 of 21 notifications to one device, the last comes 3 minutes later")
  func burst() async throws {
    try await FCMRig.run { rig in
      for _ in 0..<21 { #expect(try await rig.send(Self.body()) == 200) }
      let report = try await rig.report(of: "ok")
      let moments = try #require(report["delivered"] as? [[String: Any]]).compactMap { $0["at_ms"] as? Int64 }
      #expect(moments.count == 21)
      #expect(moments[19] - moments[0] < 60_000)
      #expect(moments[20] - moments[19] > 120_000)
      #expect(moments[20] - moments[0] == 180_000)
    }
  }

  @Test("S03 of 101 data messages to an offline device, none arrives", arguments: [(100, 100), (101, 0)])
  func flood(_ count: Int, _ delivered: Int) async throws {
    try await FCMRig.run { rig in
      try await rig.connect(false)
      for _ in 0..<count { #expect(try await rig.send(Self.data()) == 200) }
      try await rig.connect(true)
      let report = try await rig.report(of: "ok")
      #expect((report["delivered"] as? [Any])?.count == delivered)
      #expect(report["deleted_messages"] as? Bool == (delivered == 0))
    }
  }

  @Test("S04 and S05 an offline device keeps the newest message of each of four collapse keys")
  func collapsing() async throws {
    try await FCMRig.run { rig in
      try await rig.connect(false)
      for key in ["a", "b", "c", "d", "e"] { #expect(try await rig.send(Self.data(key)) == 200) }
      #expect(try await rig.report(of: "ok")["waiting"] as? Int == 4)
      for _ in 0..<2 { #expect(try await rig.send(Self.data("e")) == 200) }
      try await rig.connect(true)
      let delivered = try #require(try await rig.report(of: "ok")["delivered"] as? [[String: Any]])
      #expect(delivered.count == 4)
      #expect(delivered.last?["name"] as? String == rig.simulator.service.messages.last?.name)
    }
  }

  @Test("S07 tokens of another project are suspect, and none is dropped")
  func mismatches() async throws {
    try await FCMRig.run { rig in
      let tokens = AccessTokenSource(rig.account)
      for _ in 0..<50 {
        let attempt = try await rig.send(FCMRig.message(to: "foreign"), with: tokens)
        #expect(attempt.disposition == .suspectToken)
        #expect(attempt.fault == nil)
      }
    }
  }

  private static func body() -> String {
    #"{"message":{"token":"\#(FCMCase.token("ok"))","notification":{"title":"Ann"}}}"#
  }

  private static func data(_ key: String? = nil) -> String {
    let android = key.map { #","android":{"collapse_key":"\#($0)"}"# } ?? ""
    return #"{"message":{"token":"\#(FCMCase.token("ok"))","data":{"a":"b"}\#(android)}}"#
  }
}

extension FCMRig {
  fileprivate func send(_ body: String) async throws -> Int { try await post(Array(body.utf8)).status }

  fileprivate func connect(_ isOnline: Bool) async throws {
    try await order(.post, "/tokens/\(FCMCase.token("ok"))", #"{"online": \#(isOnline)}"#)
  }
}

/// The clocks of a token source, ahead of the machine's.
final class MovedClock: Sendable {
  private let seconds = Atomic<Int64>(0)

  func advance(seconds: Int64) {
    self.seconds.add(seconds, ordering: .relaxed)
  }

  var clock: AccessTokenClock {
    let machine = AccessTokenClock()
    return AccessTokenClock(
      now: { machine.now() + UInt64(self.seconds.load(ordering: .relaxed)) * 1_000_000_000 },
      wallSeconds: { machine.wallSeconds() + self.seconds.load(ordering: .relaxed) })
  }
}
