/// What the answers on one connection do to the connection itself.
public struct ConnectionConduct: Sendable {
  /// What is to be done after an answer.
  public enum Action: Equatable, Sendable {
    /// SETTINGS_MAX_CONCURRENT_STREAMS has this new value.
    case announceStreams(Int)
    /// Say goodbye with this reason and close when the open streams are answered.
    case goAway(reason: String)
  }

  /// The streams the peer may have open now.
  public private(set) var streams: Int

  private var policy: StreamPolicy
  private var badTokens = 0
  private var isEnding = false

  /// A fresh connection.
  public init(policy: StreamPolicy) {
    self.policy = policy
    streams = policy.startsWithOne ? 1 : policy.streamsMax
  }

  /// Another limit holds from now on, in place of the policy's.
  mutating func limit(to streams: Int) {
    policy.streamsMax = streams
    self.streams = streams
  }

  /// Takes note of an answer that has been given.
  public mutating func answered(status: Int, reason: String?) -> [Action] {
    var actions = setStreams(streams(after: status))
    if status == 200 { badTokens = 0 }
    guard reason == "BadDeviceToken" else { return actions }
    badTokens += 1
    if let limit = policy.badTokensMax, badTokens >= limit, !isEnding {
      isEnding = true
      actions.append(.goAway(reason: "BadDeviceToken"))
    }
    return actions
  }

  /// A dead token is the device's fault and not the sender's: 410 changes nothing on a trusted connection.
  private func streams(after status: Int) -> Int {
    switch status {
    case 200: policy.streamsMax
    case 410: streams
    default: policy.dropsAfterRefusal ? 1 : streams
    }
  }

  private mutating func setStreams(_ wanted: Int) -> [Action] {
    guard wanted != streams else { return [] }
    streams = wanted
    return [.announceStreams(wanted)]
  }
}
