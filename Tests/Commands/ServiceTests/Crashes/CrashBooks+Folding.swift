// Bursts: messages that share a notification, or are folded into a newer one. Everybody is told of each message, by itself or by a newer
// one; no message is shown in two notifications, and no notification ends with an older message than it has shown.
extension CrashBooks {
  /// Longer than it takes until a process that was killed or stopped has a successor. A burst that is shorter may be over by then.
  private static let takeOverMicroseconds: Int64 = 10_000_000

  var isFolding: Bool { foldMicroseconds > 0 }

  /// Recipients who were told of a message by a newer one.
  var folded: Int { ledger.rows.values.joined().count(where: \.isFolded) }

  /// Whether the pushes of a message went into its own notification, or into that of a burst which an earlier one began.
  func isOwnOrEarlier(_ collapseIDs: Set<String?>, than message: String) -> Bool {
    guard isFolding else { return collapseIDs == [message] }
    guard collapseIDs.count == 1, case let first?? = collapseIDs.first, let room = rooms[first] else { return false }
    return room == rooms[message] && lines.message(first) <= lines.message(message)
  }

  /// Whether every device was shown a message, or a newer one of its conversation.
  func isShown(_ message: HostMessage, to recipient: HostRecipient) -> Bool {
    let message = lines.message(message.id)
    return recipient.devices.allSatisfy { device in lines.newest(at: device).map { $0 >= message } ?? false }
  }

  /// Why a message cannot have been folded: each device must have been shown a newer one, and one of them in the notification that the
  /// ledger names.
  func objection(toFold row: LedgerBook.Row, of message: HostMessage, for recipient: HostRecipient) -> String? {
    let message = lines.message(message.id)
    let isOvertaken = recipient.devices.allSatisfy { device in
      lines.newest(at: device).map { $0 > message } ?? false
    }
    guard isOvertaken else { return "folded, but a device was shown nothing newer" }
    guard foldMicroseconds > Self.takeOverMicroseconds else { return nil }
    let isThere = recipient.devices.contains { device in
      lines.newest(at: device, under: row.notification).map { $0 > message } ?? false
    }
    return isThere ? nil : "folded into \(row.notification), which shows nothing newer"
  }

  /// Notifications that show in the end an older message than before. Only what a process had in hand that was stopped may come
  /// so late, and what follows a newer one of whose acceptance the service may not know.
  var outdatedLines: [Violation] {
    lines.shown.compactMap { line, shown in
      let place = WireBook.Place(device: line.device, message: shown.last.id)
      let newer = WireBook.Place(device: line.device, message: shown.newest.id)
      guard shown.last < shown.newest, !mayBeLate(shown.lastArrival, place), !mayBeUnknown(newer) else { return nil }
      return Violation(
        kind: .wrong, message: shown.newest.id,
        text: "was shown by \(line.device) in \(line.collapseID ?? "none"), and the older \(shown.last.id) after it")
    }
  }
}
