internal import HTTP2
package import Logging
package import PushRules
package import Reactors

/// Sends pushes of one team and key to APNs from one reactor: a pool of connections for each host, one provider token for all.
package final class APNSClient {
  private let configuration: APNSConfiguration
  let tokens: ProviderTokenSource
  let pools: [APNSEnvironment: APNSConnections]
  let logger: Logger

  /// Requests beyond the first of a push, so far.
  package private(set) var resends = 0

  /// Makes a client; connections are opened by ``warmUp(_:on:)`` or by the first push.
  /// - Parameters:
  ///   - endpoints: where each environment is.
  ///   - context: from ``makeContext(certificatesFile:)``, for all reactors.
  package init(
    endpoints: [APNSEnvironment: APNSEndpoint], context: TLSContext, tokens: ProviderTokenSource,
    configuration: APNSConfiguration = APNSConfiguration(), logger: Logger
  ) {
    self.configuration = configuration
    self.tokens = tokens
    self.logger = logger
    pools = endpoints.mapValues {
      APNSConnections(to: $0, context: context, configuration: configuration, tokens: tokens, logger: logger)
    }
  }

  /// Sends a push, waiting for a connection if necessary, and resends it when APNs provably did not process it.
  ///
  /// The usual push suspends once, for its answer. Each further asynchronous call looks up the task's executor twice under a
  /// lock, which is a measurable part of a push's cost.
  /// - Parameters:
  ///   - deadline: in monotonic nanoseconds, as `Reactor.now`; ends the waits for a connection, a stream and the answer,
  ///     resends included.
  ///   - permit: asked once a stream is free, for every request.
  ///   - answers: counts the ends of all requests, resends included.
  @inline(__always)  // For the same reason; the router is the caller that counts.
  package func send(
    _ request: APNSRequest, to environment: APNSEnvironment, until deadline: UInt64, permit: PushPermit? = nil,
    counting answers: AnswerCounters? = nil, on reactor: isolated Reactor
  ) async -> APNSOutcome {
    guard let pool = pools[environment] else { return .notProcessed(cause: "no such environment") }
    let sendBy = Self.latestSend(until: deadline)
    var resends = 0
    while true {
      var admission = pool.admitAtOnce(on: reactor)
      if admission == nil { admission = await pool.admit(until: sendBy, on: reactor) }
      guard let link = admission else { return notAdmitted(to: pool) }
      guard permit?.isValid != false else {
        pool.giveBack(link, on: reactor)
        return .withdrawn
      }
      // A process that was stopped meanwhile still has its permits, but another may have claimed the push.
      guard Reactor.now < sendBy else {
        pool.giveBack(link, on: reactor)
        return notAdmitted(to: pool)
      }
      link.token.adopt(tokens.current)
      let outcome = await link.connection.send(
        request.overHTTP2(authorization: link.token.token.authorization), until: deadline, on: reactor)
      if case .response(let response) = outcome { pool.compareClocks(with: response, over: link) }
      let attempt = APNSOutcome(outcome)
      pool.release(link, after: attempt, on: reactor)
      answers?.count(attempt)
      if attempt.disposition == .accepted { return attempt }
      guard resends < configuration.resendsMax, mayResend(attempt, over: link, of: pool, on: reactor),
        Reactor.now < sendBy
      else { return attempt }
      resends += 1
      self.resends += 1
    }
  }

  /// When it is too late to send. A push that waited so long for a stream is put off: its answer would come after the limit, and the
  /// push would be sent again, though APNs has it.
  private static func latestSend(until deadline: UInt64) -> UInt64 {
    let left = deadline - min(Reactor.now, deadline)
    return deadline - min(answerTime.clampedNanoseconds, left / 10)
  }

  /// What an answer takes at the most, as a rule; of a short limit a tenth.
  private static let answerTime = Duration.seconds(1)

  private func notAdmitted(to pool: APNSConnections) -> APNSOutcome {
    if let reason = pool.configurationFault, pool.usableLinks == 0 { return .refused(reason) }
    let cause = pool.usableLinks > 0 ? "no stream was free in time" : pool.lastFailure ?? "no connection in time"
    return .notProcessed(cause: cause)
  }
}

extension APNSOutcome {
  fileprivate init(_ outcome: HTTP2Outcome) {
    self =
      switch outcome {
      case .response(let response): .answered(APNSAnswer(response))
      case .notProcessed(let cause): .notProcessed(cause: "\(cause)")
      case .unknown(let cause): .unknown(cause: "\(cause)")
      }
  }
}

extension APNSAnswer {
  fileprivate init(_ response: HTTP2Response) {
    self.init(status: response.status, identifier: response.fields["apns-id"], body: response.body)
    guard status == 429 || status >= 500 else { return }
    retryAfter = RetryAfter.wait(response.fields["retry-after"], date: response.fields["date"])
  }
}

extension APNSRequest {
  /// Unique values would push the others out of the small compression table.
  fileprivate func overHTTP2(authorization: String) -> HTTP2Request {
    var fields = HTTP2Fields(reservingBytes: 512)
    fields.append("authorization", authorization)
    forEachField { fields.append($0, $1, isIndexed: !$2) }
    return HTTP2Request(method: "POST", path: path, fields: fields, body: body)
  }
}

