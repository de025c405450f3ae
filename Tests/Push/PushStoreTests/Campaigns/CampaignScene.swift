import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import TestPostgres
import TestRepository
import Testing

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

  /// Serves the coach's hours that have come by a moment, as the service does; how many users were enrolled.
  static func enrolDue(at moment: String) -> String {
    """
    (select coalesce(sum(e.enrolled), 0)
      from tacet.due_hours('coach', '10:00', \(moment)) s
      left join lateral tacet.enrol_campaign('coach', s.due_at, s.zones) e on true)
    """
  }

  /// What keeps a campaign from the user of an array now; empty for nothing.
  static func refusal(of user: String, in campaign: String = "coach") -> String {
    """
    (select coalesce(r.refusal, '')
      from tacet.campaign_refusals('\(campaign)', \(user), array[now()], '{null}', '{null}') r)
    """
  }

  /// A page of the coach's audience; which of its users are considered.
  static func page(_ arguments: String, of campaign: String = "coach") -> String {
    """
    (select p.* from tacet.campaigns c cross join lateral tacet.campaign_page(c, \(arguments)) p
      where c.name = '\(campaign)' and c.is_active and p.is_considered)
    """
  }

  /// Whether a campaign would look at a user at a moment, after some statements that are undone again.
  func isEligible(
    _ user: HostID, at moment: String, campaign: String = "coach", after sql: String = ""
  ) async throws -> Bool {
    let found = try await database.sql(
      """
      begin;
      \(sql.isEmpty ? "" : sql + ";")
      select count(*) from \(Self.page("'\(moment)', only_user => '\(user)'", of: campaign)) p;
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
  func claimed(campaign: String = "coach") async throws -> [Occasion] {
    try await withStore(database) { store, reactor in
      _ = try await store.enrol(campaign, onlyUser: nil, on: reactor)
      return try await store.claimTurns(100, lease: .seconds(60), lateAfter: .seconds(3600), on: reactor)
        .filter { $0.campaign == campaign }
    }
  }

  func commit(_ turn: Occasion, _ push: WrittenPush = .example) async throws -> CampaignCommit {
    try await withStore(database) { try await $0.commit(push, for: turn, on: $1) }
  }

  /// Pushes, events, caps with a day, and what is decided: all that a commit writes.
  func written() async throws -> String {
    try await database.sql(
      """
      select (select count(*) from tacet.pushes), (select count(*) from tacet.inbox),
        (select count(committed_day) from tacet.frequency_caps),
        (
          select string_agg(
            case status when 'scheduled' then 'undecided' when 'sent' then 'committed' else status end
              || coalesce(' ' || reason, ''), ', ' order by campaign)
          from tacet.occasions)
      """)
  }
}

/// What a campaign wants to tell a user.
struct WrittenPush: Sendable {
  var pushType = "event_based"
  var title = "Tomorrow"
  var body = "How do you feel?"
  var data = #"{"domain": "work"}"#
  var findings =
    #"{"layer": "event", "inputs": {"messages": 3}, "metadata": {"campaign": "coach", "layer": "event"}}"#

  static let example = WrittenPush()
}

/// The outcome of a commit: a push, or why there is none, `claim_lost` where it is another's.
enum CampaignCommit: Equatable {
  case committed(UUID)
  case refused(String)
}

extension PushDatabase {
  func commit(
    _ push: WrittenPush, for turn: Occasion, on reactor: isolated Reactor
  ) async throws(PostgresError) -> CampaignCommit {
    let words = OccasionWords(title: push.title, body: push.body, data: push.data)
    let decided = DecidedOccasion(turn, words, pushType: push.pushType, findings: push.findings)
    guard let end = try await commit([decided], of: turn.campaign, on: reactor)[0] else {
      return .refused("claim_lost")
    }
    return end.pushID.map { .committed($0) } ?? .refused(end.reason ?? end.status)
  }

  /// Ends a turn without a push.
  /// - Returns: whether it was still the caller's.
  @discardableResult
  func decide(
    _ turn: Occasion, reason: String, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    let refused = DecidedOccasion(turn, nil, refusal: reason)
    return try await commit([refused], of: turn.campaign, on: reactor)[0] != nil
  }

  func claimTurns(
    _ count: Int, lease: Duration, lateAfter: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [Occasion] {
    let written = try await claimOccasions(
      count, .written, waitingMax: 10_000, lease: lease, grace: lateAfter, on: reactor)
    return written
      + (try await claimOccasions(
        count - written.count, .hours, waitingMax: 10_000, lease: lease, grace: lateAfter, on: reactor))
  }
}

extension Occasion {
  /// The expression that commits the example for it: its reason.
  var commitment: String {
    """
    (
      select case when count(*) = 0 then 'claim_lost' else max(e.reason) end as reason
      from tacet.commit_occasions('\(campaign)', 'push', array[json_populate_record(null::tacet.decided_occasion,
        '{"user_id": "\(userID)", "slot": "", "fire_date": "\(fireDate)", "fire_at": "now", "attempts": \(attempts),
          "push_type": "event_based", "title": "Tomorrow", "body": "How do you feel?", "data": {},
          "findings": {"layer": "event", "metadata": {}, "input_tokens": 1}}')]) e
    )
    """
  }
}
