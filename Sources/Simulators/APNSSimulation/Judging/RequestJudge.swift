/// Decides what APNs would answer to a request: no socket, no clock, the same answer to the same question.
///
/// The order of the checks decides which of several mistakes is named. That method comes before authentication, and
/// authentication before topic and token, was seen on the real service; the rest of the order is ours.
public struct RequestJudge: Sendable {
  private let environment: SimulatedEnvironment
  private var identifiers: MintedIdentifiers
  private var tokens = ProviderTokenCache()
  private var rates = TokenRateMeter()

  /// A judge for one of the two services.
  /// - Parameter seed: where the identifiers that the judge makes are drawn from.
  public init(environment: SimulatedEnvironment, seed: UInt64) {
    self.environment = environment
    identifiers = MintedIdentifiers(seed: seed)
  }

  /// Judges one request.
  ///
  /// - Parameters:
  ///   - binding: what the connection is tied to; an admitted provider token changes it.
  ///   - registry: what the service knows; a scripted answer is used up.
  ///   - now: the time that tokens, expirations and rates are measured by.
  ///   - answer: what a good push is answered instead of the answer of its device.
  public mutating func judge(
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
      return verdict(error, on: inquiry, registry)
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

// From a decision to an answer.
extension RequestJudge {
  private mutating func verdict(
    _ answer: ScriptedAnswer, on inquiry: PushInquiry, _ registry: SimulationRegistry
  ) -> PushVerdict {
    let isSuccess = answer.status == 200
    let reason = isSuccess ? nil : answer.reason
    let rawBody = isSuccess ? nil : answer.rawBody.map { Array($0.utf8) }
    return verdict(
      Outcome(
        status: answer.status, reason: reason,
        timestamp: answer.status == 410 ? inquiry.now.milliseconds : nil, rawBody: rawBody),
      on: inquiry, registry)
  }

  private mutating func verdict(
    _ refusal: Refusal, on inquiry: PushInquiry, _ registry: SimulationRegistry
  ) -> PushVerdict {
    verdict(
      Outcome(status: refusal.status, reason: refusal.reason, timestamp: refusal.timestampMilliseconds, rawBody: nil),
      on: inquiry, registry)
  }

  private struct Outcome {
    let status: Int
    let reason: String?
    let timestamp: Int64?
    let rawBody: [UInt8]?

    var body: [UInt8] {
      if let rawBody { return rawBody }
      return reason.map { AnswerBody.json(reason: $0, timestamp: timestamp) } ?? []
    }
  }

  private mutating func verdict(
    _ outcome: Outcome, on inquiry: PushInquiry, _ registry: SimulationRegistry
  ) -> PushVerdict {
    PushVerdict(
      status: outcome.status,
      reason: outcome.reason,
      timestampMilliseconds: outcome.reason == nil ? nil : outcome.timestamp,
      identifier: identifier(for: inquiry.request),
      uniqueIdentifier: outcome.status == 200 && environment == .sandbox ? identifiers.next() : nil,
      body: outcome.body,
      push: inquiry.push,
      isStored: inquiry.push.isStored(at: inquiry.now),
      findings: inquiry.findings,
      delayMilliseconds: registry.devices[inquiry.push.token.lowercased()]?.delayMilliseconds ?? 0)
  }

  /// The request's own, unless it has none that can be given back.
  private mutating func identifier(for request: InspectedRequest) -> String {
    guard let sent = request.value(of: "apns-id"), PushInquiry.isCanonicalIdentifier(sent) else {
      return identifiers.next()
    }
    return sent
  }
}

/// What a push asks for, as far as the judge got before it refused: the rest keeps its defaults.
public struct JudgedPush: Equatable, Sendable {
  /// The device token as sent.
  public var token = ""
  /// `apns-topic`, or the only topic of a client certificate.
  public var topic = ""
  /// `apns-push-type`; nil when absent.
  public var pushType: SimulatedPushType?
  /// `apns-priority`; 10 when absent.
  public var priority = 10
  /// `apns-expiration` in Unix seconds; nil when absent.
  public var expirationSeconds: Int64?
  /// `apns-collapse-id`; nil when absent.
  public var collapseID: String?
  /// Enough of the provider token's SHA-256 to tell two tokens apart, in hexadecimal; nil without a token.
  public var providerTokenHash: String?

  /// Whether the service keeps the push for a device that is away: not with expiration 0 and not past its time.
  public func isStored(at now: WallInstant) -> Bool {
    guard let expirationSeconds else { return true }
    return expirationSeconds > now.seconds
  }
}

/// The judge's answer to one request, and what it saw on the way.
public struct PushVerdict: Sendable {
  /// The HTTP status.
  public let status: Int
  /// The reason in the body; nil with 200 and with scripted answers that have none.
  public let reason: String?
  /// The `timestamp` in the body, in milliseconds since 1970; only with 410.
  public let timestampMilliseconds: Int64?
  /// The `apns-id` field: the request's, or one that was made, in upper case.
  public let identifier: String
  /// The `apns-unique-id` field: on successes of the sandbox.
  public let uniqueIdentifier: String?
  /// The body; empty with 200.
  public let body: [UInt8]
  /// What the push asked for.
  public let push: JudgedPush
  /// Whether the service would keep the push for a device that is away.
  public let isStored: Bool
  /// What was accepted and should not have been sent.
  public let findings: [LintFinding]
  /// How much longer than usual the answer takes, in milliseconds.
  public let delayMilliseconds: Int

  /// The fields of the answer besides `:status`, in lower case.
  public var fields: [(name: String, value: String)] {
    var fields = [(name: "apns-id", value: identifier)]
    if let uniqueIdentifier { fields.append((name: "apns-unique-id", value: uniqueIdentifier)) }
    if !body.isEmpty { fields.append((name: "content-type", value: contentType)) }
    return fields
  }

  private var contentType: String { reason == nil ? "text/html" : "application/json" }
}

/// Identifiers in the form in which APNs makes them: upper case, with no particular version digit.
///
/// Drawn from a seed, so that a run can be repeated. Nothing rests on their being hard to guess.
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

  /// SplitMix64: one addition and three mixes, and every state is a good one.
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
