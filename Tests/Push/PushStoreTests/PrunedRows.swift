/// A table that is pruned, and rows of it as tests make them.
enum PrunedTable: String, CaseIterable {
  case ledger = "push_log"
  case parked
  case triggerFailures = "trigger_failures"
  case surfaceViews = "surface_views"
  case readSyncs = "read_syncs"
  case pushes
  case cancellations
  case instances
  case unreadMarks = "unread_marks"
  case campaignDecisions = "campaign_decisions"
  case campaignRuns = "campaign_runs"
  case campaignSlots = "campaign_slots"
  case slotRows = "notif_deliveries"
  case slotReports = "notif_events"
  case contents = "notif_contents"
  case sessions = "user_sessions"
  case liveActivities = "activities"
  case liveActivityUpdates = "activity_updates"
  case targets
  case bursts
  case hostEvents = "host_events"
  case modelTexts = "model_texts"
  case rowTexts = "row_texts"

  var sqlName: String { "tacet.\(rawValue)" }

  /// How long rows are kept with a retention of a day, in days.
  var keptDays: Int { self == .cancellations ? 61 : 1 }

  /// The column of the rows' moment; the others that must be given; and their values.
  private var rows: (time: String, columns: String, values: String) {
    switch self {
    case .ledger:
      ("enqueued_at", "user_id, subject_id, push_type", "gen_random_uuid(), gen_random_uuid(), 'message'")
    case .parked:
      (
        "parked_at", "enqueued_at, subject_id, kind, attempts, reason",
        "now(), gen_random_uuid(), 'message', 1, 'test'"
      )
    case .triggerFailures: ("failed_at", "sqlstate, message", "'XX000', 'test'")
    case .surfaceViews:
      ("last_seen", "surface_kind, surface_id, user_id", "'calendar', gen_random_uuid(), gen_random_uuid()")
    case .readSyncs:
      (
        "available_at", "user_id, conversation_id, message_ids",
        "gen_random_uuid(), gen_random_uuid(), array[gen_random_uuid()]"
      )
    case .pushes: ("created_at", "user_id, kind, title, body", "gen_random_uuid(), 'push', 'test', ''")
    case .cancellations: ("cancelled_at", "cancel_key", "gen_random_uuid()::text")
    case .instances: ("seen_at", "id, host, pid, version", "gen_random_uuid()::text, 'host', 1, '1.0'")
    case .unreadMarks:
      ("built_at", "read_until, user_id, conversation_id", "now(), gen_random_uuid(), gen_random_uuid()")
    case .campaignDecisions:
      (
        "enrolled_at", "due_at, local_day, user_id, run_id, campaign, time_zone",
        "now(), current_date, gen_random_uuid(), gen_random_uuid(), 'coach', 'UTC'"
      )
    case .campaignRuns: ("started_at", "due_at, campaign, cause", "now(), 'coach', 'schedule'")
    case .campaignSlots:
      ("due_at", "local_day, campaign, time_zone", "current_date, 'coach', gen_random_uuid()::text")
    case .slotRows:
      (
        "fire_at", "available_at, user_id, campaign, slot, fire_date, time_zone",
        "now(), gen_random_uuid(), 'ritual', '0800', current_date, 'UTC'"
      )
    case .slotReports:
      ("received_at", "happened_at, id, user_id, code", "now(), gen_random_uuid(), gen_random_uuid(), 'armed'")
    case .contents:
      ("attempted_at", "fire_date, user_id, campaign, slot", "current_date, gen_random_uuid(), 'ritual', '0800'")
    case .sessions: ("began_at", "last_at, user_id", "now(), gen_random_uuid()")
    case .liveActivities:
      (
        "ended_at", "id, user_id, type, state",
        "gen_random_uuid()::text, gen_random_uuid(), 'WorkoutActivityAttributes', '{}'"
      )
    case .liveActivityUpdates:
      (
        "created_at", "activity_id, version, available_at, event, priority, state, unix_time",
        "'run', floor(random() * 2e9)::int, now(), 'update', 5, '{}', 0"
      )
    case .targets: ("dropped_at", "channel, address, user_id", "'fcm', gen_random_uuid()::text, gen_random_uuid()")
    case .bursts:
      (
        "sounded_at",
        "user_id, surface_id, first_subject, latest_subject, latest_at, newest_at, latest_attempts, members",
        "gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(), now(), 1, '{1}'"
      )
    case .hostEvents: ("ended_at", "user_id, type, state", "gen_random_uuid(), 'push.sent', 'dead'")
    case .modelTexts: ("asked_at", "day, user_id, question", "current_date, gen_random_uuid(), 'a'")
    case .rowTexts: ("asked_at", "subject_id, kind", "gen_random_uuid(), 'achievement'")
    }
  }

  var timeColumn: String { rows.time }

  /// A statement that makes rows.
  /// - Parameters:
  ///   - age: an SQL expression.
  ///   - decision: of rows of the ledger.
  func insertion(of count: Int, age: String, decision: String = "skipped") -> String {
    let isLedger = self == .ledger
    let activity = """
      insert into tacet.activities (id, user_id, type, state)
      values ('run', gen_random_uuid(), 'WorkoutActivityAttributes', '{}') on conflict do nothing;
      """
    return """
      \(self == .liveActivityUpdates ? activity : "")
      insert into \(sqlName) (\(rows.time), \(rows.columns)\(isLedger ? ", decision" : ""))
      select now() - (\(age)), \(rows.values)\(isLedger ? ", '\(decision)'" : "")
      from generate_series(1, \(count))
      """
  }
}
