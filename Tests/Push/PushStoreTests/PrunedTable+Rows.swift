import PushStore

// Rows of each table that is pruned, as tests make them.
extension PrunedTable {
  /// A statement that makes rows.
  /// - Parameter age: an SQL expression.
  func insertion(of rows: Int, age: String, decision: String = "skipped") -> String {
    let (columns, values) =
      switch self {
      case .ledger:
        (
          "user_id, subject_id, push_type, decision",
          "gen_random_uuid(), gen_random_uuid(), 'message', '\(decision)'"
        )
      case .parked:
        (
          "enqueued_at, subject_id, kind, attempts, reason",
          "now(), gen_random_uuid(), 'message', 1, 'test'"
        )
      case .triggerFailures: ("sqlstate, message", "'XX000', 'test'")
      case .surfaceViews: ("surface_kind, surface_id, user_id", "'calendar', gen_random_uuid(), gen_random_uuid()")
      case .readSyncs:
        (
          "user_id, conversation_id, message_ids",
          "gen_random_uuid(), gen_random_uuid(), array[gen_random_uuid()]"
        )
      case .pushes: ("user_id, kind, title, body", "gen_random_uuid(), 'push', 'test', ''")
      case .cancellations: ("cancel_key", "gen_random_uuid()::text")
      case .instances: ("id, host, pid, version", "gen_random_uuid()::text, 'host', 1, '1.0'")
      case .unreadMarks: ("read_until, user_id, conversation_id", "now(), gen_random_uuid(), gen_random_uuid()")
      case .campaignDecisions:
        (
          "due_at, local_day, user_id, run_id, campaign, time_zone",
          "now(), current_date, gen_random_uuid(), gen_random_uuid(), 'coach', 'UTC'"
        )
      case .campaignRuns: ("due_at, campaign, cause", "now(), 'coach', 'schedule'")
      case .campaignSlots: ("local_day, campaign, time_zone", "current_date, 'coach', gen_random_uuid()::text")
      case .slotRows:
        (
          "available_at, user_id, campaign, slot, fire_date, time_zone",
          "now(), gen_random_uuid(), 'ritual', '0800', current_date, 'UTC'"
        )
      case .slotReports: ("happened_at, id, user_id, code", "now(), gen_random_uuid(), gen_random_uuid(), 'armed'")
      case .contents: ("fire_date, user_id, campaign, slot", "current_date, gen_random_uuid(), 'ritual', '0800'")
      case .sessions: ("last_at, user_id", "now(), gen_random_uuid()")
      case .liveActivities:
        (
          "id, user_id, type, state",
          "gen_random_uuid()::text, gen_random_uuid(), 'WorkoutActivityAttributes', '{}'"
        )
      case .liveActivityUpdates:
        (
          "activity_id, version, available_at, event, priority, state, unix_time",
          "'run', floor(random() * 2e9)::int, now(), 'update', 5, '{}', 0"
        )
      case .targets: ("channel, address, user_id", "'fcm', gen_random_uuid()::text, gen_random_uuid()")
      case .bursts:
        (
          "user_id, surface_id, first_subject, latest_subject, latest_at, newest_at, latest_attempts, members",
          "gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(), now(), 1, '{1}'"
        )
      case .hostEvents: ("user_id, type, state", "gen_random_uuid(), 'push.sent', 'dead'")
      case .modelTexts: ("day, user_id, question", "current_date, gen_random_uuid(), 'a'")
      case .rowTexts: ("subject_id, kind", "gen_random_uuid(), 'achievement'")
      }
    let activity = """
      insert into tacet.activities (id, user_id, type, state)
      values ('run', gen_random_uuid(), 'WorkoutActivityAttributes', '{}') on conflict do nothing;
      """
    return """
      \(self == .liveActivityUpdates ? activity : "")
      insert into \(sqlName) (\(timeColumn), \(columns)) select now() - (\(age)), \(values)
      from generate_series(1, \(rows))
      """
  }

  var sqlName: String {
    switch self {
    case .ledger: "tacet.push_log"
    case .parked: "tacet.parked"
    case .triggerFailures: "tacet.trigger_failures"
    case .surfaceViews: "tacet.surface_views"
    case .readSyncs: "tacet.read_syncs"
    case .pushes: "tacet.pushes"
    case .cancellations: "tacet.cancellations"
    case .instances: "tacet.instances"
    case .unreadMarks: "tacet.unread_marks"
    case .campaignDecisions: "tacet.campaign_decisions"
    case .campaignRuns: "tacet.campaign_runs"
    case .campaignSlots: "tacet.campaign_slots"
    case .slotRows: "tacet.notif_deliveries"
    case .slotReports: "tacet.notif_events"
    case .contents: "tacet.notif_contents"
    case .sessions: "tacet.user_sessions"
    case .liveActivities: "tacet.activities"
    case .liveActivityUpdates: "tacet.activity_updates"
    case .targets: "tacet.targets"
    case .bursts: "tacet.bursts"
    case .hostEvents: "tacet.host_events"
    case .modelTexts: "tacet.model_texts"
    case .rowTexts: "tacet.row_texts"
    }
  }

  var timeColumn: String {
    switch self {
    case .ledger: "enqueued_at"
    case .parked: "parked_at"
    case .triggerFailures: "failed_at"
    case .surfaceViews: "last_seen"
    case .readSyncs: "available_at"
    case .pushes: "created_at"
    case .cancellations: "cancelled_at"
    case .instances: "seen_at"
    case .unreadMarks: "built_at"
    case .campaignDecisions: "enrolled_at"
    case .campaignRuns: "started_at"
    case .campaignSlots: "due_at"
    case .slotRows: "fire_at"
    case .slotReports: "received_at"
    case .contents: "attempted_at"
    case .sessions: "began_at"
    case .liveActivities: "ended_at"
    case .liveActivityUpdates: "created_at"
    case .targets: "dropped_at"
    case .bursts: "sounded_at"
    case .hostEvents: "ended_at"
    case .modelTexts, .rowTexts: "asked_at"
    }
  }
}
