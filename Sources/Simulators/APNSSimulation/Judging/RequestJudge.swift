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
