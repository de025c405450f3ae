import Cryptography
import Foundation
import HTTPTypes
import PushRules
import Reactors
import Simulators
import Synchronization
import TestFCMCases
import Testing

@testable import Channels

@Suite("The cases of messages:send", .timeLimit(.minutes(5)))
struct SendCaseTests {
  @Test("there are 60 cases")
  func count() {
    #expect(FCMCase.sends.count == 60)
  }

  /// All but silence, which has no answer.
  @Test(
    "the simulator answers as Google, and the answer means what the case says",
    arguments: FCMCase.sends.filter { $0.identifier != "F59" })
  func wire(_ one: FCMCase) async throws {
    try await FCMRig.run { rig in
      try await rig.arrange(one)
      var names: Set<String> = []
      for _ in 0..<(one.request["repeat"] as? Int ?? 1) {
        let answer = try await rig.post(one)
        answer.check(one)
        names.insert(answer.document["name"] as? String ?? "")
        // Tacet never sends GET, and its answer is the one of a wrong path. The other is about two answers in a row.
        if !["F60", "F41"].contains(one.identifier) { one.check(answer.attempt) }
      }
      if one.expects("distinct_names") { #expect(names.count == 2) }
      let report = try await rig.report(of: "ok")
      if let shown = one.expectation["shown_on_device"] as? Int { #expect(report["shown"] as? Int == shown) }
      if one.expects("delivered") { #expect((report["delivered"] as? [Any])?.isEmpty == true) }
    }
  }

  /// The cases whose request Tacet's client can make.
  private static let sendable = FCMCase.sends.filter { one in
    let message = one.request["message"] as? [String: Any] ?? [:]
    let known: Set<String> = [
      "message", "fault", "retry_after", "details_order", "registered_again_at", "validate_only",
    ]
    return Set(one.request.keys).isSubset(of: known) && Set(message.keys).isSubset(of: ["token"])
      && message["token"] as? String != nil || one.request["fault"] != nil || one.request.isEmpty
  }

  @Test("the client ends its attempt as the case says", arguments: sendable)
  func client(_ one: FCMCase) async throws {
    try await FCMRig.run { rig in
      try await rig.arrange(one)
      let message = FCMRig.message(to: (one.request["message"] as? [String: Any])?["token"] as? String ?? "ok")
      let isTrial = one.request["validate_only"] as? Bool == true
      // Silence ends at the deadline.
      let limit: UInt64 = one.identifier == "F59" ? 3_000_000_000 : 20_000_000_000
      let attempt = try await rig.withClient { client, reactor in
        let deadline = Reactor.now + limit
        return isTrial
          ? await client.validate(message.token, until: deadline, on: reactor)
          : await client.send(message, until: deadline, on: reactor)
      }
      one.check(attempt)
      #expect(attempt.status == one.expectation["http"] as? Int)
    }
  }

  @Test("the client's own refusals cost no request")
  func local() async throws {
    try await FCMRig.run { rig in
      var large = FCMRig.message()
      large.data = ["p": String(repeating: "x", count: 4097)]
      let attempts = [try await rig.send(large), try await rig.send(FCMMessage(token: ""))]
      #expect(attempts.map(\.disposition) == [.fixRequest, .fixRequest])
      #expect(attempts.map(\.reason) == ["payload_too_large", "invalid_token"])
      #expect(rig.simulator.service.messageCount == 0)
    }
  }

  @Test("a rejected access token is replaced once, and the push resent")
  func refresh() async throws {
    try await FCMRig.run { rig in
      let tokens = AccessTokenSource(rig.account)
      #expect(try await rig.send(FCMRig.message(), with: tokens).disposition == .accepted)
      try await rig.order(.delete, "/bearers")
      #expect(try await rig.send(FCMRig.message(), with: tokens).disposition == .accepted)
      #expect(rig.simulator.service.messages.map(\.status) == [200, 401, 200])
      #expect(rig.simulator.service.exchangeCount == 2)
    }
  }

  @Test("a second rejection is the credentials' fault, and no further push asks for a token within a minute")
  func rejectedTwice() async throws {
    try await FCMRig.run { rig in
      let rejection = #"{"kind": "answer", "status": 401, "error_status": "UNAUTHENTICATED", "times": 9}"#
      try await rig.order(.post, "/faults", rejection)
      let tokens = AccessTokenSource(rig.account)
      for _ in 0..<3 {
        let attempt = try await rig.send(FCMRig.message(), with: tokens)
        #expect(attempt.disposition == .fixCredentials)
        #expect(attempt.fault == .configuration)
        #expect(attempt.reason == "UNAUTHENTICATED")
        #expect(attempt.status == 401)
      }
      #expect(rig.simulator.service.exchangeCount == 2)
      #expect(rig.simulator.service.messageCount == 4)
    }
  }

  @Test("a lost answer leaves the outcome open, and the resend is the same on the screen")
  func lostAnswer() async throws {
    try await FCMRig.run { rig in
      // With a token from before, the push is the first on its connection. On a kept one, libcurl resends by itself.
      let tokens = AccessTokenSource(rig.account)
      #expect(try await rig.send(FCMRig.message(), with: tokens).disposition == .accepted)
      try await rig.order(.post, "/faults", #"{"kind": "drop_after"}"#)
      let lost = try await rig.send(FCMRig.message(), with: tokens)
      #expect(lost.disposition == .retryLater(minimumWait: .seconds(10)))
      #expect(lost.fault == .connection)
      #expect(lost.reason == "connection_lost")
      #expect(try await rig.send(FCMRig.message(), with: tokens).disposition == .accepted)
      let report = try await rig.report(of: "ok")
      #expect((report["delivered"] as? [Any])?.count == 3)
      #expect(report["shown"] as? Int == 1)
    }
  }

  @Test("project, role and switched-off interface are the credentials' fault", arguments: ["no-such", "off", "role"])
  func accounts(_ mistake: String) async throws {
    try await FCMRig.run { rig in
      var file = try rig.simulator.makeServiceAccount(project: mistake == "role" ? "tacet-test" : "tacet-off")
      if mistake == "no-such" { file = file.replacing("tacet-off\"", with: "no-such-project\"") }
      if mistake == "role" { try await rig.order(.post, "/accounts", "{\"role\":false," + file.dropFirst()) }
      if mistake == "off" { try await rig.order(.put, "/projects/tacet-off", #"{"api_enabled": false}"#) }
      let tokens = AccessTokenSource(try ServiceAccount(json: Array(file.utf8)))
      let attempt = try await rig.send(FCMRig.message(), with: tokens)
      #expect(attempt.disposition == .fixCredentials)
      #expect(attempt.status == (mistake == "no-such" ? 404 : 403))
    }
  }
}

extension FCMRig {
  /// Orders what a case needs besides its request.
  fileprivate func arrange(_ one: FCMCase) async throws {
    if one.request["details_order"] != nil { try await order(.post, "/conduct", #"{"reverse_details": true}"#) }
    guard let fault = one.request["fault"] else { return }
    let retryAfter = (one.request["retry_after"] as? String).map { #", "retry_after": "\#($0)""# } ?? ""
    let document: String
    switch fault {
    case let name as String where name == "silence": document = #"{"kind": "silence""#
    case let name as String: document = #"{"kind": "quota", "has_code": \#(name == "project_quota")"#
    case let answer as FCMCase.Mapping where answer["html"] != nil:
      document = #"{"kind": "answer", "status": \#(answer["http"] ?? 0), "raw_body": "<html>""#
    case let answer as FCMCase.Mapping:
      let names = ["status": "error_status", "code": "error_code", "text": "message"]
      let words = names.compactMap { name, member in (answer[name] as? String).map { #", "\#(member)": "\#($0)""# } }
      document = #"{"kind": "answer", "status": \#(answer["http"] ?? 0)"# + words.joined()
    default: document = "{"
    }
    try await order(.post, "/faults", document + retryAfter + "}")
  }

  /// Sends the request of a case.
  fileprivate func post(_ one: FCMCase) async throws -> Answer {
    let project = one.request["project"] as? String ?? "tacet-test"
    let bearer = one.request.keys.contains("bearer") ? one.request["bearer"] as? String : "ok"
    return try await post(
      one.body, bearer: bearer, path: one.request["path"] as? String ?? "/v1/projects/\(project)/messages:send",
      method: one.request["method"] as? String == "GET" ? .get : .post)
  }
}

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
