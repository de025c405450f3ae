internal import SimulationControl

/// Broadcasts and channel management.
extension RequestJudge {
  /// The response to a good request besides a push.
  private struct Success {
    var status = 200
    var body: [UInt8] = []
    var issuedChannel: String?
  }

  private struct ChannelList: Encodable {
    let channels: [String]
  }

  /// Judges a request that is not for the device endpoint. A scripted answer replaces the effects of a good request.
  mutating func judge(
    _ target: RequestTarget, _ inquiry: inout PushInquiry, binding: inout ProviderBinding,
    registry: inout SimulationRegistry, answering answer: ScriptedAnswer?
  ) -> PushVerdict {
    inquiry.push.kind = target.kind
    do throws(Refusal) {
      try authenticate(&inquiry, &binding, registry, isKnown: target != .unknown(target.kind))
      let success = try carryOut(target, &inquiry, &registry, isScripted: answer.map { $0.status != 200 } ?? false)
      if let answer, answer.status != 200 { return verdict(answer, on: inquiry, registry) }
      return verdict(success, on: inquiry)
    } catch {
      return verdict(error.status, error.reason, error.timestampMilliseconds, on: inquiry, registry)
    }
  }

  private mutating func authenticate(
    _ inquiry: inout PushInquiry, _ binding: inout ProviderBinding, _ registry: SimulationRegistry, isKnown: Bool
  ) throws(Refusal) {
    guard isKnown else { throw .badPath }
    try inquiry.checkRepeatedFields()
    try inquiry.authenticate(&tokens, &binding, registry: registry)
  }

  private mutating func carryOut(
    _ target: RequestTarget, _ inquiry: inout PushInquiry, _ registry: inout SimulationRegistry, isScripted: Bool
  ) throws(Refusal) -> Success {
    switch target {
    case .create(let bundle):
      try checkApp(bundle, &inquiry, registry)
      return try create(inquiry, &registry, isScripted: isScripted)
    case .read(let bundle):
      try checkApp(bundle, &inquiry, registry)
      let channel = try inquiry.channel(registry: registry).channel
      return Success(body: ChannelConfiguration(channel.policy).json)
    case .delete(let bundle):
      try checkApp(bundle, &inquiry, registry)
      return try delete(&inquiry, &registry, isScripted: isScripted)
    case .list(let bundle):
      try checkApp(bundle, &inquiry, registry)
      let owner = ChannelName.Owner(environment: inquiry.environment, bundle: bundle)
      let list = ChannelList(channels: registry.channels.identifiers(of: owner))
      return Success(body: (try? sortedJSON(list)) ?? [])
    case .broadcast(let bundle):
      try checkApp(bundle, &inquiry, registry)
      try inquiry.checkBroadcastFields(inquiry.channel(registry: registry).channel.policy)
      try inquiry.checkBroadcastPayload()
      return Success()
    case .device, .unknown: throw .badPath
    }
  }

  private func checkApp(
    _ bundle: String, _ inquiry: inout PushInquiry, _ registry: SimulationRegistry
  ) throws(Refusal) {
    try inquiry.checkApp(bundle, registry: registry)
    try inquiry.checkRequestIdentifier()
  }

  private mutating func create(
    _ inquiry: PushInquiry, _ registry: inout SimulationRegistry, isScripted: Bool
  ) throws(Refusal) -> Success {
    let configuration = try ChannelConfiguration(inquiry.request)
    let owner = ChannelName.Owner(environment: inquiry.environment, bundle: inquiry.bundle)
    guard !registry.channels.isFull(owner) else { throw .badRequest("CannotCreateChannelConfig") }
    guard !isScripted else { return Success() }
    let identifier = identifiers.channel()
    registry.channels.add(SimulatedChannel(policy: configuration.policy), as: ChannelName(identifier, of: owner))
    return Success(status: 201, issuedChannel: identifier)
  }

  /// An unknown channel is reported as a bad path (observed).
  private func delete(
    _ inquiry: inout PushInquiry, _ registry: inout SimulationRegistry, isScripted: Bool
  ) throws(Refusal) -> Success {
    let name = try inquiry.channelName()
    guard registry.channels[name] != nil else { throw .badPath }
    if !isScripted { registry.channels.delete(name) }
    return Success(status: 204)
  }

  private mutating func verdict(_ success: Success, on inquiry: PushInquiry) -> PushVerdict {
    PushVerdict(
      status: success.status,
      reason: nil,
      timestampMilliseconds: nil,
      identifier: identifier(for: inquiry),
      uniqueIdentifier: inquiry.push.kind == .broadcast ? identifiers.next() : nil,
      issuedChannel: success.issuedChannel,
      body: success.body,
      push: inquiry.push,
      isStored: inquiry.push.isStored(at: inquiry.now),
      findings: inquiry.findings,
      delayMilliseconds: 0)
  }
}
