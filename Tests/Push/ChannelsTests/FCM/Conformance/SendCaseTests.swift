import Channels
import FCMSimulation
import HTTPTypes
import PushRules
import Reactors
import TestFCMCases
import Testing

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
      let limit: UInt64 = one.identifier == "F59" ? 300_000_000 : 20_000_000_000
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
      large.data = try FCMData(["p": String(repeating: "x", count: 4097)])
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
