import APNSSimulation
import PushRules
import Reactors
import TestAPNSCases
import Testing

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
  private var refusal: PushAnswer?
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
      let code = ClientCode(.disposition(of: refusal))
      findings.expect(code.rawValue == client, "\(AnswerKey(refusal)) asks for \(code.rawValue)")
    }
    guard let state = wireCase.recipe.mapping["client_state"] as? CaseFile.Mapping, let registration, let refusal
    else { return }
    guard case .dropToken(let since?) = PushDisposition.disposition(of: refusal) else {
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
    let answer = PushAnswer(status: received.status, identifier: nil, body: received.body)
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
