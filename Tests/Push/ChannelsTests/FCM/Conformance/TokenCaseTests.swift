import Cryptography
import FCMSimulation
import Foundation
import HTTPTypes
import PushRules
import Reactors
import TestFCMCases
import Testing

@testable import Channels

@Suite("The cases of the token endpoint", .timeLimit(.minutes(5)))
struct TokenCaseTests {
  @Test("there are 12 cases")
  func count() {
    #expect(FCMCase.tokens.count == 12)
  }

  @Test(
    "the simulator answers as Google, and the answer means what the case says",
    arguments: FCMCase.tokens.filter { $0.identifier != "T12" })
  func wire(_ one: FCMCase) async throws {
    try await FCMRig.run { rig in
      if one.identifier == "T11" {
        try await rig.order(.post, "/faults", #"{"kind": "answer", "endpoint": "token", "status": 503}"#)
      }
      let assertion = try Assertion(one, rig.simulator.makeServiceAccount(project: "tacet-test")).text
      let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
      let answer = try await rig.exchange("grant_type=\(grant)&assertion=\(assertion)")
      answer.check(one)
      let result = Result { () throws(AccessTokenError) in
        try AccessTokenAnswer(status: answer.status, fields: answer.fields, body: answer.body)
      }
      switch result {
      case .success: #expect(one.client == "DONE")
      case .failure(let error):
        #expect(error.code == (one.client == "FIX-CRED" ? .credentials : .unavailable))
        if let word = one.expectation["error"] as? String { #expect(error.reason == word) }
      }
    }
  }

  @Test("T12 and T11 many pushes at once need one exchange, and all wait when it fails", arguments: [false, true])
  func concurrent(_ isDown: Bool) async throws {
    try await FCMRig.run { rig in
      if isDown {
        try await rig.order(.post, "/faults", #"{"kind": "answer", "endpoint": "token", "status": 503, "times": 2}"#)
      }
      let attempts = try await rig.withClient { client, reactor in
        let crowd = Crowd()
        for _ in 0..<100 {
          reactor.start {
            crowd.attempts.append(await client.send(FCMRig.message(), until: Reactor.now + 20_000_000_000, on: reactor))
            if crowd.attempts.count == 100 { crowd.isBack.signal(on: reactor) }
          }
        }
        _ = await crowd.isBack.wait(for: .seconds(20), on: reactor)
        return crowd.attempts
      }
      #expect(attempts.count == 100)
      #expect(rig.simulator.service.exchangeCount == (isDown ? 0 : 1))
      #expect(rig.simulator.service.messageCount == (isDown ? 0 : 100))
      let faults = try await rig.order(.get, "/faults").document["waiting"] as? [[String: Any]]
      #expect(faults?.first?["times"] as? Int == (isDown ? 1 : nil))
      for attempt in attempts {
        guard isDown else {
          #expect(attempt.disposition == .accepted)
          continue
        }
        guard case .retryLater(let wait) = attempt.disposition else {
          Issue.record("\(attempt)")
          continue
        }
        #expect(wait > .seconds(9) && wait <= .seconds(15))
        #expect(attempt.fault == .service)
      }
    }
  }
}

@Suite("Failures of the token endpoint", .timeLimit(.minutes(5)))
struct TokenFailureTests {
  @Test(
    "a failure ends the push without a request, as what it is",
    arguments: [
      (#""kind": "drop_before""#, DeliveryFault.connection, "connection_lost"),
      (#""kind": "answer", "status": 503, "raw_body": "<html>""#, .service, "http_503"),
      (#""kind": "answer", "status": 429, "raw_body": "{\"error\":\"quota\"}""#, .throttle, "quota"),
      (#""kind": "answer", "status": 200, "raw_body": "<html>""#, .service, "invalid_answer"),
      (#""kind": "answer", "status": 200, "raw_body": "{\"id_token\":\"x\"}""#, .configuration, "no_access_token"),
      (
        #""kind": "answer", "status": 400, "raw_body": "{\"error\":\"invalid_grant\"}""#, .configuration,
        "invalid_grant"
      ),
      (#""kind": "answer", "status": 302, "raw_body": """#, .configuration, "http_302"),
    ])
  func failures(_ fault: String, _ place: DeliveryFault, _ reason: String) async throws {
    try await FCMRig.run { rig in
      try await rig.order(.post, "/faults", "{\(fault), \"endpoint\": \"token\"}")
      let attempt = try await rig.send(FCMRig.message())
      #expect(attempt.fault == place)
      #expect(attempt.reason == reason)
      #expect(attempt.status == nil)
      #expect(rig.simulator.service.messageCount == 0)
      switch attempt.disposition {
      case .fixCredentials: #expect(place == .configuration)
      case .retryLater(let wait): #expect(place != .configuration && wait > .seconds(9) && wait <= .seconds(15))
      default: Issue.record("\(attempt.disposition)")
      }
    }
  }

  @Test("after a failure no exchange begins for 10 to 15 s, and then the pushes go on")
  func backoff() async throws {
    try await FCMRig.run { rig in
      let clock = MovedClock()
      let tokens = AccessTokenSource(rig.account, clock: clock.clock)
      try await rig.order(.post, "/faults", #"{"kind": "answer", "endpoint": "token", "status": 503}"#)
      for _ in 0..<3 { #expect(try await rig.send(FCMRig.message(), with: tokens).fault == .service) }
      #expect(rig.simulator.service.exchangeCount == 0)
      clock.advance(seconds: 15)
      #expect(try await rig.send(FCMRig.message(), with: tokens).disposition == .accepted)
      #expect(rig.simulator.service.exchangeCount == 1)
    }
  }

  @Test("a push waits for its access token until its deadline")
  func silence() async throws {
    try await FCMRig.run { rig in
      try await rig.order(.post, "/faults", #"{"kind": "silence", "endpoint": "token"}"#)
      let attempt = try await rig.withClient {
        await $0.send(FCMRig.message(), until: Reactor.now + 100_000_000, on: $1)
      }
      #expect(attempt.disposition == .retryLater(minimumWait: .zero))
      #expect(attempt.reason == "no_access_token_in_time")
    }
  }

  @Test("an endpoint that nothing listens on is a fault of the connection")
  func unreachable() async throws {
    try await FCMRig.run { rig in
      await rig.simulator.stop()
      let attempt = try await rig.send(FCMRig.message())
      #expect(attempt.fault == .connection)
      #expect(attempt.reason == "unreachable")
    }
  }
}

/// Pushes that are under way at the same time.
private final class Crowd {
  var attempts: [DeliveryAttempt] = []
  let isBack = Signal()
}

/// The assertion of a case.
private struct Assertion {
  let text: String

  init(_ one: FCMCase, _ account: String) throws {
    let file = try #require(try JSONSerialization.jsonObject(with: Data(account.utf8)) as? [String: String])
    let changes = one.request
    let issued = Int(Date().timeIntervalSince1970) + (changes["iat_offset_s"] as? Int ?? 0)
    let header = ["alg": changes["alg"] as? String ?? "RS256", "typ": "JWT", "kid": file["private_key_id"] ?? ""]
    let claims: [String: Any] = [
      "iss": changes["iss"] as? String ?? file["client_email"] ?? "", "iat": issued, "exp": issued + 3600,
      "scope": changes["scope"] as? String ?? "https://www.googleapis.com/auth/firebase.messaging",
      "aud": changes["aud"] as? String ?? file["token_uri"] ?? "",
    ]
    let parts = try [header, claims].map { Base64URL.encode(try JSONSerialization.data(withJSONObject: $0)) }
    let signed = parts.joined(separator: ".")
    var signature = try RSAPrivateKey(pem: file["private_key"] ?? "").sign(Array(signed.utf8))
    if changes["sign"] as? String == "corrupt" { signature[0] ^= 1 }
    text = changes["assertion"] as? String ?? "\(signed).\(Base64URL.encode(signature))"
  }
}
