import Reactors
import TestReactors
import Testing

@testable import HTTP2

@Suite("Settings of a session")
struct SessionSettingsTests {
  @Test("a disguised limit of streams leaves under its right number, in its place")
  func disguise() throws {
    let session = Session.server(limits: Session.Limits(fieldsBytesMax: 1000, bodyBytesMax: 1000))
    session.submit([.streamWindow(70_000), .streamsMax(1), .fieldsBytesMax(8000)], disguisingStreamsMax: true)
    let frame = try #require(session.nextChunk().map(Array.init))
    #expect(frame == [0, 0, 18, 4, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0x11, 0x70, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0x1f, 0x40])
    #expect(session.nextChunk() == nil)
  }

}

@Suite("A server's conduct")
struct HTTP2ServerConnectionTests {
  @Test("a server that acknowledges no PING is given up by its client, one that does is kept")
  func pings() async throws {
    try await onReactor { reactor in
      for acknowledges in [false, true] {
        var configuration = HTTP2ClientConfiguration()
        configuration.silenceBeforePing = .milliseconds(20)
        configuration.pingTimeout = .seconds(1)
        let exchange = try await Exchange.start(answers: false, client: configuration, on: reactor)
        // An acknowledged PING changes nothing, so that the request ends by its own limit; a missing one ends it before.
        let limit = Duration.seconds(acknowledges ? 2 : 30)
        exchange.outcomes.send(1, over: exchange.client, within: limit, on: reactor)
        try await exchange.server.received(1, on: reactor)
        exchange.server.connection.acknowledgesPings = acknowledges
        try await exchange.outcomes.arrived(on: reactor)
        let expected = acknowledges ? HTTP2Uncertainty.deadline : .connectionLost(.unresponsive)
        #expect(exchange.outcomes.unknown == [0: expected])
        exchange.client.close(on: reactor)
      }
    }
  }
}

@Suite("Header field lists")
struct HTTP2FieldsTests {
  @Test("order, duplicates and empty values are kept")
  func order() {
    var fields = HTTP2Fields()
    fields.append("b", "1")
    fields.append("a", "")
    fields.append("b", "ü")
    #expect(fields.map(\.name) == ["b", "a", "b"])
    #expect(fields.map(\.value) == ["1", "", "ü"])
    #expect(fields.count == 3)
  }

  @Test("the first of several values is found, and none where there is none")
  func lookUp() {
    let fields: HTTP2Fields = ["a": "1", "b": "2", "a": "3"]
    #expect(fields["a"] == "1")
    #expect(fields["b"] == "2")
    #expect(fields["c"] == nil)
  }

  @Test(
    "secrets and values that never repeat are kept out of header compression",
    arguments: [("authorization", true, false), ("apns-id", false, false), ("apns-topic", true, true)])
  func indexing(name: String, wanted: Bool, expected: Bool) {
    var fields = HTTP2Fields()
    fields.append(name, "value", isIndexed: wanted)
    fields.withPackedBytes { packed in
      var offset = 0
      #expect(PackedField(in: packed, at: &offset).isIndexed == expected)
      #expect(offset == packed.count)
    }
  }
}

@Suite("Liveness")
struct LivenessTests {
  @Test("silence is asked about at its limit, suspected when the answer is late, and given up at the PING's limit")
  func silence() {
    var liveness = makeLiveness()
    #expect(liveness.check(now: 99, isBusy: true) == .check(at: 100))
    #expect(liveness.check(now: 100, isBusy: true) == .ping(nextCheck: 104))
    #expect(liveness.check(now: 103, isBusy: true) == .check(at: 104))
    #expect(!liveness.isSuspect)
    #expect(liveness.check(now: 104, isBusy: true) == .suspect(nextCheck: 110))
    #expect(liveness.isSuspect)
    #expect(liveness.check(now: 109, isBusy: true) == .check(at: 110))
    #expect(liveness.check(now: 110, isBusy: true) == .giveUp)
  }

  @Test("where a late answer is no earlier than a missing one, the suspicion comes first all the same")
  func lateAtTheLimit() {
    var liveness = makeLiveness(pingLateAfter: 99)
    #expect(liveness.check(now: 100, isBusy: true) == .ping(nextCheck: 110))
    #expect(liveness.check(now: 110, isBusy: true) == .suspect(nextCheck: 110))
    #expect(liveness.check(now: 110, isBusy: true) == .giveUp)
  }

  @Test("an answer ends the suspicion, and the next PING begins anew")
  func suspicionEnds() {
    var liveness = makeLiveness()
    _ = liveness.check(now: 100, isBusy: true)
    _ = liveness.check(now: 104, isBusy: true)
    liveness.heard(now: 105)
    #expect(!liveness.isSuspect)
    #expect(liveness.check(now: 205, isBusy: true) == .ping(nextCheck: 209))
  }

  @Test("a look that comes late gives the peer its time again, once more for each late look")
  func lateLook() {
    var liveness = makeLiveness()
    #expect(liveness.check(now: 100, isBusy: true) == .ping(nextCheck: 104))
    #expect(liveness.check(now: 107, isBusy: true) == .check(at: 111))
    #expect(liveness.check(now: 113, isBusy: true) == .suspect(nextCheck: 117))
    #expect(liveness.check(now: 120, isBusy: true) == .check(at: 130))
    #expect(liveness.check(now: 132, isBusy: true) == .giveUp)
  }

  @Test("any frame after the PING is a sign of life")
  func heard() {
    var liveness = makeLiveness()
    _ = liveness.check(now: 100, isBusy: true)
    liveness.heard(now: 105)
    #expect(liveness.check(now: 110, isBusy: true) == .check(at: 205))
  }

  @Test("an idle connection is left alone for longer")
  func idle() {
    var liveness = makeLiveness()
    #expect(liveness.check(now: 999, isBusy: false) == .check(at: 1000))
    #expect(liveness.check(now: 1000, isBusy: false) == .ping(nextCheck: 1004))
  }

  @Test("the silence before a request does not count against it")
  func busyAfterIdle() {
    var liveness = makeLiveness()
    liveness.becameBusy(now: 900)
    #expect(liveness.check(now: 901, isBusy: true) == .check(at: 1000))
  }

  private func makeLiveness(pingLateAfter: Int64 = 4) -> Liveness {
    var configuration = HTTP2ClientConfiguration()
    configuration.silenceBeforePing = .nanoseconds(100)
    configuration.idleBeforePing = .nanoseconds(1000)
    configuration.pingLateAfter = .nanoseconds(pingLateAfter)
    configuration.pingTimeout = .nanoseconds(10)
    return Liveness(configuration, now: 0)
  }
}
