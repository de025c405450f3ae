import Channels
import HTTP2
import PushRules
import Reactors
import Simulators
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
    _ answer: APNSAnswer, _ wireCase: WireCase, _ stated: StatedCodes, _ findings: Findings
  ) {
    let alternatives = (try? wireCase.expectation()["accept_also"] as? [CaseFile.Mapping]) ?? []
    let also = (wireCase.recipe.mapping["accept_also"] as? [CaseFile.Mapping] ?? []) + alternatives
    for key in [AnswerKey(answer)] + also.map({ AnswerKey($0) }) {
      let code = key.code
      findings.expect(stated.allows(code, for: key, otherwise: wireCase.client), "\(key) asks for \(code.rawValue)")
    }
    guard case .dropToken(let since) = answer.ruling.disposition else { return }
    let timestamp = (try? wireCase.expectation())?["timestamp_ms"] as? Int
    findings.expect(since == timestamp.map { Int64($0) }, "the token is dropped as of \(since ?? 0)")
  }

  private static func isSent(as request: APNSRequest, in records: ArraySlice<APNSPushRecord>) -> Bool {
    Set(records.map(\.identifier)) == [request.identifier.text]
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

  /// Whether a good push is written in a way that ours never are: in the sandbox, of another push type, or without a field that APNs
  /// lets out.
  private static func isLoose(_ overrides: CaseFile.Mapping) -> Bool {
    guard overrides["env"] == nil else { return true }
    let fields = overrides["headers"] as? CaseFile.Mapping ?? [:]
    if let type = fields["apns-push-type"] as? String, PushType(rawValue: type) == nil { return true }
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

@Suite("Cases of several requests")
struct SequenceCaseTests {
  @Test("each is answered step by step as stated, on the connections it names")
  func sequences() async throws {
    var report = CaseReport("sequence")
    for wireCase in try WireCase.sequences() {
      await report.drive(wireCase) {
        try await Stand.run(.ofCases) { stand, reactor in
          let player = SequencePlayer(stand)
          for step in try wireCase.steps() { try await player.play(step, on: reactor) }
          try await player.conclude(wireCase)
          return player.findings.all
        }
      }
    }
    report.finish(expecting: 16)
  }
}

/// Plays a sequence: keeps its connections, the provider tokens minted so far, and the last refusal.
private final class SequencePlayer {
  private let stand: Stand
  private var connections: [Int: FrameClient] = [:]
  private var seenLimits: [Int: Int] = [:]
  private var minted: [String: String] = [:]
  private var refusal: APNSAnswer?
  private var registration: (token: String, atMilliseconds: Int)?
  let findings = Findings()

  init(_ stand: Stand) {
    self.stand = stand
  }

  func play(_ step: CaseFile.Mapping, on reactor: isolated Reactor) async throws {
    let number = step["conn"] as? Int ?? 0
    if let seconds = step["advance_s"] as? Int { stand.service.clock.advance(milliseconds: Int64(seconds) * 1000) }
    if let registers = step["client_registers"] as? CaseFile.Mapping {
      registration = (registers["token"] as? String ?? "", registers["at_ms"] as? Int ?? 0)
    }
    if let push = step["push"] as? CaseFile.Mapping {
      let connection = try await connection(number, on: reactor)
      seenLimits[number] = connection.streamLimits.count
      for _ in 0..<(step["repeat"] as? Int ?? 1) { try await send(push, step, over: connection, on: reactor) }
    }
    try await expect(step, of: connection(number, on: reactor), number, on: reactor)
  }

  /// What the client has to do in the end, and whether the token lives.
  func conclude(_ wireCase: WireCase) async throws {
    if let refusal, let client = wireCase.client {
      let code = ClientCode(refusal.ruling.disposition)
      findings.expect(code.rawValue == client, "\(AnswerKey(refusal)) asks for \(code.rawValue)")
    }
    guard let state = wireCase.recipe.mapping["client_state"] as? CaseFile.Mapping, let registration, let refusal
    else { return }
    guard case .dropToken(let since?) = refusal.ruling.disposition else {
      throw CaseFailure("\(refusal) drops no token")
    }
    let isActive = try await TokenTable.isActive(
      stand.fixtures.deviceToken(registration.token), registeredAt: registration.atMilliseconds, invalidSince: since)
    findings.expect(isActive == state["active"] as? Bool, "the token is active: \(isActive)")
  }

  private func connection(_ number: Int, on reactor: isolated Reactor) async throws -> FrameClient {
    if let known = connections[number] { return known }
    let made = try await stand.frameClient(on: reactor)
    connections[number] = made
    return made
  }

  private func send(
    _ push: CaseFile.Mapping, _ step: CaseFile.Mapping, over connection: FrameClient, on reactor: isolated Reactor
  ) async throws {
    if push["fresh_jwt"] != nil { minted[push["jwt"] as? String ?? "ok"] = nil }
    let request = try CaseRequest(push, fixtures: stand.fixtures) { name in
      if let known = minted[name] { return known }
      let text = try stand.fixtures.mint(name, at: stand.service.clock.now)
      minted[name] = text
      return text
    }
    let received = try await connection.answer(to: request.inspected, on: reactor)
    let answer = APNSAnswer(status: received.status, identifier: nil, body: received.body)
    let expected = try CaseFile.mapping("exp", in: step)
    findings.expect(AnswerKey(answer) == AnswerKey(expected), "answered \(AnswerKey(answer))")
    let timestamp = (expected["timestamp_ms"] as? Int).map { Int64($0) }
    findings.expect(timestamp == nil || answer.timestampMilliseconds == timestamp, "timestamp of \(answer)")
    if answer.status != 200 { refusal = answer }
    for other in step["accept_also"] as? [CaseFile.Mapping] ?? [] {
      findings.expect(
        AnswerKey(other).code == AnswerKey(answer).code, "\(AnswerKey(other)) is taken for something else")
    }
  }

  private func expect(
    _ step: CaseFile.Mapping, of connection: FrameClient, _ number: Int, on reactor: isolated Reactor
  ) async throws {
    if let settings = step["expect_settings"] as? CaseFile.Mapping {
      try await connection.catchUp(on: reactor)
      let wanted = settings["max_concurrent_streams"] as? Int
      let limits = connection.streamLimits
      findings.expect(limits.last.map { Int($0) } == wanted, "SETTINGS \(limits)")
    }
    if step["expect_no_settings"] != nil {
      try await connection.catchUp(on: reactor)
      findings.expect(connection.streamLimits.count == seenLimits[number], "SETTINGS \(connection.streamLimits)")
    }
    if step["expect_goaway"] != nil {
      try await connection.waitForClose(on: reactor)
      findings.expect(connection.goAways.count == 1, "GOAWAY \(connection.goAways)")
    }
  }
}

@Suite("Rules of the simulator that only a misbehaving client meets")
struct SimulatorRuleTests {
  @Test("a limit that is only announced refuses nobody")
  func announcedLimit() async throws {
    try await Stand.run(.ofCases, { $0.streams.refusesExcess = false }) { stand, reactor in
      let client = try await stand.frameClient(on: reactor)
      try await ConnectionScript.open(5, client, stand, on: reactor)
      try await client.wait("five answers", on: reactor) { $0.answered == [1, 3, 5, 7, 9] }
      #expect(client.streamLimits.first == 1 && client.resets.isEmpty)
    }
  }

  @Test("a certificate has proved itself with the handshake: its connection starts with all streams")
  func certificateStreams() async throws {
    try await Stand.run(.ofCases) { stand, reactor in
      let client = try await stand.frameClient(certificate: "single", on: reactor)
      try await client.catchUp(on: reactor)
      #expect(client.streamLimits.last == 1000 && client.goAways.isEmpty)
    }
  }

  @Test("a certificate that nobody registered is refused with each push")
  func unknownCertificate() async throws {
    try await Stand.run(.ofCases) { stand, reactor in
      let stranger = try CertificateAuthority(name: "A stranger").issue(for: ["client"])
      let context = try TLSContext(
        trusting: .systemAnd(.text(stand.simulator.certificateAuthority ?? "")), presenting: stranger,
        protocols: ["h2"])
      let client = try await FrameClient.connect(port: stand.port(), context: context, on: reactor)
      let answer = try await client.answer(to: stand.request().inspected, on: reactor)
      #expect(answer.status == 403)
      #expect(String(decoding: answer.body, as: UTF8.self) == #"{"reason":"BadCertificate"}"#)
    }
  }

  @Test("streams over the limit are counted for the connection that opened them")
  func refusalsAreCounted() async throws {
    try await Stand.run(.ofCases) { stand, reactor in
      let greedy = try await stand.frameClient(on: reactor)
      try await ConnectionScript.open(3, greedy, stand, on: reactor)
      try await greedy.wait("refusals", on: reactor) { $0.answered == [1] && $0.resets.count == 2 }
      let modest = try await stand.frameClient(on: reactor)
      _ = try await modest.answer(to: stand.request().inspected, on: reactor)
      _ = try await greedy.answer(to: stand.request().inspected, on: reactor)
      #expect(stand.simulator.connections.open.map(\.refusedStreams) == [2, 0])
    }
  }
}
