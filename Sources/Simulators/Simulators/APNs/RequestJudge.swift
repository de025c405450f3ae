internal import HTTP2

/// Decides APNs' response to a request, without socket or clock. Equal requests in equal states get equal responses.
///
/// The order of the checks decides which of several mistakes is reported. The real service checks the method before
/// authentication, and authentication before topic and token; the rest of the order is our choice.
package struct RequestJudge: Sendable {
  private let environment: SimulatedEnvironment
  private var tokens = ProviderTokenCache()
  private var rates = TokenRateMeter()

  /// A judge for one of the two services.
  package init(environment: SimulatedEnvironment) {
    self.environment = environment
  }

  /// Judges one request.
  ///
  /// - Parameters:
  ///   - binding: the connection's provider tokens; an admitted one changes it.
  ///   - registry: keys, apps and devices; a scripted answer is used up.
  ///   - now: the time for tokens, expirations and rates.
  ///   - answer: replaces the device's answer to a good push.
  package mutating func judge(
    _ request: InspectedRequest,
    binding: inout ProviderBinding,
    registry: inout SimulationRegistry,
    now: WallInstant,
    answering answer: ScriptedAnswer? = nil
  ) -> PushVerdict {
    var inquiry = APNSInquiry(request, environment: environment, now: now)
    do throws(Refusal) {
      try check(&inquiry, &binding, registry)
      let answer = answer ?? registry.takeAnswer(token: inquiry.push.token.lowercased())
      return verdict(answer ?? ScriptedAnswer(status: 200), on: inquiry, registry)
    } catch {
      return verdict(error.status, error.reason, error.timestampMilliseconds, on: inquiry, registry)
    }
  }

  private mutating func check(
    _ inquiry: inout APNSInquiry, _ binding: inout ProviderBinding, _ registry: SimulationRegistry
  ) throws(Refusal) {
    try inquiry.checkRequestLine()
    try inquiry.checkRepeatedFields()
    try inquiry.authenticate(&tokens, &binding, registry: registry)
    try inquiry.checkTokenPresence()
    try inquiry.checkFields()
    try inquiry.checkTopic(registry: registry)
    try inquiry.checkPayload()
    try inquiry.checkDevice(registry: registry)
    try checkRate(of: inquiry, registry)
  }

  private mutating func checkRate(of inquiry: APNSInquiry, _ registry: SimulationRegistry) throws(Refusal) {
    guard let rate = registry.tokenRate else { return }
    guard rates.admits(inquiry.push.token.lowercased(), rate, now: inquiry.now) else { throw .tooManyRequests }
  }
}

// From a decision to a response.
extension RequestJudge {
  private func verdict(
    _ answer: ScriptedAnswer, on inquiry: APNSInquiry, _ registry: SimulationRegistry
  ) -> PushVerdict {
    if answer.status == 200 { return verdict(200, nil, nil, on: inquiry, registry) }
    return verdict(
      answer.status, answer.reason, answer.status == 410 ? inquiry.now.milliseconds : nil,
      rawBody: answer.rawBody.map { Array($0.utf8) }, on: inquiry, registry)
  }

  private func verdict(
    _ status: Int, _ reason: String?, _ timestamp: Int64?, rawBody: [UInt8]? = nil, on inquiry: APNSInquiry,
    _ registry: SimulationRegistry
  ) -> PushVerdict {
    PushVerdict(
      status: status,
      reason: reason,
      timestampMilliseconds: reason == nil ? nil : timestamp,
      identifier: identifier(for: inquiry),
      uniqueIdentifier: status == 200 && environment == .sandbox ? MintedIdentifiers.next() : nil,
      body: rawBody ?? reason.map { AnswerBody.json(reason: $0, timestamp: timestamp) } ?? [],
      push: inquiry.push,
      isStored: inquiry.push.isStored(at: inquiry.now),
      findings: inquiry.findings,
      delayMilliseconds: registry.devices[inquiry.push.token.lowercased()]?.delayMilliseconds ?? 0)
  }

  /// The request's own identifier if it is well-formed, else a new one.
  private func identifier(for inquiry: APNSInquiry) -> String {
    guard let sent = inquiry.request.value(of: "apns-id"),
      APNSInquiry.isCanonicalIdentifier(sent)
    else {
      return MintedIdentifiers.next()
    }
    return sent
  }
}

/// The attributes of a push. Those that a refusal left unread keep their defaults.
package struct APNSJudgedPush: Equatable, Sendable {
  /// The device token as sent.
  package var token = ""
  /// `apns-topic`, or the only topic of a client certificate.
  package var topic = ""
  package var pushType: SimulatedPushType?
  package var priority = 10
  /// `apns-expiration` in Unix seconds; nil when absent.
  package var expirationSeconds: Int64?
  package var collapseID: String?
  /// A prefix of the provider token's SHA-256 that distinguishes tokens, in hexadecimal; nil without a token.
  package var providerTokenHash: String?

  /// Whether the service stores the push for an offline device: not with expiration 0 and not after its expiration.
  package func isStored(at now: WallInstant) -> Bool {
    guard let expirationSeconds else { return true }
    return expirationSeconds > now.seconds
  }
}

