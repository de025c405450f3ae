/// Decides APNs' response to a request, without socket or clock. Equal requests in equal states get equal responses.
///
/// The order of the checks decides which of several mistakes is reported. The real service checks the method before
/// authentication, and authentication before topic and token; the rest of the order is our choice.
package struct RequestJudge: Sendable {
  private let environment: SimulatedEnvironment
  private var identifiers: MintedIdentifiers
  private var tokens = ProviderTokenCache()
  private var rates = TokenRateMeter()

  /// A judge for one of the two services.
  /// - Parameter seed: the seed of made identifiers.
  package init(environment: SimulatedEnvironment, seed: UInt64) {
    self.environment = environment
    identifiers = MintedIdentifiers(seed: seed)
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
    var inquiry = PushInquiry(request, environment: environment, now: now)
    do throws(Refusal) {
      try check(&inquiry, &binding, registry)
      let answer = answer ?? registry.takeAnswer(token: inquiry.push.token.lowercased())
      return verdict(answer ?? ScriptedAnswer(status: 200), on: inquiry, registry)
    } catch {
      return verdict(error.status, error.reason, error.timestampMilliseconds, on: inquiry, registry)
    }
  }

  private mutating func check(
    _ inquiry: inout PushInquiry, _ binding: inout ProviderBinding, _ registry: SimulationRegistry
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

  private mutating func checkRate(of inquiry: PushInquiry, _ registry: SimulationRegistry) throws(Refusal) {
    guard let rate = registry.tokenRate else { return }
    guard rates.admits(inquiry.push.token.lowercased(), rate, now: inquiry.now) else { throw .tooManyRequests }
  }
}

// From a decision to a response.
extension RequestJudge {
  private mutating func verdict(
    _ answer: ScriptedAnswer, on inquiry: PushInquiry, _ registry: SimulationRegistry
  ) -> PushVerdict {
    if answer.status == 200 { return verdict(200, nil, nil, on: inquiry, registry) }
    return verdict(
      answer.status, answer.reason, answer.status == 410 ? inquiry.now.milliseconds : nil,
      rawBody: answer.rawBody.map { Array($0.utf8) }, on: inquiry, registry)
  }

  private mutating func verdict(
    _ status: Int, _ reason: String?, _ timestamp: Int64?, rawBody: [UInt8]? = nil, on inquiry: PushInquiry,
    _ registry: SimulationRegistry
  ) -> PushVerdict {
    PushVerdict(
      status: status,
      reason: reason,
      timestampMilliseconds: reason == nil ? nil : timestamp,
      identifier: identifier(for: inquiry),
      uniqueIdentifier: status == 200 && environment == .sandbox ? identifiers.next() : nil,
      body: rawBody ?? reason.map { AnswerBody.json(reason: $0, timestamp: timestamp) } ?? [],
      push: inquiry.push,
      isStored: inquiry.push.isStored(at: inquiry.now),
      findings: inquiry.findings,
      delayMilliseconds: registry.devices[inquiry.push.token.lowercased()]?.delayMilliseconds ?? 0)
  }

  /// The request's own identifier if it is well-formed, else a new one.
  private mutating func identifier(for inquiry: PushInquiry) -> String {
    guard let sent = inquiry.request.value(of: "apns-id"),
      PushInquiry.isCanonicalIdentifier(sent)
    else {
      return identifiers.next()
    }
    return sent
  }
}

/// The attributes of a push. Those that a refusal left unread keep their defaults.
package struct JudgedPush: Equatable, Sendable {
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
  package let push: JudgedPush
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

/// Identifiers in APNs' form: upper case, without a version digit.
///
/// A seed makes a run repeatable. They need not be hard to guess.
struct MintedIdentifiers {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> String {
    let digits = Self.hexadecimal(draw()) + Self.hexadecimal(draw())
    var text = ""
    for (index, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(index) { text.append("-") }
      text.append(digit)
    }
    return text
  }

  /// Bytes for names of other forms.
  mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: draw()) }
  }

  /// SplitMix64: one addition and three mixes; every state is valid.
  private mutating func draw() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  private static func hexadecimal(_ value: UInt64) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
