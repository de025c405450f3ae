import Cryptography
import Foundation
import HTTPTransfers
import HTTPTypes
import PushRules
import Reactors
import Simulators
import TestFCMCases
import TestLogs
import Testing

@testable import Channels

/// A simulator with the fixtures of the case file, and clients that talk to it.
struct FCMRig: Sendable {
  struct Answer: Sendable {
    let status: Int
    let fields: HTTPFields
    let body: [UInt8]

    /// `error` of Google's envelope, or the whole document.
    var document: [String: Any] {
      let document = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
      return document?["error"] as? [String: Any] ?? document ?? [:]
    }

    /// What the client makes of it.
    var attempt: DeliveryAttempt { FCMAnswer.attempt(status: status, fields: fields, body: body) }
  }

  let simulator: FCMSimulator
  let account: ServiceAccount
  private let reactor: Reactor
  private let transfers: ReactorBound<HTTPTransferClient>

  /// Runs a test; everything is stopped afterwards.
  static func run(_ test: (FCMRig) async throws -> Void) async throws {
    let group = try ReactorGroup(count: 2)
    var configuration = FCMSimulatorConfiguration()
    configuration.logger = RunLogs.logger
    let simulator = try await FCMSimulator.start(configuration, on: group.reactors[0])
    let transfers = try await group.reactors[1].perform { ReactorBound(HTTPTransferClient(on: $0), on: $0) }
    let account = try register(in: simulator)
    let rig = FCMRig(simulator: simulator, account: account, reactor: group.reactors[1], transfers: transfers)
    let result: Result<Void, any Error>
    do {
      try await rig.register()
      result = .success(try await test(rig))
    } catch {
      result = .failure(error)
    }
    await transfers.perform { $0.close(on: $1) }
    await simulator.stop()
    await group.stop()
    try result.get()
  }

  /// One key for all tests: each takes a tenth of a second to make.
  private static let key = RSAPrivateKey().pem

  private static func register(in simulator: FCMSimulator) throws -> ServiceAccount {
    let file = [
      "client_email": "push@tacet-test.iam.gserviceaccount.com", "project_id": "tacet-test", "private_key_id": "k1",
      "private_key": key, "token_uri": simulator.tokenURI,
    ]
    let json = try JSONSerialization.data(withJSONObject: file)
    try simulator.service.addServiceAccount(String(decoding: json, as: UTF8.self))
    return try ServiceAccount(json: Array(json))
  }

