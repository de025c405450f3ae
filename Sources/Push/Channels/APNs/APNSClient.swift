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
    _ request: PushRequest, to environment: APNSEnvironment, until deadline: UInt64, permit: PushPermit? = nil,
    counting answers: AnswerCounters? = nil, on reactor: isolated Reactor
  ) async -> PushAttempt {
    guard let pool = pools[environment] else { return .failed(.notProcessed(cause: "no such environment")) }
    var resends = 0
    while true {
      var admission = pool.admitAtOnce(on: reactor)
      if admission == nil { admission = await pool.admit(until: deadline, on: reactor) }
      guard let link = admission else { return notAdmitted(to: pool) }
      guard permit?.isValid != false else {
        pool.giveBack(link, on: reactor)
        return .withdrawn
      }
      // A process that was stopped meanwhile still has its permits, but another may have claimed the push.
      guard Reactor.now < deadline else {
        pool.giveBack(link, on: reactor)
        return notAdmitted(to: pool)
      }
      link.token.adopt(tokens.current)
      let outcome = await link.connection.send(
        request.overHTTP2(authorization: link.token.token.authorization), until: deadline, on: reactor)
      let attempt = attempt(endedBy: outcome, over: link, of: pool)
      pool.release(link, after: attempt, on: reactor)
      answers?.count(attempt)
      if attempt.disposition == .accepted { return attempt }
      guard resends < configuration.resendsMax, mayResend(attempt, over: link, of: pool, on: reactor),
        Reactor.now < deadline
      else { return attempt }
      resends += 1
      self.resends += 1
    }
  }

  private func attempt(
    endedBy outcome: HTTP2Outcome, over link: APNSLink, of pool: APNSConnections
  ) -> PushAttempt {
    if case .response(let response) = outcome { pool.compareClocks(with: response, over: link) }
    return PushAttempt(outcome)
  }

  private func notAdmitted(to pool: APNSConnections) -> PushAttempt {
    if let reason = pool.configurationFault, pool.usableLinks == 0 { return .refused(reason) }
    let cause = pool.usableLinks > 0 ? "no stream was free in time" : pool.lastFailure ?? "no connection in time"
    return .failed(.notProcessed(cause: cause))
  }
}

extension PushAttempt {
  fileprivate init(_ outcome: HTTP2Outcome) {
    self =
      switch outcome {
      case .response(let response): .answered(PushAnswer(response))
      case .notProcessed(let cause): .failed(.notProcessed(cause: "\(cause)"))
      case .unknown(let cause): .failed(.unknown(cause: "\(cause)"))
      }
  }
}

extension PushAnswer {
  fileprivate init(_ response: HTTP2Response) {
    self.init(status: response.status, identifier: response.fields["apns-id"], body: response.body)
    guard status == 429 || status >= 500 else { return }
    retryAfter = RetryAfter.wait(response.fields["retry-after"], date: response.fields["date"])
  }
}

extension PushRequest {
  /// Unique values would push the others out of the small compression table.
  fileprivate func overHTTP2(authorization: String) -> HTTP2Request {
    var fields = HTTP2Fields(reservingBytes: 512)
    fields.append("authorization", authorization)
    head.forEachField { fields.append($0, $1, isIndexed: !$2) }
    return HTTP2Request(method: "POST", path: head.path, fields: fields, body: body)
  }
}
