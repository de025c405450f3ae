package import Postgres
package import Reactors

/// What campaigns have left undone.
package struct ExaminedCampaignWork: Equatable, Sendable {
  /// Hours that came ten minutes ago or earlier and were not served.
  package var unservedHours = 0
  /// Users who were enrolled ten minutes ago or earlier and are undecided.
  package var undecided = 0
  /// Decisions of the last day that failed.
  package var failed = 0

  package init() {}
}

/// What language models have used on the present day of UTC, with what is set aside for calls under way.
package struct ExaminedModelUsage: Equatable, Sendable {
  /// Tokens, read and written.
  package var tokens: Int
  package var microdollars: Int

  package init(tokens: Int = 0, microdollars: Int = 0) {
    self.tokens = tokens
    self.microdollars = microdollars
  }
}

/// A name of a time zone that the server has lost since it was noted.
package struct LostZone: Equatable, Sendable {
  package let name: String
  /// The zone that users there have instead; nil for UTC.
  package let standIn: String?

  package init(name: String, standIn: String?) {
    self.name = name
    self.standIn = standIn
  }
}

// Pushes that no event asks for.
extension DatabaseExamination {
  /// The campaigns that are active.
  package func campaigns(on reactor: isolated Reactor) async throws(PostgresError) -> [StoredCampaign] {
    try await rows(.campaigns, on: reactor) { row throws(PostgresError) in try StoredCampaign(row) }
  }

  /// Calls the functions of a campaign for a user who does not exist.
  package func call(_ campaign: StoredCampaign, on reactor: isolated Reactor) async throws(PostgresError) {
    try await connection.query(.examineCampaign(campaign: campaign.name), on: reactor)
  }

  /// What is undone.
  /// - Parameter minutes: after midnight, where a campaign names no time.
  package func campaignWork(
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
  package func lostZones(on reactor: isolated Reactor) async throws(PostgresError) -> [LostZone] {
    try await rows(.examineZones, on: reactor) { row throws(PostgresError) in
      LostZone(name: try row.decode("name"), standIn: try row.decode("stand_in"))
    }
  }

  package func modelUsage(on reactor: isolated Reactor) async throws(PostgresError) -> ExaminedModelUsage {
    let row = try await connection.query(.examineModelUsage, on: reactor).one()
    return ExaminedModelUsage(tokens: try row.decode("tokens"), microdollars: try row.decode("microdollars"))
  }
}