/// The judge's response to one request, and its findings.
package struct PushVerdict: Sendable {
  package let status: Int
  /// The reason in the body; nil with 200 and with scripted answers that have none.
  package let reason: String?
  /// The `timestamp` in the body, in milliseconds since 1970; only with 410.
  package let timestampMilliseconds: Int64?
  /// The `apns-id` field: the request's, or a made one in upper case.
  package let identifier: String
  /// The `apns-unique-id` field; only for successes of the sandbox.
  package let uniqueIdentifier: String?
  /// The body; empty with a success.
  package let body: [UInt8]
  package let push: APNSJudgedPush
  package let isStored: Bool
  package let findings: [LintFinding]
  /// The device's additional delay, in milliseconds.
  package let delayMilliseconds: Int

  /// The fields of the response besides `:status`, in lower case.
  package var fields: [(name: String, value: String)] {
    var fields = [(name: "apns-id", value: identifier)]
    if let uniqueIdentifier { fields.append((name: "apns-unique-id", value: uniqueIdentifier)) }
    if !body.isEmpty { fields.append((name: "content-type", value: contentType)) }
    return fields
  }

  private var contentType: String { reason == nil && status >= 300 ? "text/html" : "application/json" }
}

enum MintedIdentifiers {
  /// In APNs' form: upper case, without a version digit.
  static func next() -> String {
    var digits = bytes(16).hexadecimal.uppercased()
    for place in [20, 16, 12, 8] { digits.insert("-", at: digits.index(digits.startIndex, offsetBy: place)) }
    return digits
  }

  static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255) } }
}

extension [UInt8] {
  /// In lower case.
  var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

/// A request for the judge, without socket, stream or clock.
package struct InspectedRequest: Sendable {
  /// The client certificate of a connection.
  package enum Certificate: Sendable {
    /// No client certificate: every request needs a provider token.
    case none
    /// A client certificate for these topics; `authorization` is ignored.
    case topics([String])
    /// An unregistered client certificate.
    case unknown
  }

  package var method: String
  /// `:path`, as sent.
  package var path: String
  /// The fields without the pseudo ones, in order, with names in lower case as HTTP/2 requires. Names may repeat.
  package var fields: [(name: String, value: String)]
  /// The body, cut if ``bodyBytes`` is larger.
  package var body: [UInt8]
  /// The size of the body as sent.
  package var bodyBytes: Int
  package var certificate: Certificate

  /// A request with a whole body.
  package init(
    method: String,
    path: String,
    fields: [(name: String, value: String)],
    body: [UInt8],
    certificate: Certificate = .none
  ) {
    self.method = method
    self.path = path
    self.fields = fields
    self.body = body
    bodyBytes = body.count
    self.certificate = certificate
  }

  /// The first value of a field.
  func value(of name: String) -> String? {
    fields.first { $0.name == name }?.value
  }
}

extension InspectedRequest {
  /// A request over HTTP/2. A body over the server's limit is cut; its size stays.
  init(_ request: HTTP2ServerRequest, certificate: Certificate) {
    self.init(
      method: request.method, path: request.path, fields: request.fields.map { (name: $0.name, value: $0.value) },
      body: request.body, certificate: certificate)
    bodyBytes = request.bodyBytesReceived
  }
}

/// A mistake that APNs silently accepts. It is reported beside the response, never in it.
package struct LintFinding: Hashable, Sendable {
  package enum Code: String, CaseIterable, Codable, Sendable {
    /// A member of `aps` that Apple does not document; a misplaced `priority` or `topic` is the usual one.
    case apsUnknownKey = "aps-unknown-key"
    case missingPushType = "missing-push-type"
    /// `iat` is a string or a fraction.
    case iatNotInteger = "iat-not-integer"
    /// The signature is ASN.1 DER instead of the 64 bytes of RFC 7518 §3.4.
    case derSignature = "der-signature"
    /// An alert push with nothing to show or play, a background push without `content-available`, a widget push without
    /// `content-changed`, or members of a Live Activity in a push of another type.
    case payloadTypeMismatch = "payload-type-mismatch"
    /// A background push that has an alert, a badge or a sound.
    case backgroundWithAlert = "background-with-alert"
    case liveActivityMissingKey = "live-activity-missing-key"
    /// A Live Activity push whose event does not belong to the kind of its token.
    case liveActivityWrongToken = "live-activity-wrong-token"
    /// A Live Activity alert without a title, which is not shown.
    case liveActivityUntitledAlert = "live-activity-untitled-alert"
    case upperCaseToken = "upper-case-token"
  }

  package let code: Code
  /// The member or field; empty when the code is sufficient.
  package let detail: String

  package init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }
}

/// A finding in the form of the control endpoint.
package struct LintEntry: Codable, Equatable, Sendable {
  package let code: LintFinding.Code
  package let detail: String
  /// The number of the request in the push log.
  package let push: Int
}

package typealias LintLog = CountedLog<LintFinding.Code, LintEntry>

extension LintLog {
  mutating func append(_ findings: [LintFinding], push: Int) {
    for finding in findings {
      append(LintEntry(code: finding.code, detail: finding.detail, push: push), as: finding.code)
    }
  }
}
