internal import HTTP2
internal import Reactors

/// One client's connection and what is remembered about it.
final class ServedConnection {
  let link: HTTP2ServerConnection
  /// Since the start of the simulator, over all listeners, from 1.
  let number: Int
  let certificate: InspectedRequest.Certificate
  var idle: IdleWatch?
  var binding = ProviderBinding()
  var conduct: ConnectionConduct
  /// The highest stream whose request was received.
  var lastStream: Int32 = 0
  /// What the latest GOAWAY promised. Requests above it may have been read together with the one that caused it.
  var processedMax = Int32.max

  init(
    _ link: HTTP2ServerConnection, number: Int, certificate: InspectedRequest.Certificate, policy: StreamPolicy
  ) {
    self.link = link
    self.number = number
    self.certificate = certificate
    conduct = ConnectionConduct(policy: policy)
  }
}

extension InspectedRequest.Certificate {
  /// What is known of a connection's certificate: nil outside when it showed none, nil inside when nobody registered it.
  init(_ known: RegisteredCertificate??) {
    switch known {
    case nil: self = .none
    case .some(nil): self = .unknown
    case .some(let certificate?): self = .topics(certificate.topics)
    }
  }
}

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

/// Finds out when a connection has carried no request for a while. One timer, which moves on when there was one.
final class IdleWatch: TimerHandler {
  private let limit: Duration
  /// Unowned, both: the server holds its connections, a connection its watch, and a closed one stops it.
  private unowned let connection: ServedConnection
  private unowned let server: PushServer
  private var quietSince = Reactor.now
  private var timer: TimerToken?

  init(_ limit: Duration, _ connection: ServedConnection, of server: PushServer, on reactor: isolated Reactor) {
    self.limit = limit
    self.connection = connection
    self.server = server
    timer = reactor.schedule(after: limit, self)
  }

  func noteActivity() {
    quietSince = Reactor.now
  }

  func stop(on reactor: isolated Reactor) {
    if let timer { reactor.cancel(timer) }
    timer = nil
  }

  func timerFired(_ token: TimerToken, on reactor: isolated Reactor) {
    timer = nil
    let left = limit - .nanoseconds(Int64(Reactor.now - quietSince))
    if left > .zero {
      timer = reactor.schedule(after: left, self)
    } else if connection.link.openStreams > 0 {
      // A connection with a request under way is not idle.
      timer = reactor.schedule(after: limit, self)
    } else {
      server.sayGoodbye("IdleTimeout", connection, on: reactor)
    }
  }
}
