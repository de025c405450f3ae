import TestIDs
import Testing

@testable import PushStore

@Suite("How large tables become")
struct BoundedTablesTests {
  /// What keeps a table from growing without end.
  private enum Bound {
    /// Only the owner of the schema writes it, or `tacet migrate`.
    case ofOwner
    /// One row for each of these, which clients cannot make.
    case each(String)
    /// A row leaves when its work is done.
    case queue
    /// Rows leave after the retention.
    case aged(PrunedTable)
    /// Clients fill it: at most so many rows for each user, and when they leave.
    case ofClients(cap: String, leaves: String)
  }

  private static let bounds: [String: Bound] = [
    "activities": .ofClients(cap: "Live Activities of a user", leaves: "after the retention"),
    "activity": .ofClients(cap: "one", leaves: "with the user"),
    "activity_start_tokens": .ofClients(cap: "one for each device and type", leaves: "with the device"),
    "activity_tokens": .ofClients(cap: "one for each device and activity", leaves: "with the activity"),
    "activity_types": .ofOwner,
    "activity_updates": .aged(.liveActivityUpdates),
    "announcements": .ofOwner,
    "campaign_runs": .aged(.campaignRuns),
    "campaigns": .ofOwner,
    "cancellations": .aged(.cancellations),
    "changed_rows": .queue,
    "conversation_preferences": .ofClients(cap: "1,000, of a document that replaces them", leaves: "with the user"),
    "default_bodies": .ofOwner,
    "deliveries": .queue,
    "device_permissions": .ofClients(cap: "one for each registered device", leaves: "with the device"),
    "engagement_analyses": .each("72 hours"),
    "erasures": .queue,
    "escalations": .ofOwner,
    "frequency_caps": .each("user and cap group"),
    "function_files": .ofOwner,
    "host_additions": .ofOwner,
    "host_events": .aged(.hostEvents),
    "inbox": .queue,
    "instances": .aged(.instances),
    "kinds": .ofOwner,
    "migrations": .ofOwner,
    "model_texts": .aged(.modelTexts),
    "model_usage": .each("day"),
    "notif_config": .ofOwner,
    "notif_contents": .aged(.contents),
    "notif_events": .ofClients(cap: "5,000", leaves: "after the retention"),
    "occasions": .aged(.occasions),
    "parked": .aged(.parked),
    "preferences": .ofClients(cap: "one", leaves: "with the user"),
    "push_kinds": .ofOwner,
    "push_log": .aged(.ledger),
    "pushes": .aged(.pushes),
    "read_syncs": .aged(.readSyncs),
    "releases": .queue,
    "row_texts": .aged(.rowTexts),
    "schedules": .each("user"),
    "settings": .ofOwner,
    "shards": .each("shard"),
    "slots": .ofClients(cap: "24 for each campaign", leaves: "with the user"),
    "surface_views": .ofClients(cap: "one for each surface of the host", leaves: "after the retention"),
    "target_wishes": .ofClients(cap: "one for each registered device", leaves: "with the device"),
    "targets": .ofClients(
      cap: "DEVICES_PER_USER_MAX for each channel, and 50 dropped ones", leaves: "after the retention"),
    "texts": .ofOwner,
    "time_zones": .ofOwner,
    "trigger_failures": .aged(.triggerFailures),
    "unread_checks": .queue,
    "unread_marks": .aged(.unreadMarks),
    "unread_preferences": .ofClients(cap: "64, of a document that replaces them", leaves: "with the user"),
    "user_sessions": .aged(.sessions),
    "watched_activities": .ofOwner,
  ]

  @Test("is bounded for every table, and known here")
  func catalogue() async throws {
    let tables = try await TestDatabase.migrated().sql(
      "select relname from pg_class where relnamespace = 'tacet'::regnamespace and relkind in ('r', 'p') order by 1")
    let unknown = tables.split(separator: "\n").map(String.init).filter { Self.bounds[$0] == nil }
    #expect(unknown == [], "say what bounds these")
  }

  @Test("every table that is bounded by a retention is pruned")
  func retentions() {
    for (table, bound) in Self.bounds {
      switch bound {
      case .aged(let pruned): #expect(pruned.rawValue == table)
      case .ofClients(_, leaves: "after the retention"): #expect(PrunedTable(rawValue: table) != nil)
      default: break
      }
    }
  }

  @Test("the owner's tables are the owner's to write", .uuidsOnly)
  func ofOwner() async throws {
    let database = try await TestDatabase.migrated()
    let role = try await makeRole(in: database, "select tacet.grant_service('$role')")
    for (table, bound) in Self.bounds {
      guard case .ofOwner = bound else { continue }
      let isWritable = try await database.sql("select has_table_privilege('\(role)', 'tacet.\(table)', 'insert')")
      #expect(isWritable == "f", "\(table)")
    }
  }
}
