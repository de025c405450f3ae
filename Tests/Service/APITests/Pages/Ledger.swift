import Foundation

/// Rows that the pages are to show, written as the service would.
struct Ledger {
  let rig: PageRig
  let user = UUID().uuidString.lowercased()
  let message = UUID().uuidString.lowercased()
  let token = String(repeating: "c0ffee17", count: 8)

  /// A minute of pushes to one user and to others, all kinds of outcomes; holds, retries, a lane that is shut, something
  /// set aside, an event that nobody has claimed.
  func fill() async throws {
    try await rig.sql(
      """
      insert into profiles (id, name) values ('\(user)', 'Vera');
      insert into push_tokens (user_id, device_token) values ('\(user)', '\(token)');
      insert into tacet.push_log (
        subject_id, user_id, push_type, decision, reason, enqueued_at, claimed_at, sent_at, held_until,
        accepted_microseconds, devices_accepted
      )
      select
        case when n = 1 then '\(message)'::uuid else gen_random_uuid() end,
        case when n % 2 = 1 then '\(user)'::uuid else gen_random_uuid() end,
        case when n % 7 = 0 then 'read_sync' else 'message' end,
        case when n % 10 < 7 then 'sent' when n % 10 = 7 then 'held' when n % 10 = 8 then 'skipped' else 'failed' end,
        case n % 10 when 7 then 'user_viewing' when 8 then 'already_read' when 9 then 'BadDeviceToken' end,
        t, t + interval '2 ms', case when n % 10 < 7 then t + n * interval '1 ms' end,
        case when n % 10 = 7 then t + interval '60 s' end, n * 1000 - 2000, case when n % 10 < 7 then 1 else 0 end
      from (select n, now() - n * interval '500 ms' as t from generate_series(1, 120) n) s;
      insert into tacet.push_log (subject_id, user_id, push_type, decision, reason)
      values ('\(message)', gen_random_uuid(), 'message', 'skipped', 'no_tokens');
      insert into tacet.deliveries (due_at, enqueued_at, subject_id, user_id, kind, state, since)
      values (now() + interval '35 min', now(), gen_random_uuid(), '\(user)', 'message', 'held', now()),
        (now() + interval '30 min', now(), gen_random_uuid(), '\(user)', 'message', 'retryable', now());
      insert into tacet.deliveries (due_at, enqueued_at, subject_id, user_id, kind, state, lane, since)
      select now(), now() - interval '90 s', gen_random_uuid(), '\(user)', 'message', 'waiting', l, now()
      from unnest(array['com.example.app/production', 'com.example.app/production', 'com.example.tv/sandbox']) l;
      insert into tacet.parked (enqueued_at, attempts, subject_id, kind, reason)
      values (now(), 5, gen_random_uuid(), 'message', 'the database says <no>');
      insert into tacet.instances (id, host, pid, version) values ('i', 'push-<1>', 4711, '1.0');
      insert into tacet.inbox (enqueued_at, subject_id, kind)
      values (now() - interval '35 min', gen_random_uuid(), 'message');
      """)
  }

  /// Users of all classes, and two analyses of other times.
  func fillEngagement() async throws {
    try await rig.sql(
      """
      select tacet.note_activity(gen_random_uuid(), now() - n * interval '12 hours') from generate_series(0, 17) n;
      insert into tacet.engagement_analyses (
        analysed_at, period_start, period_end, total_users, active_users, recent_users, lapsed_users, churn_risk_users,
        sessions, session_seconds)
      values
        ('2026-01-04 10:00Z', '2025-12-28 10:00Z', '2026-01-04 10:00Z', 12345, 1234, 2345, 3456, 5310, 24690, 1481400),
        ('2026-01-01 10:00Z', '2025-12-25 10:00Z', '2026-01-01 10:00Z', 0, 0, 0, 0, 0, 0, 0);
      """)
  }
}
