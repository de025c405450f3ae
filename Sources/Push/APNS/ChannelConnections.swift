internal import APNSCore
internal import Delivery
internal import HTTP2
internal import Reactors
internal import TLSStreams

/// The connections to the management of channels: one for each environment, opened by the first call and kept.
///
/// Not ``APNSConnections``, which keep connections open ahead of need and share the load of thousands of pushes.
final class ChannelConnections {
  /// A connection and the provider token that it shows.
  final class Link {
    let connection: HTTP2Connection
    fileprivate var token: ShownToken

    fileprivate init(_ connection: HTTP2Connection, _ token: ProviderToken) {
      self.connection = connection
      self.token = ShownToken(token)
    }

    /// The header field's value.
    var authorization: String { token.token.authorization }
  }

  private let endpoints: [APNSEnvironment: APNSEndpoint]
  private let context: TLSContext
  private let tokens: ProviderTokenSource
  private var links: [APNSEnvironment: Link] = [:]
  private var isClosed = false

  init(to endpoints: [APNSEnvironment: APNSEndpoint], context: TLSContext, tokens: ProviderTokenSource) {
    self.endpoints = endpoints
    self.context = context
    self.tokens = tokens
  }

  /// The connection to an environment, opened if there is none that works.
  /// - Throws: ``APNSChannelsError``: nothing was sent.
  func link(
    to environment: APNSEnvironment, until deadline: UInt64, on reactor: isolated Reactor
  ) async throws(APNSChannelsError) -> Link {
    if usableLink(to: environment) == nil {
      let link = try await connect(to: environment, until: deadline, on: reactor)
      // Another call may have been faster, or the last one.
      if isClosed || usableLink(to: environment) != nil {
        link.connection.close(on: reactor)
      } else {
        links[environment]?.connection.drain(on: reactor)
        links[environment] = link
      }
    }
    guard let link = usableLink(to: environment) else { throw Self.notSent("closed") }
    link.token.adopt(tokens.current)
    return link
  }

  /// Follows what the end of a request says about its connection. One without an answer is not used again, and neither is
  /// one that APNs calls stuck.
  /// - Returns: whether the request can go again.
  func follow(
    _ attempt: PushAttempt, over link: Link, to environment: APNSEnvironment, on reactor: isolated Reactor
  ) -> Bool {
    let mayGo = mayGoAgain(after: attempt, over: link)
    if mayGo || attempt.status == nil {
      link.connection.drain(on: reactor)
      if links[environment] === link { links[environment] = nil }
    }
    return mayGo
  }

  private func mayGoAgain(after attempt: PushAttempt, over link: Link) -> Bool {
    if case .failed(.notProcessed) = attempt { return true }
    switch attempt.disposition {
    case .refreshProviderToken: return (try? tokens.replace(link.token.token)) ?? false
    case .reconnect: return true
    default: return false
    }
  }

  func close(on reactor: isolated Reactor) {
    isClosed = true
    for link in links.values { link.connection.drain(on: reactor) }
    links = [:]
  }

  private func usableLink(to environment: APNSEnvironment) -> Link? {
    guard !isClosed, let link = links[environment], link.connection.state == .ready, !link.connection.isSuspect else {
      return nil
    }
    return link
  }

  private func connect(
    to environment: APNSEnvironment, until deadline: UInt64, on reactor: isolated Reactor
  ) async throws(APNSChannelsError) -> Link {
    guard !isClosed, let endpoint = endpoints[environment] else { throw Self.notSent("no such environment") }
    let rest = Duration.nanoseconds(Int64(clamping: deadline - min(deadline, Reactor.now)))
    do {
      let connection = try await HTTP2Connection.connect(
        host: endpoint.host, port: endpoint.port, context: context, configuration: Self.http2, within: rest,
        on: reactor)
      return Link(connection, tokens.current)
    } catch {
      throw Self.notSent("cannot connect to \(endpoint.host), port \(endpoint.port): \(error)")
    }
  }

  private static func notSent(_ cause: String) -> APNSChannelsError {
    APNSChannelsError(.failed(.notProcessed(cause: cause)))
  }

  /// APNs allows one stream until it has seen a valid token. A call fails before silence could be noticed.
  private static let http2 = {
    var configuration = HTTP2ClientConfiguration()
    configuration.initialStreamsMax = 1
    configuration.responseBodyBytesMax = ChannelDocument.listBytesMax
    return configuration
  }()
}
