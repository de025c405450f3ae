import Foundation
import HTTP1
import Logging
import PushRules
import Reactors
import TestPostgres
import Testing

@testable import API
@testable import Operations

/// The pages in front of a service whose pipeline does nothing.
struct PageRig: Sendable {
  static let serviceKey = ServiceRig.serviceKey

  let rig: ServiceRig
  var port: UInt16 { rig.port }

  /// Runs a test's body against the pages.
  static func run(
    keys: [String] = [serviceKey], isTLS: Bool = false, routes: [RouteCondition] = [],
    explanations: [EventExplanation] = [], readiness: [ReadinessCheck] = [],
    _ body: @Sendable (PageRig) async throws -> Void
  ) async throws {
    let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
    try await ServiceRig.run(
      pages: { table, services in
        DashboardRoutes.add(
          to: &table, services: services, serviceKeys: keys, isTLS: isTLS, routes: { routes },
          explanations: { subject, _, _ in explanations.filter { $0.subjectID == subject.text } }, logger: quiet)
      },
      { rig in
        await rig.parts.perform { parts, _ in parts.checks = readiness }
        try await body(PageRig(rig: rig))
      })
  }

  /// Asks as a browser does that has this cookie.
  func get(_ path: String, cookie: String? = nil) async throws -> PlainResponse {
    let fields = ["Cookie": cookie].compactMapValues { $0 }
    return try await PlainClient.ask("GET", path, host: "localhost:8080", fields: fields, port: port)
  }

  /// Sends a form; by default from a page of ours.
  func post(
    _ path: String, _ form: String, cookie: String? = nil, fields: [String: String]? = nil
  ) async throws -> PlainResponse {
    var fields = fields ?? ["Sec-Fetch-Site": "same-origin"]
    fields["Content-Type"] = "application/x-www-form-urlencoded"
    fields["Cookie"] = cookie
    if form.isEmpty { fields["Content-Length"] = "0" }
    return try await PlainClient.ask("POST", path, host: "localhost:8080", fields: fields, body: form, port: port)
  }

  /// Logs in; the cookie to show from then on.
  func logIn() async throws -> String {
    let answer = try await post("/dashboard/login", "key=service+key+of+the+tests")
    let cookie = try #require(answer.fields["set-cookie"])
    return String(cookie.prefix { $0 != ";" })
  }

  /// Runs SQL in the database; what it printed.
  @discardableResult
  func sql(_ text: String) async throws -> String {
    guard let server = rig.server else { throw TestFailure("no database") }
    return try await server.psql(text, database: rig.database).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

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

/// An explanation as it is told.
enum Story {
  private static let start: Int64 = 1_800_000_000_000_000

  /// Of an event that was set aside for all but one of its recipients.
  static func parked(_ subject: String, to user: String) -> EventExplanation {
    EventExplanation(
      subjectID: subject, kind: "message", summary: "The event was set aside.", committedAt: start,
      steps: [
        .init(.unclaimed, at: start + 1_000, text: "Nobody has <claimed> it."),
        .init(
          .parked, at: start + 45_000_000, text: "Set aside after five claims.",
          details: [EventExplanation.Detail(name: "Why", value: "division by zero")]),
      ],
      recipients: [
        EventExplanation.Recipient(
          userID: user, summary: "The push was sent.",
          steps: [.init(.decided, at: start + 50_000_000, text: "Decided to send.")])
      ], hasMoreRecipients: true)
  }

  /// Of a push that was held and then sent.
  static func explanation(of subject: String, to user: String) -> EventExplanation {
    typealias Detail = EventExplanation.Detail
    return EventExplanation(
      subjectID: subject, kind: "message", summary: "The message was pushed to one recipient.", committedAt: start,
      recipients: [
        EventExplanation.Recipient(
          userID: user, summary: "The push was sent to one device after a hold of half a minute.",
          steps: [
            .init(at: start, text: "Committed.", details: []),
            .init(
              at: start + 2_000, text: "Claimed and held, because the recipient had just been looking.",
              details: [Detail(name: "Seen", value: "4.2 s before"), Detail(name: "Devices", value: "1")]),
            .init(
              at: start + 31_200_000, text: "Sent to <iPhone>; APNs accepted it.",
              details: [Detail(name: "Device", value: "c0ffee17"), Detail(name: "Status", value: "200")]),
          ])
      ])
  }
}
