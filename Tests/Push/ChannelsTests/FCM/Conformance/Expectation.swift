import Foundation
import HTTPTypes
import PushRules
import TestFCMCases
import Testing

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
