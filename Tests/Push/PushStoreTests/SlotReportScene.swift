import Foundation
import PushRules
import TestIDs

@testable import PushStore

/// A user with two devices, a slot of the campaign `ritual` and a row of it, whose actions are noted in `public.actions`.
struct SlotReportScene: Sendable {
  static let row = SlotIdentifier("ritual.0800.2026-11-22")!

  let chat: Chat
  var database: TestDatabase { chat.database }
  var user: HostID { chat.reader }

  init() async throws {
    chat = try await Chat(readers: 2)
    for (token, place) in [("AA", 0), ("bb", 0), ("cc", 1)] {
      try await chat.register(token, of: chat.readers[place])
    }
    try await database.sql(
      """
      insert into tacet.slots (next_fire_at, fire_date, available_at, user_id, campaign, slot, time_zone)
      values (now() + interval '1 hour', '2026-11-22', now(), '\(user)', 'ritual', '0800', 'UTC');
      insert into tacet.notif_deliveries (fire_at, available_at, fire_date, user_id, campaign, slot, time_zone)
      select n.at, n.at, '2026-11-22', '\(user)', 'ritual', '0800', 'UTC' from (select now() + interval '1 hour' as at) n;
      create table actions (user_id uuid, action text, day date, moment timestamptz, primary key (user_id, action, day));
      create table calls (at timestamptz default clock_timestamp());
      create function note_action(user_id uuid, action text, day date, moment timestamptz) returns jsonb
      language plpgsql as $$
      begin
        insert into public.calls default values;
        insert into public.actions values (user_id, action, day, moment) on conflict do nothing;
        return jsonb_build_object('days', (select count(*) from public.actions));
      end $$;
      update tacet.campaigns set is_active = true, on_action = 'public.note_action' where name = 'ritual';
      """)
  }

  func report(
    _ action: String = "DID_THIS", id: UUID, row: SlotIdentifier = Self.row, of user: HostID? = nil
  ) async throws -> SlotActionOutcome {
    let report = SlotActionReport(id: id, action: action, row: row, happenedAt: 1_795_330_800_000_000)
    let user = user ?? self.user
    return try await withStore(database) { try await $0.report(report, of: user, on: $1) }
  }

  /// Reports events in one batch. Nil for a user who has reported enough.
  @discardableResult
  func report(_ events: [SlotEvent], of user: HostID? = nil) async throws -> Int? {
    let user = user ?? self.user
    return try await withStore(database) { try await $0.report(events, of: user, on: $1)?.count }
  }

  /// Reports one event of each code, with this token.
  func report(_ codes: SlotEvent.Code..., token: String? = "aa", of user: HostID? = nil) async throws {
    try await report(codes.map { Self.event($0, token: token) }, of: user)
  }

  static func event(
    _ code: SlotEvent.Code, id: UUID = UUID(), token: String? = "aa", row: SlotIdentifier? = Self.row,
    happenedAt: Int64 = Int64(Date().timeIntervalSince1970 * 1_000_000)
  ) -> SlotEvent {
    SlotEvent(id: id, code: code, row: row, deviceToken: token, happenedAt: happenedAt)
  }

  /// Makes the row one that was pushed, and pushed again after a snooze.
  func push() async throws {
    try await database.sql(
      """
      with sent as (
        insert into tacet.pushes (user_id, kind, title, body, campaign, cancel_key)
        values ('\(user)', 'ritual', 'a', 'b', 'ritual', null),
          ('\(user)', 'ritual', 'a', 'b', 'ritual', 'snooze ritual.0800.2026-11-22 \(user)'),
          ('\(user)', 'ritual', 'a', 'b', 'ritual', 'snooze ritual.1200.2026-11-22 \(user)')
        returning id, cancel_key
      ), logged as (
        insert into tacet.push_log (subject_id, user_id, push_type, decision, reason)
        select tacet.subject_of(s.id), '\(user)', 'ritual', 'sent', s.cancel_key from sent s
      )
      update tacet.notif_deliveries d set push_id = s.id from sent s where s.cancel_key is null
      """)
  }

  /// The pushes that were opened.
  func opened() async throws -> String {
    try await database.sql(
      "select coalesce(left(reason, 18), 'row') from tacet.push_log where opened and opened_at <= now() order by 1")
  }

  /// The row's state.
  func state() async throws -> String {
    try await database.sql(
      """
      select status, array_to_string(armed_by, ' '), case available_at when 'infinity' then 'never' when fire_at then 'due' end
      from tacet.notif_deliveries
      """)
  }

  /// What is known of the devices.
  func permissions() async throws -> String {
    try await database.sql(
      """
      select device_token, array_position(array[\(chat.readers.map { "'\($0)'" }.joined(separator: ", "))]::uuid[], user_id),
        is_denied, tolerance_seconds
      from tacet.device_permissions order by device_token
      """)
  }
}
