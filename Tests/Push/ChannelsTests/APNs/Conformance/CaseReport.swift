import Channels
import PushRules
import Simulators
import TestAPNSCases
import Testing

/// Counts cases, and what in them was not as stated.
struct CaseReport {
  private let kind: String
  private var cases = 0
  private var deviating: Set<String> = []
  /// Counts worth printing besides.
  var notes: [String] = []

  init(_ kind: String) {
    self.kind = kind
  }

  /// Drives one case; what it throws counts against it as well.
  /// - Parameter drive: returns what was not as stated.
  mutating func drive(
    _ wireCase: WireCase, isolation: isolated (any Actor)? = #isolation, _ drive: () async throws -> [String]
  ) async {
    cases += 1
    let deviations: [String]
    do {
      deviations = try await drive()
    } catch {
      deviations = ["\(error)"]
    }
    guard !deviations.isEmpty else { return }
    deviating.insert(wireCase.identifier)
    for deviation in deviations { Issue.record("\(wireCase): \(deviation)") }
  }

  /// Prints the counts, and makes sure that there was something to count.
  func finish(expecting count: Int) {
    #expect(cases == count)
    let stated = deviating.isEmpty ? "all as stated" : "not as stated: \(deviating.sorted())"
    print("\(kind) cases: \(cases), \(([stated] + notes).joined(separator: ", "))")
  }
}

/// Gathers what is not as stated in one case.
final class Findings {
  private(set) var all: [String] = []

  func expect(_ isAsStated: Bool, _ deviation: @autoclosure () -> String) {
    if !isAsStated { all.append(deviation()) }
  }
}

struct CaseFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

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

  init(_ answer: APNSAnswer) {
    status = answer.status
    reason = answer.reason?.rawValue
  }

  var description: String { "\(status) \(reason ?? "")" }

  /// What our client makes of it.
  var code: ClientCode {
    ClientCode(APNSAnswer(status: status, reason: reason.map(APNSReason.init(rawValue:))).ruling.disposition)
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

/// From a case's request to the push that our client would send in its place.
enum ClientRequest {
  /// - Returns: nil when our types cannot express the request: another method or path, a field that is malformed,
  ///   missing or repeated, a body that APNs would refuse.
  static func make(from request: CaseRequest) -> APNSRequest? {
    let inspected = request.inspected
    let fields = Dictionary(inspected.fields.map { ($0.name, [$0.value]) }, uniquingKeysWith: +)
    guard fields.values.allSatisfy({ $0.count == 1 }), fields["content-type"] != nil,
      let identifier = fields["apns-id"]?[0], identifier == "11111111-2222-4333-8444-555555555555",
      let request = try? push(inspected, fields.compactMapValues(\.first)), inspected.method == "POST",
      inspected.path == request.path, fields["apns-topic"]?[0] == request.topic,
      fields["apns-expiration"]?[0] == request.expiresAt.map(String.init)
    else { return nil }
    return request
  }

  private static func push(_ inspected: InspectedRequest, _ fields: [String: String]) throws -> APNSRequest? {
    guard let type = fields["apns-push-type"].flatMap(PushType.init(rawValue:)),
      let priority = PushPriority(rawValue: Int(fields["apns-priority"] ?? "") ?? 0),
      let topic = fields["apns-topic"], topic.hasSuffix(type.topicSuffix)
    else { return nil }
    let token = try DeviceToken(inspected.path.split(separator: "/").last.map(String.init) ?? "")
    return try APNSRequest(
      type, inspected.body, to: token, of: BundleIdentifier(String(topic.dropLast(type.topicSuffix.count))),
      priority: priority, expiresAt: fields["apns-expiration"].map { Int64($0) ?? 0 },
      identifier: PushIdentifier(eventKind: "case", event: "e", recipient: "r", deviceToken: token),
      collapseIdentifier: fields["apns-collapse-id"].map { try CollapseIdentifier($0) })
  }
}
