import Foundation
import PushRules
import TestRepository
import Testing

@testable import PushStore

/// What several statements, or a statement and the code, say alike.
@Suite("Texts of statements")
struct StatementTextTests {
  @Test("a claim of messages reads them as a claim of all kinds does")
  func messages() throws {
    let messages = try Statement("claim_messages").part(
      from: "select w.subject_id, w.kind, w.attempts", to: "left join lateral (")
    let kinds = try Statement("claim").part(
      from: "select w.subject_id, w.kind, w.attempts", to: "left join lateral (")
    #expect(Self.ofMessages(kinds) == messages)
    let end = "left join lateral ( select array_agg(left(n.channel, 32))"
    #expect(
      try Statement("claim_messages").part(from: end) == Self.ofMessages(Statement("claim").part(from: end))
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

  @Test(
    "what is known of an event, and whom it concerns, is asked for in the same way",
    arguments: [("review_holds", "x"), ("explain_event", "w"), ("explain_recipients", "w")])
  func contexts(_ path: String, _ row: String) throws {
    let (claim, statement) = (try Statement("claim"), try Statement(path))
    var parts = [("from tacet.message_context", "union all"), ("from tacet.event_content", ") e limit 1 ) m on true")]
    if path != "explain_event" { parts.append(("tacet.seen_by(", ")")) }
    if path != "explain_event" { parts.append(("tacet.event_audience(", ")")) }
    for (from, to) in parts {
      let claimed = try claim.part(from: from, to: to).replacing(/\bw\./, with: "\(row).")
      #expect(try statement.part(from: from, to: to) == claimed)
    }
  }

  @Test(
    "a number that the code knows too is the same",
    arguments: [
      ("claim", "from tacet.push_targets", "limit \(ClaimLimits.devicesMax) "),
      ("claim", "octet_length(d.address)", "<= \(PushTarget.addressBytesMax) "),
      ("claim", "left(coalesce(n.app, '')", ", \(BundleIdentifier.bytesMax + 1))"),
      ("record", "jsonb_array_length(l.history)", "< \(HistoryEntry.keptMax) "),
      ("record", "(l.history -", " \(HistoryEntry.keptMax / 2))"),
      ("explain_event", "from tacet.push_log l", "limit \(EventFacts.countMax) "),
      ("overview_queues", "order by i.available_at", "limit \(PushDatabase.overviewCountMax + 1) "),
      ("overview_lanes", "d.lane = n.lane", "limit \(PushDatabase.overviewCountMax + 1) "),
      ("overview_ledger", "least(59", ", n.age_us / (r.us / \(LedgerFigures().slices.count)))"),
      ("overview_instances", "i.seen_at >", " now() - \(ServiceInstance.silentFrom.components.seconds) *"),
      ("examine_backlog", "from tacet.inbox i", " limit \(ExaminedBacklog.rowsMax))"),
      ("examine_erasures", "order by e.due_at", "limit \(ExaminedBacklog.rowsMax) "),
      ("examine_campaign_work", "interval '10 minutes'", "limit \(ExaminedBacklog.rowsMax) "),
    ])
  func numbers(_ path: String, _ place: String, _ number: String) throws {
    let rest = try Statement(path).part(from: place).prefix(300)
    #expect(rest.contains(number), "\(rest)")
  }
}

/// A statement of `db/statements` on one line, without comments.
private struct Statement {
  let text: String

  init(_ name: String) throws {
    text = try Self.lines(of: name).filter { !$0.hasPrefix("--") }.joined(separator: " ")
  }

  private static func lines(of name: String) throws -> [String] {
    let files = try Repository.files(in: "db/statements", ending: "sql").map {
      try String(contentsOf: $0, encoding: .utf8)
    }
    let sections = files.flatMap { $0.split(separator: #/\n-- (name|part): /#) }
    let section = try #require(sections.first { $0.hasPrefix("\(name)\n") }, "\(name)")
    return try section.split(separator: "\n").dropFirst().flatMap { line in
      let line = String(line.trimmingPrefix(while: \.isWhitespace))
      guard line.hasPrefix("-- include: ") else { return [line] }
      return try lines(of: String(line.dropFirst(12)))
    }
  }

  /// From the beginning of one part to the end of the next other one.
  func part(from start: String = "", to end: String? = nil) throws -> String {
    let rest = start.isEmpty ? text[...] : try text[#require(text.firstRange(of: start)).lowerBound...]
    guard let end else { return String(rest) }
    return String(try rest[..<#require(rest.firstRange(of: end)).upperBound])
  }
}
