internal import HTTP2
internal import Reactors

final class ServedConnection {
  let link: HTTP2ServerConnection
  /// From 1, over all listeners.
  let number: Int
  let certificate: InspectedRequest.Certificate
  var idle: IdleWatch?
  var binding = ProviderBinding()
  var conduct: ConnectionConduct
  /// The highest stream whose request was received.
  var lastStream: Int32 = 0
  /// The last stream of the latest GOAWAY. Later requests may have been read together with the one that caused it.
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
  /// The outer nil means no certificate, the inner nil an unregistered one.
  init(_ known: RegisteredCertificate??) {
    switch known {
    case nil: self = .none
    case .some(nil): self = .unknown
    case .some(let certificate?): self = .topics(certificate.topics)
    }
  }
}

/// The effects of responses on their connection.
package struct ConnectionConduct: Sendable {
  package enum Action: Equatable, Sendable {
    /// Announce this value of SETTINGS_MAX_CONCURRENT_STREAMS.
    case announceStreams(Int)
    /// Send GOAWAY with this reason, and close when the open streams are answered.
    case goAway(reason: String)
  }

  /// The streams that the peer may have open.
  package private(set) var streams: Int

  private var policy: StreamPolicy
  private var badTokens = 0
  private var isEnding = false

  package init(policy: StreamPolicy) {
    self.policy = policy
    streams = policy.startsWithOne ? 1 : policy.streamsMax
  }

  /// Replaces the policy's limit.
  mutating func limit(to streams: Int) {
    policy.streamsMax = streams
    self.streams = streams
  }

  /// Applies a sent response.
  package mutating func answered(status: Int, reason: String?) -> [Action] {
    var actions = setStreams(streams(after: status))
    if (200..<300).contains(status) { badTokens = 0 }
    guard reason == "BadDeviceToken" else { return actions }
    badTokens += 1
    if let limit = policy.badTokensMax, badTokens >= limit, !isEnding {
      isEnding = true
      actions.append(.goAway(reason: "BadDeviceToken"))
    }
    return actions
  }

  /// 410 changes nothing, because a dead token is not the sender's mistake.
  private func streams(after status: Int) -> Int {
    switch status {
    case 200..<300: policy.streamsMax
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

/// Ends a connection without requests. It has one timer, which is rescheduled after a request.
final class IdleWatch: TimerHandler {
  private let limit: Duration
  /// Both unowned: the server owns its connections, a connection owns its watch, and a closed one stops it.
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

  func restart() {
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
      // A connection with an open request is not idle.
      timer = reactor.schedule(after: limit, self)
    } else {
      server.sayGoodbye("IdleTimeout", connection, on: reactor)
    }
  }
}
