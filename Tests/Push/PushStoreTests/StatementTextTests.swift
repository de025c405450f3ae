import APNSCore
import PushKinds
import TestRepository
import Testing

@testable import PushStore

/// What several statements, or a statement and the code, say alike.
@Suite("Texts of statements")
struct StatementTextTests {
  @Test("claims and looks read an event in the same way")
  func looks() throws {
    let claim = try Statement("claim/claim").part(from: "recorded as materialized")
    #expect(try Statement("claim/look_at_event").part(from: "recorded as materialized") == claim)
    // Of a delivery there is one recipient.
    let delivery = try Statement("claim/look_at_delivery").part(from: "recorded as materialized")
    #expect(delivery == claim.replacing(":recipients_max", with: "1"))
    let messages = try Statement("claim/claim_messages").part(
      from: "select w.subject_id, w.kind, w.attempts", to: "left join lateral (")
    let kinds = try Statement("claim/claim").part(
      from: "select w.subject_id, w.kind, w.attempts", to: "left join lateral (")
    #expect(Self.ofMessages(kinds) == messages)
    let end = "left join lateral ( select array_agg(left(n.channel, 32))"
    #expect(
      try Statement("claim/claim_messages").part(from: end) == Self.ofMessages(Statement("claim/claim").part(from: end))
    )
  }

  /// The text without what no new message has: content as a document and what comes with it, and what deliveries have.
  private static func ofMessages(_ text: String) -> String {
    let devices = /case when w\.accepted_devices = '\{\}' .* end as accepted_devices,\s/
    return [
      ("w.user_id is not null as is_delivery, ", ""), ("m.push_kind,", "'message' as push_kind,"),
      ("coalesce(s.user_id, w.user_id) as user_id", "s.user_id"),
      ("(s.places < :recipients_max or s.user_id = w.user_id)", "s.places < :recipients_max"),
      ("w.held_us, w.retries, w.device_waits, w.is_waiting, ", ""),
      ("case when s.place > 1 then null else m.content end as content, ", ""),
      ("m.surface_id is null and m.content is null as", "m.surface_id is null as"),
      ("m.life_us, m.withheld, ", ""),
      ("coalesce(m.quiet_policy, f.quiet_hours_policy)", "f.quiet_hours_policy"),
      ("left(w.released_by, 32) as released_by, w.released_at, m.dated_at, ", ""),
      (
        " and (m.reading_device is null or tacet.target_mark(d.channel, d.address) <> all (string_to_array(lower(m.reading_device), ' '))) and (w.kind <> 'schedule_changed' or d.channel <> 'web_push')",
        ""
      ),
      (" and not m.is_silent", ""),
    ].reduce(text) { $0.replacing($1.0, with: $1.1) }
      .replacing(devices, with: "")
  }

  @Test("a claim and a lease pick the same work")
  func picks() throws {
    let end = "from deliveries d )"
    #expect(try Statement("claim/lease").part(to: end) == Statement("claim/claim").part(to: end))
  }

  @Test(
    "what is known of an event, and whom it concerns, is asked for in the same way",
    arguments: [("record/review_holds", "x"), ("inspect/explain_event", "w"), ("inspect/explain_recipients", "w")])
  func contexts(_ path: String, _ row: String) throws {
    let (claim, statement) = (try Statement("claim/claim"), try Statement(path))
    var parts = [("from tacet.message_context", "union all"), ("from tacet.event_content", ") e limit 1 ) m on true")]
    if path != "inspect/explain_event" { parts.append(("tacet.seen_by(", ")")) }
    if path != "inspect/explain_event" { parts.append(("tacet.event_audience(", ")")) }
    for (from, to) in parts {
      let claimed = try claim.part(from: from, to: to).replacing(/\bw\./, with: "\(row).")
      #expect(try statement.part(from: from, to: to) == claimed)
    }
  }

  @Test("both records write the ledger in the same way")
  func records() throws {
    for (from, to) in [
      ("insert into tacet.push_log as l", "metadata )"), ("least(o.woken_us", "'{}')"),
      ("on conflict (subject_id, user_id, push_type)", "excluded.decision = 'sent'"),
      ("select from tacet.inbox x", "for update"),
    ] {
      #expect(
        try Statement("record/record").part(from: from, to: to)
          == Statement("record/record_finished").part(from: from, to: to))
    }
  }

  @Test(
    "pairs of statements that differ at their beginning only",
    arguments: [
      ("queue/park_exhausted", "queue/park_refused", "parked as"),
      ("inspect/explain_event", "inspect/explain_event_alone", "inbox as"),
      ("inspect/explain_kinds", "inspect/explain_kinds_alone", "select l.push_type as kind"),
      ("inspect/explain_recipients", "inspect/explain_recipients_alone", "parked as"),
    ])
  func pairs(_ one: String, _ other: String, _ part: String) throws {
    // Preferences are the host's.
    let preferences = /'preferences', .*, 'devices'/
    #expect(
      try Statement(one).part(from: part).replacing(preferences, with: "'preferences', null, 'devices'")
        == Statement(other).part(from: part))
  }

  @Test(
    "a number that the code knows too is the same",
    arguments: [
      ("claim/claim", "from tacet.push_targets", "limit \(ClaimLimits.devicesMax) "),
      ("claim/claim", "octet_length(d.address)", "<= \(PushTarget.addressBytesMax) "),
      ("claim/claim", "left(coalesce(n.app, '')", ", \(BundleIdentifier.bytesMax + 1))"),
      ("record/record", "jsonb_array_length(l.history)", "< \(HistoryEntry.keptMax) "),
      ("record/record", "(l.history -", " \(HistoryEntry.keptMax / 2))"),
      ("inspect/explain_event", "from tacet.push_log l", "limit \(EventFacts.countMax) "),
      ("inspect/overview_queues", "order by i.available_at", "limit \(PushDatabase.overviewCountMax + 1) "),
      ("inspect/overview_lanes", "d.lane = n.lane", "limit \(PushDatabase.overviewCountMax + 1) "),
      ("inspect/overview_ledger", "least(59", ", n.age_us / (r.us / \(LedgerFigures().slices.count)))"),
      ("inspect/overview_instances", "i.seen_at >", " now() - \(ServiceInstance.silentFrom.components.seconds) *"),
      ("doctor/examine_backlog", "from tacet.inbox i", " limit \(ExaminedBacklog.rowsMax))"),
      ("doctor/examine_erasures", "order by e.due_at", "limit \(ExaminedBacklog.rowsMax) "),
      ("doctor/examine_campaign_work", "interval '10 minutes'", "limit \(ExaminedBacklog.rowsMax) "),
    ])
  func numbers(_ path: String, _ place: String, _ number: String) throws {
    let rest = try Statement(path).part(from: place).prefix(300)
    #expect(rest.contains(number), "\(rest)")
  }
}

/// A file of `db/statements` on one line, without comments.
private struct Statement {
  let text: String

  init(_ path: String) throws {
    let lines = try Repository.text("db/statements/\(path).sql").split(separator: "\n")
    text = lines.map { $0.trimmingPrefix(while: \.isWhitespace) }.filter { !$0.hasPrefix("--") }.joined(separator: " ")
  }

  /// From the beginning of one part to the end of the next other one.
  func part(from start: String = "", to end: String? = nil) throws -> String {
    let rest = start.isEmpty ? text[...] : try text[#require(text.firstRange(of: start)).lowerBound...]
    guard let end else { return String(rest) }
    return String(try rest[..<#require(rest.firstRange(of: end)).upperBound])
  }
}
