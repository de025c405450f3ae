public import APNSCore
internal import HTTP2
public import Reactors
public import TLSStreams

/// Creates, examines, lists and deletes the broadcast channels of the apps of one team and key, from one reactor.
///
/// For the few calls of operators and hosts. Keeps one connection for each environment from its first call on. A call that APNs
/// provably did not process is sent once more. One without an answer is not, because another creation would make another channel:
/// ``list(in:of:on:)`` tells whether it was made. Source: "Sending channel management requests to APNs" (Apple).
public final class APNSChannels {
  /// The most channels of one app and environment. Apple allows as many.
  public static let channelsMax = 10_000

  private let connections: ChannelConnections
  private let limit: Duration

  /// Connects nothing yet.
  /// - Parameters:
  ///   - endpoints: where the channels of each environment are managed. context: from
  ///     ``APNSClient/makeContext(certificatesFile:)``, for all reactors.
  ///   - limit: the whole time of a call, its connect included.
  public init(
    endpoints: [APNSEnvironment: APNSEndpoint], context: TLSContext, tokens: ProviderTokenSource,
    limit: Duration = .seconds(5)
  ) {
    connections = ChannelConnections(to: endpoints, context: context, tokens: tokens)
    self.limit = limit
  }

  /// Creates a channel of an app.
  /// - Throws: ``APNSChannelsError``. Where its outcome is unknown, APNs may have created a channel.
  public func create(
    in app: BundleIdentifier, of environment: APNSEnvironment, storage: ChannelStorage, on reactor: isolated Reactor
  ) async throws(APNSChannelsError) -> ChannelIdentifier {
    let call = ChannelCall(.post, .channels, of: app, body: ChannelDocument(storage).encoded())
    let response = try await answer(to: call, in: environment, on: reactor)
    guard let text = response.fields["apns-channel-id"], let channel = try? ChannelIdentifier(text) else {
      throw APNSChannelsError(unreadable: response)
    }
    return channel
  }

  /// What APNs keeps of the pushes to a channel.
  /// - Throws: ``APNSChannelsError``, whose disposition for an unknown channel is to drop it.
  public func storage(
    of channel: ChannelIdentifier, in app: BundleIdentifier, of environment: APNSEnvironment,
    on reactor: isolated Reactor
  ) async throws(APNSChannelsError) -> ChannelStorage {
    let response = try await answer(
      to: ChannelCall(.get, .channels, of: app, channel: channel), in: environment, on: reactor)
    guard let document = ChannelDocument(reading: response.body) else { throw APNSChannelsError(unreadable: response) }
    return document.storage
  }

  /// Deletes a channel for good; one that is gone already, or was never there, is a success. A push that APNs has stored may
  /// still arrive.
  /// - Throws: ``APNSChannelsError``. Deleting again does no harm.
  public func delete(
    _ channel: ChannelIdentifier, in app: BundleIdentifier, of environment: APNSEnvironment,
    on reactor: isolated Reactor
  ) async throws(APNSChannelsError) {
    do throws(APNSChannelsError) {
      _ = try await answer(
        to: ChannelCall(.delete, .channels, of: app, channel: channel), in: environment, on: reactor)
    } catch {
      guard error.saysGone else { throw error }
    }
  }

  /// All channels of an app, in APNs' order.
  /// - Throws: ``APNSChannelsError``, also for more channels than ``channelsMax`` and for one that cannot be one.
  public func list(
    in app: BundleIdentifier, of environment: APNSEnvironment, on reactor: isolated Reactor
  ) async throws(APNSChannelsError) -> [ChannelIdentifier] {
    let response = try await answer(to: ChannelCall(.get, .allChannels, of: app), in: environment, on: reactor)
    guard let channels = ChannelDocument.channels(listedIn: response.body) else {
      throw APNSChannelsError(unreadable: response)
    }
    return channels
  }

  /// Closes the connections after their last answers; later calls fail.
  public func close(on reactor: isolated Reactor) {
    connections.close(on: reactor)
  }
}

// One call: a connection, a request, and another one where that helps.
extension APNSChannels {
  private func answer(
    to call: ChannelCall, in environment: APNSEnvironment, on reactor: isolated Reactor
  ) async throws(APNSChannelsError) -> HTTP2Response {
    let deadline = Reactor.now &+ limit.clampedNanoseconds
    var mayRepeat = true
    while true {
      let link = try await connections.link(to: environment, until: deadline, on: reactor)
      let outcome = await link.connection.send(
        call.request(authorization: link.authorization), until: deadline, on: reactor)
      if case .response(let response) = outcome, (200...299).contains(response.status) { return response }
      let attempt = PushAttempt(outcome, from: .broadcasts)
      let isWorthwhile = connections.follow(attempt, over: link, to: environment, on: reactor)
      guard isWorthwhile, mayRepeat, Reactor.now < deadline else { throw APNSChannelsError(attempt) }
      mayRepeat = false
    }
  }
}
