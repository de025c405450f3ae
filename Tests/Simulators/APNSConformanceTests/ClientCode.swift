import APNSCore
import TestAPNSCases

/// The codes by which the case file says what a client does.
enum ClientCode: String {
  case done = "DONE"
  case drop = "DROP"
  case never = "NEVER"
  case fixRequest = "FIX-REQ"
  case fixCredentials = "FIX-CRED"
  case refresh = "REFRESH"
  case reconnect = "RECONNECT"
  case later = "LATER"

  init(_ disposition: PushDisposition) {
    self =
      switch disposition {
      case .accepted: .done
      case .dropToken: .drop
      case .never, .suspectToken: .never
      case .fixRequest: .fixRequest
      case .fixCredentials: .fixCredentials
      case .refreshProviderToken: .refresh
      case .reconnect: .reconnect
      case .retryLater: .later
      }
  }
}

/// What distinguishes one answer from another for a client.
struct AnswerKey: Hashable, CustomStringConvertible {
  let status: Int
  let reason: String?

  init(_ mapping: CaseFile.Mapping) {
    status = mapping["status"] as? Int ?? 0
    reason = mapping["reason"] as? String
  }

  init(_ answer: PushAnswer) {
    status = answer.status
    reason = answer.reason?.rawValue
  }

  var description: String { "\(status) \(reason ?? "")" }

  /// What our client makes of it.
  var code: ClientCode {
    ClientCode(.disposition(of: PushAnswer(status: status, reason: reason.map(PushReason.init(rawValue:)))))
  }
}

/// What the case file wants done about each answer.
///
/// A client sees the answer and not the case. Where one answer stands in several cases with different codes, either is
/// as stated; where an answer of `accept_also` has a case of its own, that case says what is to be done about it.
struct StatedCodes {
  private var codes: [AnswerKey: Set<String>] = [:]

  init(_ cases: [WireCase]) throws {
    for wireCase in cases {
      guard let client = wireCase.client else { continue }
      codes[AnswerKey(try wireCase.expectation()), default: []].insert(client)
    }
  }

  func allows(_ code: ClientCode, for answer: AnswerKey, otherwise client: String?) -> Bool {
    guard let stated = codes[answer] else { return client == nil || client == code.rawValue }
    return stated.contains(code.rawValue)
  }
}
