import Foundation
import TestAPNSCases
import Testing

@testable import Simulators

@Suite("The judge of requests")
struct RequestJudgeTests {
  @Test("the same question gets the same answer, made identifiers included")
  func isDeterministic() throws {
    let fixtures = try CaseFixtures.shared()
    let request = try CaseRequest(["headers": ["apns-id": NSNull()]], fixtures: fixtures) {
      try fixtures.mint($0, at: fixtures.now)
    }
    #expect(try judge(request, fixtures).identifier == judge(request, fixtures).identifier)
  }

  @Test("scripted answers are given in order and as often as they say, then the normal ones come again")
  func scriptedAnswers() throws {
    let fixtures = try CaseFixtures.shared()
    let request = try CaseRequest([:], fixtures: fixtures) {
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
    let fixtures = try CaseFixtures.shared()
    var registry = try fixtures.registry()
    registry.acceptsAnyToken = true
    var judge = RequestJudge(environment: .production, seed: 1)
    var binding = ProviderBinding()
    for (path, status) in [("/3/device/00ff", 200), ("/3/device/00fg", 400), ("/3/device/00f", 400)] {
      let request = try CaseRequest(
        ["path": path], fixtures: fixtures
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
}

@Suite("Identifiers that the service makes")
struct MintedIdentifiersTests {
  @Test("they are upper-case UUIDs in form, and a seed gives the same ones again")
  func form() {
    var one = MintedIdentifiers(seed: 7)
    var other = MintedIdentifiers(seed: 7)
    let made = (0..<100).map { _ in one.next() }
    let again = (0..<100).map { _ in other.next() }
    #expect(made == again)
    #expect(Set(made).count == 100)
    #expect(made.allSatisfy { APNSInquiry.isCanonicalIdentifier($0.lowercased()) && $0 == $0.uppercased() })
  }
}
