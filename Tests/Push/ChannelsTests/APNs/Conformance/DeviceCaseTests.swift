import APNSSimulation
import Channels
import HTTP2
import PushRules
import Reactors
import TestAPNSCases
import Testing

@Suite("Single-request cases")
struct DeviceCaseTests {
  @Test("each is answered over the wire as stated, and the answer is classified as stated")
  func answers() async throws {
    let cases = try WireCase.devices()
    let stated = try StatedCodes(cases)
    try await Stand.run(.ofCases) { stand, reactor in
      var report = CaseReport("device")
      for wireCase in cases {
        await report.drive(wireCase) {
          try await Self.play(wireCase, stated, stand, on: reactor)
        }
      }
      report.finish(expecting: 90)
    }
  }

  @Test("our client, asked for a case's push, either refuses to build it or meets the stated end")
  func client() async throws {
    let cases = try WireCase.devices()
    let stated = try StatedCodes(cases)
    try await Stand.run(.ofClient) { stand, reactor in
      var report = CaseReport("device, through our client,")
      var tally = ClientTally()
      for wireCase in cases {
        await report.drive(wireCase) {
          try await Self.push(wireCase, stated, stand, &tally, on: reactor)
        }
      }
      report.notes = [tally.description]
      report.finish(expecting: 90)
    }
  }

  /// Each request of a case on a connection of its own.
  private static func play(
    _ wireCase: WireCase, _ stated: StatedCodes, _ stand: Stand, on reactor: isolated Reactor
  ) async throws -> [String] {
    let findings = Findings()
    for overrides in try wireCase.requests() {
      let request = try stand.request(overrides)
      let connection = try await HTTP2Connection.connect(
        host: "127.0.0.1", port: stand.port(request.environment),
        context: stand.context(certificate: request.certificate), within: .seconds(10), on: reactor)
      let outcome = await connection.send(HTTP2Request(request.inspected), within: .seconds(10), on: reactor)
      connection.close(on: reactor)
      guard case .response(let response) = outcome, let record = stand.records.last else {
        throw CaseFailure("\(outcome)")
      }
      let exchange = WireExchange(request: request.inspected, response: response, record: record)
      try exchange.check(against: wireCase.expectation(), findings)
      if let lint = wireCase.recipe.mapping["lint"] as? String {
        let found = stand.service.lint.entries.filter { $0.push == record.number }.map(\.code.rawValue)
        findings.expect(found.contains(lint), "lint \(found)")
      }
      classify(exchange.answer, wireCase, stated, findings)
    }
    return findings.all
  }

  private static func classify(
    _ answer: PushAnswer, _ wireCase: WireCase, _ stated: StatedCodes, _ findings: Findings
  ) {
    let alternatives = (try? wireCase.expectation()["accept_also"] as? [CaseFile.Mapping]) ?? []
    let also = (wireCase.recipe.mapping["accept_also"] as? [CaseFile.Mapping] ?? []) + alternatives
    for key in [AnswerKey(answer)] + also.map({ AnswerKey($0) }) {
      let code = key.code
      findings.expect(stated.allows(code, for: key, otherwise: wireCase.client), "\(key) asks for \(code.rawValue)")
    }
    guard case .dropToken(let since) = PushDisposition.disposition(of: answer) else { return }
    let timestamp = (try? wireCase.expectation())?["timestamp_ms"] as? Int
    findings.expect(since == timestamp.map { Int64($0) }, "the token is dropped as of \(since ?? 0)")
  }

  private static func isSent(as request: PushRequest, in records: ArraySlice<PushRecord>) -> Bool {
    Set(records.map(\.identifier)) == [request.head.identifier.text]
  }

  /// What our client would send in a case, through the client itself. Cases about the credentials of a request are left
  /// to the other test: our client has one provider token, and it is good.
  private static func push(
    _ wireCase: WireCase, _ stated: StatedCodes, _ stand: Stand, _ tally: inout ClientTally,
    on reactor: isolated Reactor
  ) async throws -> [String] {
    let findings = Findings()
    for overrides in try wireCase.requests() {
      guard !["jwt", "authorization", "authorization_prefix", "certificate"].contains(where: { overrides[$0] != nil })
      else {
        tally.aboutCredentials += 1
        continue
      }
      guard overrides["env"] == nil, let request = try ClientRequest.make(from: stand.request(overrides)) else {
        tally.notBuilt += 1
        let mayBeSent = try AnswerKey(wireCase.expectation()).status == 200 && !Self.isLoose(overrides)
        findings.expect(!mayBeSent, "our client cannot build a push that APNs takes")
        continue
      }
      tally.sent += 1
      // A connection that only refused is followed by another after up to a second, as long as a push usually waits for one.
      var configuration = APNSConfiguration()
      configuration.connectionWait = .seconds(30)
      let client = try await stand.client(configuration, on: reactor)
      let first = stand.records.count
      if wireCase.client == ClientCode.reconnect.rawValue {
        // Every connection is told the same here, so the push fails in the end, but not on the first of them.
        reactor.start {
          _ = await client.send(request, to: .production, until: Reactor.now &+ 60_000_000_000, on: reactor)
        }
        func hasReconnected() -> Bool {
          client.connectionsOpened(to: .production) > 1 && stand.records.count > first + 1
        }
        for _ in 0..<3000 where !hasReconnected() { await reactor.sleep(for: .milliseconds(10)) }
        findings.expect(hasReconnected(), "did not reconnect")
        client.close(on: reactor)
        findings.expect(Self.isSent(as: request, in: stand.records.dropFirst(first)), "sent under another identifier")
        continue
      }
      let attempt = await client.send(
        request, to: .production, until: Reactor.now &+ 20_000_000_000, on: reactor)
      client.close(on: reactor)
      findings.expect(Self.isSent(as: request, in: stand.records.dropFirst(first)), "sent under another identifier")
      guard case .answered(let answer) = attempt else { throw CaseFailure("\(attempt)") }
      let (code, key) = (ClientCode(attempt.disposition), AnswerKey(answer))
      findings.expect(key == AnswerKey(try wireCase.expectation()), "our client was answered \(key)")
      findings.expect(stated.allows(code, for: key, otherwise: wireCase.client), "\(key) asked for \(code.rawValue)")
    }
    return findings.all
  }

  /// Whether a good push is written in a way that ours never are: in the sandbox, or without a field that APNs lets out.
  private static func isLoose(_ overrides: CaseFile.Mapping) -> Bool {
    guard overrides["env"] == nil else { return true }
    let fields = overrides["headers"] as? CaseFile.Mapping ?? [:]
    return fields.values.contains { "\($0)".contains("null") || "\($0)".contains("NSNull") }
  }
}

/// How our client's part of the cases was played.
struct ClientTally: CustomStringConvertible {
  var sent = 0
  var notBuilt = 0
  var aboutCredentials = 0

  var description: String {
    "\(sent) requests sent by it, \(notBuilt) it cannot build, \(aboutCredentials) about credentials it has not"
  }
}
