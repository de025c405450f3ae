import APNS
import APNSCore
import APNSSimulation
import Reactors
import TestAPNSCases
import Testing

@Suite("Cases of broadcasts and channel management, through our client")
struct BroadcastClientTests {
  @Test("our client, asked for a case's request, either refuses to build it or meets the stated end")
  func client() async throws {
    let cases = try WireCase.broadcasts()
    let stated = try StatedCodes(cases)
    try await Stand.run(.ofClient) { stand, reactor in
      let initial = stand.service.withRegistry { $0 }
      var report = CaseReport("broadcast and channel, through our client,")
      var tally = ClientTally()
      for wireCase in cases {
        stand.service.withRegistry { $0 = initial }
        await report.drive(wireCase) { try await Self.play(wireCase, stated, stand, &tally, on: reactor) }
      }
      report.notes = [tally.description]
      report.finish(expecting: 26)
    }
  }

  /// A case about the credentials of a request is left to the other test: our client has one provider token, and it is good.
  private static func play(
    _ wireCase: WireCase, _ stated: StatedCodes, _ stand: Stand, _ tally: inout ClientTally,
    on reactor: isolated Reactor
  ) async throws -> [String] {
    let findings = Findings()
    let expected = AnswerKey(try wireCase.expectation())
    classify(wireCase.recipe.mapping["accept_also"] as? [CaseFile.Mapping] ?? [], as: wireCase, stated, findings)
    for overrides in try wireCase.requests() {
      if let count = overrides["channels_existing"] as? Int { stand.fillChannels(count) }
      guard overrides["jwt"] == nil else {
        tally.aboutCredentials += 1
        continue
      }
      guard let call = BroadcastCall(try stand.request(overrides, over: "broadcast_defaults").inspected) else {
        tally.notBuilt += 1
        findings.expect(!(200...299).contains(expected.status), "our client cannot build a request that APNs takes")
        classify([try wireCase.expectation()], as: wireCase, stated, findings)
        continue
      }
      tally.sent += 1
      let (answer, code) = try await call.send(to: stand, findings, on: reactor)
      findings.expect(answer == nil || answer == expected, "our client was answered \(answer?.description ?? "")")
      findings.expect(code.rawValue == wireCase.client, "\(expected) asked for \(code.rawValue)")
    }
    return findings.all
  }

  /// What our client makes of answers that it is not given here.
  private static func classify(
    _ answers: [CaseFile.Mapping], as wireCase: WireCase, _ stated: StatedCodes, _ findings: Findings
  ) {
    for key in answers.map({ AnswerKey($0) }) {
      let reason = key.reason.map(PushReason.init(rawValue:))
      let code = ClientCode(
        ofBroadcast: .disposition(of: PushAnswer(status: key.status, reason: reason, service: .broadcasts)))
      findings.expect(stated.allows(code, for: key, otherwise: wireCase.client), "\(key) asks for \(code.rawValue)")
    }
  }
}
