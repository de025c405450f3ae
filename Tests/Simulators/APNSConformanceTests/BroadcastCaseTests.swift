import APNSSimulation
import Foundation
import HTTP2
import Reactors
import TestAPNSCases
import Testing

@Suite("Cases of broadcasts and channel management")
struct BroadcastCaseTests {
  @Test("each is answered over the wire as stated")
  func answers() async throws {
    try await Stand.run(.ofCases) { stand, reactor in
      let initial = stand.service.withRegistry { $0 }
      var report = CaseReport("broadcast and channel")
      for wireCase in try WireCase.broadcasts() {
        stand.service.withRegistry { $0 = initial }
        await report.drive(wireCase) { try await Self.play(wireCase, stand, on: reactor) }
      }
      report.finish(expecting: 26)
    }
  }

  @Test(
    "an app may have 10,000 channels",
    arguments: [(9999, 201, ""), (10_000, 400, #"{"reason":"CannotCreateChannelConfig"}"#)])
  func channelLimit(existing: Int, status: Int, body: String) async throws {
    try await Stand.run(.ofCases) { stand, reactor in
      stand.fillChannels(existing)
      let create = try #require(try WireCase.broadcasts().first { $0.identifier == "B01" })
      let request = try stand.request(#require(create.requests().first), over: "broadcast_defaults")
      let answer = try await stand.response(to: request, on: reactor)
      #expect(answer.status == status && String(decoding: answer.body, as: UTF8.self) == body)
    }
  }

  private static func play(
    _ wireCase: WireCase, _ stand: Stand, on reactor: isolated Reactor
  ) async throws -> [String] {
    let findings = Findings()
    for overrides in try wireCase.requests() {
      if let count = overrides["channels_existing"] as? Int { stand.fillChannels(count) }
      let count = stand.records.count
      let request = try stand.request(overrides, over: "broadcast_defaults")
      let response = try await stand.response(to: request, on: reactor)
      try check(response, to: request.inspected, against: wireCase.expectation(), findings)
      checkRecords(Array(stand.records.dropFirst(count)), of: request.inspected, response.status, findings)
      guard let lint = wireCase.recipe.mapping["lint"] as? String else { continue }
      let found = stand.service.lint.entries.filter { $0.push == stand.records.last?.number }.map(\.code.rawValue)
      findings.expect(found.contains(lint), "lint \(found)")
    }
    return findings.all
  }

  private static func check(
    _ response: HTTP2Response, to request: InspectedRequest, against expected: CaseFile.Mapping, _ findings: Findings
  ) throws {
    findings.expect(response.status == AnswerKey(expected).status, "status \(response.status)")
    for name in expected["headers_present"] as? [String] ?? [] {
      findings.expect(response.fields[name] != nil, "no \(name)")
    }
    let sent = request.fields.first { $0.name == "apns-request-id" }?.value
    findings.expect(response.fields["apns-request-id"] == sent, "apns-request-id \(response.fields)")
    findings.expect(response.fields["apns-id"] == nil, "apns-id")
    let text = String(decoding: response.body, as: UTF8.self)
    let body = try? JSONSerialization.jsonObject(with: Data(response.body)) as? NSDictionary
    if let json = expected["json"] as? NSDictionary {
      findings.expect(body == json, "body \(text)")
    } else if let names = expected["json_keys"] as? [String] {
      findings.expect(Set(body?.allKeys as? [String] ?? []) == Set(names), "body \(text)")
    } else {
      let wanted = AnswerKey(expected).reason.map { "{\"reason\":\"\($0)\"}" } ?? ""
      findings.expect(text == wanted, "body \(text)")
    }
    let type = response.body.isEmpty ? nil : "application/json"
    findings.expect(response.fields["content-type"] == type, "content-type \(response.fields)")
  }

  /// A broadcast is one push in the log, management none.
  private static func checkRecords(
    _ records: [PushRecord], of request: InspectedRequest, _ status: Int, _ findings: Findings
  ) {
    let isBroadcast = request.path.hasPrefix("/4/broadcasts")
    findings.expect(records.count == (isBroadcast ? 1 : 0), "records \(records)")
    guard let record = records.first else { return }
    findings.expect(record.status == status && record.token.isEmpty, "recorded as \(record)")
    guard status == 200 else { return }
    let channel = request.fields.first { $0.name == "apns-channel-id" }?.value
    findings.expect(record.channel == channel && record.topic == "com.example.app", "recorded as \(record)")
  }
}

extension Stand {
  /// Gives the app of the cases so many channels in production.
  func fillChannels(_ count: Int) {
    let owner = ChannelName.Owner(environment: .production, bundle: "com.example.app")
    service.withRegistry { registry in
      let present = registry.channels.identifiers(of: owner).count
      for number in present..<count {
        let identifier = Data("channel \(number)".utf8).base64EncodedString()
        registry.channels.add(SimulatedChannel(policy: .nothing), as: ChannelName(identifier, of: owner))
      }
    }
  }

  /// The response to a request on a connection of its own.
  func response(to request: CaseRequest, on reactor: isolated Reactor) async throws -> HTTP2Response {
    let connection = try await HTTP2Connection.connect(
      host: "127.0.0.1", port: port(request.environment), context: context(certificate: request.certificate),
      within: .seconds(10), on: reactor)
    let outcome = await connection.send(HTTP2Request(request.inspected), within: .seconds(10), on: reactor)
    connection.close(on: reactor)
    guard case .response(let response) = outcome else { throw CaseFailure("\(outcome)") }
    return response
  }
}
