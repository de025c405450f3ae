public import Postgres
public import Reactors

/// A type of Live Activities.
public struct ExaminedActivityType: Equatable, Sendable {
  /// The name of its attributes in Swift.
  public let name: String
  /// Why no document of it can be made; nil for a type without a fault.
  public let fault: String?

  /// Notes a type.
  public init(name: String, fault: String? = nil) {
    self.name = name
    self.fault = fault
  }
}

/// A broadcast channel, as the database has it.
public struct ExaminedChannel: Equatable, Sendable {
  /// The host's name for it.
  public let name: String
  /// As asked for; empty for the default app.
  public let app: String
  /// As asked for; empty for the app's own environment.
  public let environment: String
  /// Apple's id; nil until Apple has made it.
  public let channelID: String?
  /// Why APNs no longer takes its pushes; nil while it does.
  public let goneBecause: String?
  /// Whether Apple was asked to make it more than a minute ago, and nobody knows whether it did.
  public let isUndecided: Bool

  /// Notes a channel.
  public init(
    name: String, app: String = "", environment: String = "", channelID: String?, goneBecause: String? = nil,
    isUndecided: Bool = false
  ) {
    self.name = name
    self.app = app
    self.environment = environment
    self.channelID = channelID
    self.goneBecause = goneBecause
    self.isUndecided = isUndecided
  }
}

// Live Activities.
extension DatabaseExamination {
  /// The most channels that are looked at.
  public static let channelsMax = 20_000

  /// The types of Live Activities, and what is wrong with them; 1000 at most.
  public func activityTypes(on reactor: isolated Reactor) async throws(PostgresError) -> [ExaminedActivityType] {
    try await rows(.examineActivityTypes, on: reactor) { row throws(PostgresError) in
      ExaminedActivityType(name: try row.decode("name"), fault: try row.decode("fault"))
    }
  }

  /// The broadcast channels, by name; ``channelsMax`` at most.
  public func channels(on reactor: isolated Reactor) async throws(PostgresError) -> [ExaminedChannel] {
    try await rows(.examineChannels(rowsMax: Self.channelsMax), on: reactor) { row throws(PostgresError) in
      ExaminedChannel(
        name: try row.decode("id"), app: try row.decode("app"), environment: try row.decode("environment"),
        channelID: try row.decode("channel_id"), goneBecause: try row.decode("gone_because"),
        isUndecided: try row.decode("is_undecided"))
    }
  }
}
