import Foundation
import Testing

@testable import APNSSimulation

@Suite("The judge of requests")
struct RequestJudgeTests {
  @Test("answers every single-request case of the case file", arguments: try DeviceCase.all())
  func deviceCases(_ deviceCase: DeviceCase) throws {
    let file = try CaseFile.load()
    let fixtures = try CaseFixtures.shared()
    let expectation = deviceCase.expectation.mapping
    for overrides in deviceCase.requests {
      let request = try CaseRequest(
        overrides.mapping, defaults: CaseFile.mapping("defaults", in: file), fixtures: fixtures
      ) { try fixtures.mint($0, at: fixtures.now) }
      let verdict = try judge(request, fixtures)
      Self.expect(verdict, expectation, request.inspected)
      Self.expectPush(verdict.push, expectation, now: fixtures.now)
      if let lint = deviceCase.lint { #expect(verdict.findings.map(\.code.rawValue).contains(lint)) }
    }
  }

  @Test("the same question gets the same answer, made identifiers included")
  func isDeterministic() throws {
    let file = try CaseFile.load()
    let fixtures = try CaseFixtures.shared()
    let request = try CaseRequest(
      ["headers": ["apns-id": NSNull()]], defaults: CaseFile.mapping("defaults", in: file), fixtures: fixtures
    ) { try fixtures.mint($0, at: fixtures.now) }
    #expect(try judge(request, fixtures).identifier == judge(request, fixtures).identifier)
  }

  @Test("scripted answers are given in order and as often as they say, then the normal ones come again")
  func scriptedAnswers() throws {
    let file = try CaseFile.load()
    let fixtures = try CaseFixtures.shared()
    let request = try CaseRequest([:], defaults: CaseFile.mapping("defaults", in: file), fixtures: fixtures) {
      try fixtures.mint($0, at: fixtures.now)
    }
    var registry = try fixtures.registry()
    let script = [
      ScriptedAnswer(status: 503, reason: "ServiceUnavailable", times: 2), ScriptedAnswer(status: 200),
      ScriptedAnswer(status: 429, reason: "TooManyRequests"),
    ]
    registry.register(
      RegisteredDevice(environment: .production, bundle: "com.example.app", answers: script),
      token: try fixtures.deviceToken("ok"))
    var judge = RequestJudge(environment: .production, seed: 1)
    var binding = ProviderBinding()
    let statuses = (0..<6).map { _ in
      judge.judge(request.inspected, binding: &binding, registry: &registry, now: fixtures.now).status
    }
    #expect(statuses == [503, 503, 200, 429, 200, 200])
  }

  @Test("an unknown but well-formed token is taken when the registry says so, a malformed one never")
  func acceptsAnyToken() throws {
    let file = try CaseFile.load()
    let fixtures = try CaseFixtures.shared()
    var registry = try fixtures.registry()
    registry.acceptsAnyToken = true
    var judge = RequestJudge(environment: .production, seed: 1)
    var binding = ProviderBinding()
    for (path, status) in [("/3/device/00ff", 200), ("/3/device/00fg", 400), ("/3/device/00f", 400)] {
      let request = try CaseRequest(
        ["path": path], defaults: CaseFile.mapping("defaults", in: file), fixtures: fixtures
      ) { try fixtures.mint($0, at: fixtures.now) }
      binding = ProviderBinding()
      let verdict = judge.judge(request.inspected, binding: &binding, registry: &registry, now: fixtures.now)
      #expect(verdict.status == status)
    }
  }

  private func judge(_ request: CaseRequest, _ fixtures: CaseFixtures) throws -> PushVerdict {
    var judge = RequestJudge(environment: request.environment, seed: 1)
    var binding = ProviderBinding()
    var registry = try fixtures.registry()
    return judge.judge(request.inspected, binding: &binding, registry: &registry, now: fixtures.now)
  }

  private static func expect(_ verdict: PushVerdict, _ expected: CaseFile.Mapping, _ request: InspectedRequest) {
    #expect(verdict.status == expected["status"] as? Int)
    #expect(verdict.reason == expected["reason"] as? String)
    #expect(verdict.timestampMilliseconds == (expected["timestamp_ms"] as? Int).map { Int64($0) })
    expectBody(verdict, expected)
    let names = Set(verdict.fields.map(\.name))
    #expect(names.contains("apns-id"))
    #expect(names.isSuperset(of: expected["headers_present"] as? [String] ?? []))
    #expect(names.isDisjoint(with: expected["headers_absent"] as? [String] ?? []))
    switch expected["apns_id"] as? String {
    case "generated": #expect(verdict.identifier == verdict.identifier.uppercased() && verdict.identifier.count == 36)
    case "echo": #expect(verdict.identifier == request.value(of: "apns-id"))
    default: break
    }
  }

  private static func expectBody(_ verdict: PushVerdict, _ expected: CaseFile.Mapping) {
    let body = String(decoding: verdict.body, as: UTF8.self)
    if let raw = expected["raw_body"] as? String {
      #expect(body == raw)
    } else if let reason = verdict.reason {
      let timestamp = verdict.timestampMilliseconds.map { ",\"timestamp\":\($0)" } ?? ""
      #expect(body == "{\"reason\":\"\(reason)\"\(timestamp)}")
    } else {
      #expect(body.isEmpty)
    }
  }

  private static func expectPush(_ push: JudgedPush, _ expected: CaseFile.Mapping, now: WallInstant) {
    if let priority = expected["effective_priority"] as? Int { #expect(push.priority == priority) }
    if let stored = expected["stored"] as? Bool { #expect(push.isStored(at: now) == stored) }
  }
}