// The connections: opened ahead of need, examined by operators and readiness checks, and closed.
extension APNSClient {
  /// A context that trusts the system's authorities, and those of a file of certificates if one is given.
  /// - Throws: `TLSError` when the file cannot be read or holds no certificate.
  package static func makeContext(certificatesFile: String?) throws(TLSError) -> TLSContext {
    try TLSContext(trusting: certificatesFile.map { .systemAnd(.file($0)) } ?? .system, protocols: ["h2"])
  }

  /// Opens a connection to an environment ahead of the first push, and keeps it open.
  package func warmUp(_ environment: APNSEnvironment, on reactor: isolated Reactor) {
    pools[environment]?.warmUp(on: reactor)
  }

  /// Whether a connection to the environment is open and answers.
  package func isConnected(to environment: APNSEnvironment) -> Bool {
    (pools[environment]?.usableLinks ?? 0) > 0
  }

  /// Whether pushes can go: a connection is open, or APNs closed it as idle and the next push opens another.
  package func isReady(for environment: APNSEnvironment) -> Bool {
    pools[environment]?.isReady ?? false
  }

  /// Why pushes cannot reach the environment, or why it refuses all of them, in a sentence for an operator; nil
  /// without a known fault.
  package func failure(of environment: APNSEnvironment) -> String? {
    pools[environment]?.failure
  }

  /// Connections that are open to the environment and answer, without draining ones.
  package func connections(to environment: APNSEnvironment) -> Int {
    pools[environment]?.usableLinks ?? 0
  }

  package func connectionsOpened(to environment: APNSEnvironment) -> Int {
    pools[environment]?.connectionsOpened ?? 0
  }

  /// Pushes on a connection to the environment, and pushes that wait for a free stream there.
  package func pushes(to environment: APNSEnvironment) -> (inFlight: Int, waiting: Int) {
    guard let pool = pools[environment] else { return (0, 0) }
    return (pool.links.reduce(0) { $0 + $1.inFlight }, pool.queue.count)
  }

  /// Closes every connection after its last answer.
  package func close(on reactor: isolated Reactor) {
    for pool in pools.values { pool.close(on: reactor) }
  }
}

// What follows an attempt that APNs did not accept.
extension APNSClient {
  /// Does what the attempt asks for; whether the push can go again at once.
  func mayResend(
    _ attempt: APNSOutcome, over link: APNSLink, of pool: APNSConnections, on reactor: isolated Reactor
  ) -> Bool {
    if case .notProcessed = attempt { return true }
    switch attempt.disposition {
    case .refreshProviderToken:
      return replaceToken(over: link, of: pool, on: reactor)
    case .reconnect:
      pool.replace(link, on: reactor)
      return true
    default:
      return false
    }
  }

  /// APNs keeps refusing a connection on which it has seen an expired token, so the connection is replaced too.
  private func replaceToken(over link: APNSLink, of pool: APNSConnections, on reactor: isolated Reactor) -> Bool {
    do {
      guard try tokens.replace(link.token.token) else { return false }
      pool.replace(link, on: reactor)
      return true
    } catch {
      logger.error("cannot sign a provider token", metadata: ["error": "\(error)"])
      return false
    }
  }
}

/// How the client behaves towards one APNs host. Each pool, one for each environment and reactor, counts for itself.
package struct APNSConfiguration: Sendable {
  /// The whole time for name look-up, connect and handshake.
  package var connectLimit = Duration.seconds(5)

  /// How long a push waits for a connection. The facts of its decision get old meanwhile; a push that comes back later is
  /// decided anew.
  package var connectionWait = Duration.seconds(1)

  /// Resends of a push that APNs provably did not process. Each needs a separate fault; more than three in a row are an
  /// outage, which the queue handles better.
  package var resendsMax = 3

  /// Connections at once, without draining ones. APNs grants 1,000 streams and answers in some 100 ms, so four carry 40,000
  /// pushes a second, more than one reactor makes. Apple publishes no limit.
  package var connectionsMax = 4

  /// How long seven eighths of the streams must be in use before another connection is opened. Longer than the burst of
  /// one large group message, shorter than a recipient notices.
  package var growAfter = Duration.milliseconds(250)

  /// How long half of the other connections' streams must have been enough before one is closed; the last one stays.
  /// APNs wants connections kept for hours, so one opened for a peak serves the next peaks too.
  package var shrinkAfter = Duration.seconds(30 * 60)

  /// Connects in quick succession; after them, one per ``connectInterval``. With two seconds, no minute sees more than 50.
  /// Apple publishes no limit; one a second is said to be punished.
  package var connectBurst = 20

  package var connectInterval = Duration.seconds(2)

  var http2 = Self.http2Defaults

  package init() {}

  /// With requests on the wire a live connection is never silent for a second. After one second comes the PING, half a second
  /// later another connection: pushes flow again in less than two. Requests on the dead connection end after three and a half.
  private static var http2Defaults: HTTP2ClientConfiguration {
    var configuration = HTTP2ClientConfiguration()
    // APNs allows one stream until it has answered a request with a valid token, and says so in its settings.
    configuration.initialStreamsMax = 1
    configuration.silenceBeforePing = .seconds(1)
    configuration.pingLateAfter = .milliseconds(500)
    configuration.pingTimeout = .milliseconds(2500)
    return configuration
  }
}

package struct APNSEndpoint: Hashable, Sendable {
  /// A name or numeric address; the certificate must be for it.
  package let host: String

  /// 443, or 2197 for firewalls that block it.
  package let port: UInt16

  package init(host: String, port: UInt16 = 443) {
    self.host = host
    self.port = port
  }
}
