import Foundation
import PushRules
import TestIDs
import TestPostgres
import TestRepository

@testable import PushStore

/// A host whose users say how they want to be treated in absence, and which reminders they want.
struct EngagementScene: Sendable {
  let campaigns: CampaignScene
  var database: TestDatabase { campaigns.database }

  init() async throws {
    campaigns = try await CampaignScene()
    try await database.apply(Repository.file("db/examples/engagement.sql"))
  }

  /// A user with a device.
  /// - Parameters:
  ///   - absence, reminders: JSON, or nil for null.
  ///   - idle: since the last activity at the moment, as an interval; nil for a user who was never active.
  ///   - askedAgo: likewise, since the last push that asked the user back.
  func addUser(
    absence: String? = nil, reminders: String? = nil, idle: String? = nil, attempts: Int = 0, askedAgo: String? = nil,
    zone: String = ZoneNearNoon.name, at moment: String = "now()"
  ) async throws -> HostID {
    let id = try await campaigns.addUser("{}", zone: "'\(zone)'")
    func literal(_ json: String?) -> String { json.map { "'\($0)'" } ?? "null" }
    try await database.sql(
      """
      update context_profiles
      set communication_preferences = \(literal(absence)), reminder_preferences = \(literal(reminders))
      where user_id = '\(id)'
      """)
    if let idle {
      let asked = askedAgo.map { "\(moment) - interval '\($0)'" } ?? "null"
      try await database.sql(
        """
        insert into tacet.activity (user_id, last_active, session_began_at, re_engagement_attempts, re_engaged_at)
        values ('\(id)', \(moment) - interval '\(idle)', \(moment) - interval '\(idle)', \(attempts), \(asked))
        """)
    }
    return id
  }

  /// What the audience of a campaign says of a user at a moment: these columns.
  func audience(
    _ campaign: String, _ columns: String, of user: HostID, at moment: String = "now()"
  ) async throws -> String {
    try await database.sql("select \(columns) from tacet.\(campaign)_audience(\(moment), '\(user)')")
  }
}
