public import APNSCore
internal import FoundationEssentials
public import Postgres
public import Reactors

/// A broadcast channel with its stream of states.
public struct BroadcastChannel: Sendable {
  /// The name that a server has given it.
  public let id: String
  /// Apple's id; nil while Apple makes it.
  public let channelID: String?
  /// The app's bundle identifier.
  public let app: String?
  /// `production` or `sandbox`.
  public let environment: String?
  /// What APNs keeps of its pushes.
  public let storage: ChannelStorage
  /// Why APNs takes no more pushes of it; nil while it does.
  public let goneBecause: String?
  /// The name of the type of its states.
  public let type: String
  /// The number of the newest state.
  public let version: Int
  /// Whether its stream has ended.
  public let isEnded: Bool
  /// The newest state.
  public let state: PayloadObject
}

extension PushDatabase {
  /// Channels of an answer at the most: as many as Apple allows.
  private static let channelsMax = 10_000

  /// Notes a channel that is about to be made.
  /// - Parameter state: the first one, a JSON text; nil for the type's.
  /// - Returns: false when the name is taken.
  public func noteChannel(
    _ id: String, type: String, state: String?, app: String, environment: String, storage: ChannelStorage,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    try await pool.query(
      .noteChannel(
        channel: id, type: type, state: state, app: app, environment: environment, storage: storage.rawValue),
      on: reactor
    ).one().decode(0)
  }

  /// Keeps the id that Apple has given a channel.
  /// - Returns: false when the channel is gone, or has an id.
  public func completeChannel(
    _ id: String, channelID: String, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    try await pool.query(.completeChannel(channel: id, channelID: channelID), on: reactor).one().decode(0)
  }

  /// Forgets a channel and its stream.
  /// - Returns: whether there was one.
  public func dropChannel(_ id: String, on reactor: isolated Reactor) async throws(PostgresError) -> Bool {
    try await pool.query(.dropChannel(channel: id), on: reactor).one().decode(0)
  }

  /// Channels in the order of their names.
  /// - Parameter id: the only one; nil for all.
  /// - Throws: `PostgresError`, or `DecodingError` for a state that is no object.
  public func channels(_ id: String? = nil, on reactor: isolated Reactor) async throws -> [BroadcastChannel] {
    try await pool.query(.channels(channel: id, channelsMax: Self.channelsMax), on: reactor).map { row in
      let state: String = try row.decode("state")
      return BroadcastChannel(
        id: try row.decode("id"), channelID: try row.decode("channel_id"), app: try row.decode("app"),
        environment: try row.decode("environment"),
        storage: try row.decode("storage", as: Int32.self) == 0 ? .nothing : .newest,
        goneBecause: try row.decode("gone_because"), type: try row.decode("type"),
        version: Int(try row.decode("version", as: Int32.self)), isEnded: try row.decode("is_ended"),
        state: try JSONDecoder().decode(PayloadObject.self, from: Data(state.utf8)))
    }
  }
}
