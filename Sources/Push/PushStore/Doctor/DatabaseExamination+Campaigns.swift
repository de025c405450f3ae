public import Postgres
public import Reactors

/// What campaigns have left undone.
public struct ExaminedCampaignWork: Equatable, Sendable {
  /// Hours that came ten minutes ago or earlier and were not served.
  public var unservedHours = 0
  /// Users who were enrolled ten minutes ago or earlier and are undecided.
  public var undecided = 0
  /// Decisions of the last day that failed.
  public var failed = 0

  /// Nothing is undone.
  public init() {}
}

/// What language models have used on the present day of UTC, with what is set aside for calls under way.
public struct ExaminedModelUsage: Equatable, Sendable {
  /// Tokens, read and written.
  public var tokens: Int
  /// Millionths of a dollar.
  public var microdollars: Int

  /// Notes a usage.
  public init(tokens: Int = 0, microdollars: Int = 0) {
    self.tokens = tokens
    self.microdollars = microdollars
  }
}

/// A name of a time zone that the server has lost since it was noted.
public struct LostZone: Equatable, Sendable {
  /// As it was noted.
  public let name: String
  /// The zone that users there have instead; nil for UTC.
  public let standIn: String?

  /// Notes one.
  public init(name: String, standIn: String?) {
    self.name = name
    self.standIn = standIn
  }
}

// Pushes that no event asks for.
extension DatabaseExamination {
  /// The campaigns that are active.
  public func campaigns(on reactor: isolated Reactor) async throws(PostgresError) -> [StoredCampaign] {
    try await rows(.campaigns, on: reactor) { row throws(PostgresError) in try StoredCampaign(row) }
  }

  /// Calls the functions of a campaign for a user who does not exist.
  public func call(_ campaign: StoredCampaign, on reactor: isolated Reactor) async throws(PostgresError) {
    try await connection.query(.examineCampaign(campaign: campaign.name), on: reactor)
  }

  /// What is undone.
  /// - Parameter minutes: after midnight, where a campaign names no time.
  public func campaignWork(
    minutes: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> ExaminedCampaignWork {
    let row = try await connection.query(
      .examineCampaignWork(minutes: Int32(clamping: minutes)), on: reactor
    ).one()
    var work = ExaminedCampaignWork()
    work.unservedHours = try row.decode("unserved")
    work.undecided = try row.decode("undecided")
    work.failed = try row.decode("failed")
    return work
  }

  /// The zones that the server has lost, by name.
  public func lostZones(on reactor: isolated Reactor) async throws(PostgresError) -> [LostZone] {
    try await rows(.examineZones, on: reactor) { row throws(PostgresError) in
      LostZone(name: try row.decode("name"), standIn: try row.decode("stand_in"))
    }
  }

  /// What language models have used today.
  public func modelUsage(on reactor: isolated Reactor) async throws(PostgresError) -> ExaminedModelUsage {
    let row = try await connection.query(.examineModelUsage, on: reactor).one()
    return ExaminedModelUsage(tokens: try row.decode("tokens"), microdollars: try row.decode("microdollars"))
  }
}
