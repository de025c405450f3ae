internal import FoundationEssentials
internal import Postgres
internal import PushRules

/// The newest message of a conversation, and what a mapping makes of it.
package struct PlayedMessage: Decodable, Equatable, Sendable {
  package struct Person: Decodable, Equatable, Sendable {
    let user: String
    /// Why no push comes; empty for one who gets it.
    let reasons: String
    let hasDevice: Bool
    let badge: Int?
  }

  let message: String
  let conversation: String
  let title: String?
  let preview: String?
  let people: [Person]

  /// For people. What came from outside is shown on one line.
  var lines: [String] {
    let reached = people.filter { $0.reasons.isEmpty }
    let devices = reached.count(where: \.hasDevice)
    var lines = [
      "message \(message) of \(conversation): \(title ?? "without a name"): \(preview ?? "without a text")",
      "  \(reached.count) of \(people.count) people would get it, \(devices) of them \(devices == 1 ? "has" : "have") a device",
    ]
    lines += people.map { person in
      guard person.reasons.isEmpty else { return "  not \(person.user): \(person.reasons)" }
      return
        "  \(person.user)\(person.badge.map { ", badge \($0)" } ?? "")\(person.hasDevice ? "" : ", without a device")"
    }
    if reached.isEmpty { lines.append("  warning: nobody would get it") }
    if !reached.isEmpty, devices == 0 { lines.append("  warning: none of those who would get it has a device") }
    return lines.map(\.onOneLine)
  }
}

// The question that tacet init --check asks.
extension WiringFile {
  /// Conversations that are played, people of each, and the newest messages among which they are looked for.
  private static let (conversationsMax, peopleMax, messagesMax) = (5, 20, 200)

  /// Returns a JSON array of ``PlayedMessage``; null where no message is pushed.
  /// - Parameter isApplied: whether the wiring's own tables are there.
  func checkStatement(isApplied: Bool) -> String {
    let row = tables
    let hasDevices = isApplied || mapping.section(.devices)?.isWord == false
    let device = "exists (select from \(row.devices) d where d.user_id = w.user_id and d.device_token is not null)"
    return """
      with newest as materialized (
        select m.*, m.position as place from \(row.messages) m where m.conversation_id is not null
        order by m.id desc limit \(Self.messagesMax)
      ), chosen as (
        select distinct on (n.conversation_id) n.* from newest n order by n.conversation_id, n.place desc
      )
      select jsonb_agg(jsonb_build_object(
        'message', m.id::text, 'conversation', m.conversation_id::text, 'title', left(\(row.senderName), 80),
        'preview', left(m.body, 80), 'people', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'user', w.user_id::text, 'reasons', concat_ws('; ',
              case when w.user_id = m.sender_id then 'is the sender' end, nullif(w.reasons, ''), \(accountReason),
              case when \(blocked("w.user_id", "m.sender_id")) then 'has blocked the sender' end,
              case when \(isRead) then 'has read it' end),
            'hasDevice', \(hasDevices ? device : "false"),
            'badge', \(badge))), '[]')
          from (\(people) limit \(Self.peopleMax)) w
        )))::text
      from (select c.* from chosen c order by c.place desc limit \(Self.conversationsMax)) m
      \(row.names ? "left join \(row.users) u on u.user_id = m.sender_id" : "")
      """
  }

  /// Everybody whom the tables name beside the message, with what keeps them from it.
  private var people: String {
    guard let members = mapping.section(.members) else { return "" }
    let row = tables
    switch members.head.value {
    case "everyone": return "select u.user_id, '' as reasons from \(row.users) u"
    case "recipient": return "select m.recipient_id as user_id, '' as reasons"
    default:
      return
        "select p.user_id, \(reasons(members, in: "p")) as reasons from \(row.people) p where p.conversation_id = m.conversation_id"
    }
  }

  private var accountReason: String {
    guard let users = mapping.section(.users), !users.conditions("only", "wants").isEmpty else { return "null" }
    return "(select nullif(\(reasons(users, in: "a")), '') from \(tables.accounts) a where a.user_id = w.user_id)"
  }

  private func reasons(_ section: HostMapping.Section, in alias: String) -> String {
    let lines = section.lines.filter { ["only", "wants"].contains($0.key) }
    let words = zip(1..., lines).map { number, line in
      "case when \(alias).condition\(number) is not true then \("not: \(line.value)".quotedLiteral) end"
    }
    return words.isEmpty ? "''" : "concat_ws('; ', \(words.joined(separator: ", ")))"
  }

  private var isRead: String {
    let reads = tables.reads
    switch mapping.read {
    case .none: return "false"
    case .flag: return "m.is_read and w.user_id is distinct from m.sender_id"
    case .array: return "w.user_id::text = any (m.readers::text[])"
    case .receipts: return "exists (select from \(reads) r where r.message_id = m.id and r.user_id = w.user_id)"
    case .marker(_, _, let isFirstUnread):
      let condition = isFirstUnread ? "(r.mark > m.position) is not false" : "r.mark >= m.position"
      return
        "exists (select from \(reads) r where r.conversation_id = m.conversation_id and r.user_id = w.user_id and \(condition))"
    }
  }

  /// What the function of the wiring counts.
  private var badge: String {
    let text = text
    guard let function = text.firstRange(of: "function tacet.unread_count("),
      let begin = text[function.upperBound...].firstRange(of: "  return (\n"),
      let end = text[begin.upperBound...].firstRange(of: "\n  );")
    else { return "null" }
    let body = text[begin.upperBound..<end.lowerBound]
    return "(\(body.replacing("unread_count.user_id", with: "(w.user_id)::\(ids.users.rawValue)")))"
  }
}

extension WiringFile {
  /// What no message shows.
  var meanings: [String] {
    var lines: [String] = []
    if mapping.read == .none {
      lines.append(
        "read none: a push comes although the message was read elsewhere, and only a line unread of members makes a badge"
      )
    }
    if mapping.section(.members)?.head.value == "everyone", let users = mapping.section(.users),
      let table = schema.table(named: users.head.value)
    {
      lines.append("members everyone: \(table.everyone)")
    }
    return lines
  }
}
