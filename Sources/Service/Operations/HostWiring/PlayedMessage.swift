internal import FoundationEssentials
internal import Postgres

/// A message of a conversation, and what a mapping makes of it.
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

  /// Reads what `played` of `db/host/wiring.sql` returns.
  static func all(_ document: String?) throws -> [PlayedMessage] {
    try document.map { try JSONDecoder().decode([PlayedMessage].self, from: Data($0.utf8)) } ?? []
  }

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

extension WiringFile {
  /// What no message shows.
  var meanings: [String] {
    var lines: [String] = []
    if mapping.read == .none {
      lines.append(
        "read none: a push comes although the message was read elsewhere, and only a line unread of members makes a badge"
      )
    }
    if mapping[.members].head.value == "everyone", let table = table(mapping[.users]) {
      lines.append("members everyone: \(table.everyone)")
    }
    return lines
  }
}
