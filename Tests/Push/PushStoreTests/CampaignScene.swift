import Foundation
import PushRules
import TestIDs
import TestPostgres
import TestRepository

@testable import PushStore

/// A host with a coach's tables, and users whom its campaign may look at.
struct CampaignScene: Sendable {
  static let daily = #"{"check_ins_enabled": true, "frequency": "daily"}"#

  let database: TestDatabase

  /// - Parameter database: migrated; a new one without it.
  init(in database: TestDatabase? = nil) async throws {
    if let database { self.database = database } else { self.database = try await TestDatabase.migrated() }
    let tables = Repository.file("db/examples/coach.sql")
    try await self.database.apply(tables)
  }

  /// A user with a device who wants check-ins.
  /// - Parameters:
  ///   - wishes: `notification_preferences`.
  ///   - zone: an SQL expression.
  @discardableResult
  func addUser(_ wishes: String = daily, zone: String = "'\(ZoneNearNoon.name)'") async throws -> HostID {
    let id = HostID.new()
    try await database.sql(
      """
      insert into profiles (id, name) values ('\(id)', 'Ada');
      insert into push_tokens (user_id, device_token) values ('\(id)', encode(sha256('\(id)'), 'hex'));
      insert into context_profiles (user_id, time_zone, notification_preferences) values ('\(id)', \(zone), '\(wishes)')
      """)
    return id
  }

  /// Whether a campaign would look at a user at a moment, after some statements that are undone again.
  func isEligible(
    _ user: HostID, at moment: String, campaign: String = "coach", after sql: String = ""
  ) async throws -> Bool {
    let found = try await database.sql(
      """
      begin;
      \(sql.isEmpty ? "" : sql + ";")
      select count(*) from tacet.campaign_eligible('\(campaign)', '\(moment)', null, '\(user)');
      rollback
      """)
    return found == "1"
  }

  /// A campaign like the coach's, also in its cap group, with some columns of its own.
  /// - Parameter columns: SQL expressions.
  func addCampaign(_ name: String, pushTypes: String = "{event_based}", _ columns: [String: String] = [:]) async throws
  {
    var values = ["name": "'\(name)'", "push_types": "'\(pushTypes)'"]
    for column in ["audience", "material", "cap_group", "definition"] { values[column] = column }
    values.merge(columns) { $1 }
    try await database.sql(
      """
      insert into tacet.campaigns (\(values.keys.joined(separator: ", ")))
      select \(values.values.joined(separator: ", ")) from tacet.campaigns where name = 'coach'
      """)
  }

  /// Notes everybody for now, and claims them.
  func claimed(campaign: String = "coach") async throws -> [CampaignTurn] {
    try await withStore(database) { store, reactor in
      _ = try await store.enrol(campaign, onlyUser: nil, on: reactor)
      return try await store.claimTurns(100, lease: .seconds(60), lateAfter: .seconds(3600), on: reactor)
        .filter { $0.campaign == campaign }
    }
  }

  func commit(_ turn: CampaignTurn, _ push: PushStore.WrittenCampaignPush = .example) async throws -> CampaignCommit {
    try await withStore(database) { try await $0.commit(push, for: turn, .example, on: $1) }
  }

  /// Pushes, events, caps with a day, and what is decided: all that a commit writes.
  func written() async throws -> String {
    try await database.sql(
      """
      select (select count(*) from tacet.pushes), (select count(*) from tacet.inbox),
        (select count(committed_day) from tacet.frequency_caps),
        (select string_agg(coalesce(decision, 'undecided') || coalesce(' ' || reason, ''), ', ' order by campaign)
          from tacet.campaign_decisions)
      """)
  }
}

extension PushStore.WrittenCampaignPush {
  static let example = PushStore.WrittenCampaignPush(
    pushType: "event_based", title: "Tomorrow", body: "How do you feel?", data: #"{"domain": "work"}"#,
    metadata: #"{"campaign": "coach", "layer": "event"}"#)
}

extension CampaignFindings {
  static let example = CampaignFindings(layer: "event", inputs: #"{"messages": 3}"#)
}

extension CampaignTurn {
  /// The expression that commits the example for it.
  var commitment: String {
    """
    tacet.commit_campaign_push('\(campaign)', '\(userID)', '\(localDay)', \(attempts), 'event', '{}', 'event_based', 'Tomorrow',
      'How do you feel?', '{}', '{}', 1, 2, 3)
    """
  }
}