  /// The fixtures of the case file.
  private func register() async throws {
    try await order(.put, "/projects/tacet-test", #"{"number": 100000000001}"#)
    try await order(.put, "/projects/tacet-off", #"{"api_enabled": false}"#)
    try await order(.post, "/bearers", #"{"token": "ok"}"#)
    try await order(.post, "/bearers", #"{"token": "stale", "expires_in": -1}"#)
    try await order(.post, "/bearers", #"{"token": "wrong_scope", "scope": false}"#)
    try await order(.post, "/bearers", #"{"token": "no_role", "role": false}"#)
    let devices = [
      "ok": #"{"package": "org.example.app"}"#, "fid": "{}", "gone": #"{"state": "unregistered"}"#,
      "old": #"{"inactive_days": 271}"#, "foreign": #"{"project": "another-project"}"#, "busy": #"{"state": "busy"}"#,
      "ios": #"{"state": "wrong_apns_key"}"#,
    ]
    for (name, document) in devices { try await order(.put, "/tokens/\(FCMCase.token(name))", document) }
  }
}

extension FCMRig {
  /// An order to the control endpoint, which must succeed.
  @discardableResult
  func order(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws -> Answer {
    let answer = try await ask(method, simulator.control + path, [:], body.map { Array($0.utf8) })
    #expect((200...204).contains(answer.status), "\(path): \(String(decoding: answer.body, as: UTF8.self))")
    return answer
  }

  /// A member of a device's report.
  func report(of name: String) async throws -> [String: Any] {
    try await order(.get, "/tokens/\(FCMCase.token(name))").document
  }

  /// Sends a request as it is.
  func post(
    _ body: [UInt8], bearer: String? = "ok", path: String = "/v1/projects/tacet-test/messages:send",
    method: HTTPRequest.Method = .post
  ) async throws -> Answer {
    var fields: HTTPFields = [.contentType: "application/json"]
    if let bearer { fields[.authorization] = "Bearer \(bearer)" }
    return try await ask(method, simulator.origin + path, fields, method == .get ? nil : body)
  }

  /// Asks the token endpoint.
  func exchange(_ form: String) async throws -> Answer {
    try await ask(
      .post, simulator.tokenURI, [.contentType: "application/x-www-form-urlencoded"], Array(form.utf8))
  }

  private func ask(
    _ method: HTTPRequest.Method, _ url: String, _ fields: HTTPFields, _ body: [UInt8]?
  ) async throws -> Answer {
    let request = HTTPTransferRequest(method, url: url, fields: fields, body: body, deadline: .seconds(20))
    let result = await transfers.perform { client, reactor -> Result<HTTPTransferResponse, HTTPTransferError> in
      do throws(HTTPTransferError) {
        return .success(try await client.send(request, on: reactor))
      } catch {
        return .failure(error)
      }
    }
    let response = try result.get()
    return Answer(status: response.status.code, fields: response.fields, body: response.body)
  }

  /// Runs a body with a client of Tacet.
  func withClient<Value: Sendable>(
    _ tokens: AccessTokenSource? = nil,
    _ body: @escaping @Sendable (FCMClient, isolated Reactor) async throws -> Value
  ) async throws -> Value {
    let configuration = try #require(FCMConfiguration(baseURL: simulator.origin))
    let tokens = tokens ?? AccessTokenSource(account)
    return try await reactor.perform { reactor in
      let client = FCMClient(tokens, configuration, on: reactor)
      defer { client.close(on: reactor) }
      return try await body(client, reactor)
    }
  }

  /// Sends one message with a client.
  func send(_ message: FCMMessage, with tokens: AccessTokenSource? = nil) async throws -> DeliveryAttempt {
    try await withClient(tokens) { await $0.send(message, until: Reactor.now + 20_000_000_000, on: $1) }
  }

  /// The default message of the case file.
  static func message(to token: String = "ok") -> FCMMessage {
    var message = FCMMessage(token: FCMCase.token(token))
    (message.title, message.body, message.tag) = ("Ann", "Hi", "m1")
    message.channelIdentifier = "messages"
    message.timeToLive = .seconds(3600)
    return message
  }
}

extension FCMRig.Answer {
  /// Compares with what a case says of the answer.
  func check(_ one: FCMCase) {
    let expected = one.expectation
    let error = document
    let details = error["details"] as? [[String: Any]] ?? []
    func detail(_ type: String) -> [String: Any]? {
      details.first { ($0["@type"] as? String)?.hasSuffix(type) == true }
    }
    let violations = detail("google.rpc.BadRequest")?["fieldViolations"] as? [[String: Any]]
    let info = detail("google.rpc.ErrorInfo")
    #expect(status == expected["http"] as? Int)
    equal(one, "status", error["status"])
    equal(one, "code", detail("google.firebase.fcm.v1.FcmError")?["errorCode"])
    equal(one, "field", violations?.first?["field"])
    equal(one, "reason", info?["reason"])
    equal(one, "quota_limit", (info?["metadata"] as? [String: Any])?["quota_limit"])
    equal(one, "retry_after", fields[.retryAfter])
    equal(one, "error", document["error"])
    equal(one, "expires_in", (document["expires_in"] as? Int).map { "\($0)" })
    if let text = expected["text"] as? String {
      let found = error["message"] as? String ?? document["error_description"] as? String ?? ""
      #expect(text.hasSuffix("…") ? found.hasPrefix(text.dropLast()) : found == text)
    }
    if let type = expected["content_type"] as? String { #expect(fields[.contentType]?.hasPrefix(type) == true) }
    if let keys = expected["keys"] as? [String] { #expect(document.keys.sorted() == keys.sorted()) }
    if let name = expected["name"] as? String { checkName(name.replacing("<id>", with: "")) }
  }

  private func equal(_ one: FCMCase, _ name: String, _ found: Any?) {
    guard one.expects(name) else { return }
    let expected = one.expectation[name]
    let text = expected is NSNull ? nil : expected.map { "\($0)" }
    #expect(found as? String == text, "\(name)")
  }

  private func checkName(_ expected: String) {
    let name = document["name"] as? String ?? ""
    #expect(expected.hasSuffix("/") ? name.hasPrefix(expected) && name.count > expected.count : name == expected)
  }
}

extension FCMCase {
  /// Whether an attempt ended as the case says of the client.
  func check(_ attempt: DeliveryAttempt) {
    switch client.prefix(while: { $0 != "(" }) {
    case "DONE": #expect(attempt.disposition == .accepted)
    // The store keeps a token that was registered after the send, because no time comes with the answer.
    case "NEVER": #expect(attempt.disposition == .dropToken(invalidSinceMilliseconds: nil))
    case "DROP" where self["breaker"] as? Bool == true: #expect(attempt.disposition == .suspectToken)
    case "DROP": #expect(attempt.disposition == .dropToken(invalidSinceMilliseconds: nil))
    case "FIX-REQ": #expect(attempt.disposition == .fixRequest)
    case "FIX-CRED":
      #expect(attempt.disposition == .fixCredentials)
      #expect(attempt.fault == .configuration)
    case "REFRESH": #expect(attempt.disposition == .refreshProviderToken)
    case "LATER": checkWait(attempt)
    default: Issue.record("\(client) is no disposition")
    }
    if let reason = expectation["code"] as? String { #expect(attempt.reason == reason) }
  }

  private func checkWait(_ attempt: DeliveryAttempt) {
    let seconds = Int(client.drop { $0 != "(" }.dropFirst().dropLast()) ?? 0
    guard case .retryLater(let wait) = attempt.disposition else {
      Issue.record("\(attempt.disposition) is not later")
      return
    }
    #expect(wait >= .seconds(seconds))
    switch self["lane"] as? String {
    case "project": #expect(attempt.fault == .throttle)
    case "device": #expect(attempt.fault == nil)
    default: #expect(attempt.fault == .service || attempt.fault == .connection)
    }
  }
}
