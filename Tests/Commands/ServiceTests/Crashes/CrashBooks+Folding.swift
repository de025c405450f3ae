// Bursts: messages that share a notification, or are folded into a newer one. Everybody is told of each message, by itself or by a newer
// one; no message is shown in two notifications, and no notification ends with an older message than it has shown.
extension CrashBooks {
  var isFolding: Bool { foldMicroseconds > 0 }

  /// Recipients who were told of a message by a newer one.
  var folded: Int { ledger.rows.values.joined().count(where: \.isFolded) }

  /// Whether the pushes of a message went into its own notification, or into that of a burst which an earlier one began.
  func isOwnOrEarlier(_ collapseIDs: Set<String?>, than message: String) -> Bool {
    guard isFolding else { return collapseIDs == [message] }
    guard collapseIDs.count == 1, case let first?? = collapseIDs.first, let room = rooms[first] else { return false }
    return room == rooms[message] && lines.message(first) <= lines.message(message)
  }

  /// Whether a message went into the notification of a burst that a newer one had begun, before anything of that was shown: after an outage
  /// the newest rows are claimed first, and what is older and comes while their pushes are put off is shown in their place.
  func stoodIn(_ arrivals: [WireBook.Arrival], at place: WireBook.Place) -> Bool {
    guard isFolding, let first = arrivals.first, let began = first.collapseID, rooms[began] == rooms[place.message],
      rooms[began] != nil, arrivals.allSatisfy({ $0.collapseID == began })
    else { return false }
    return !wire.accepted.contains { other, accepted in
      other.device == place.device && other.message != place.message
        && accepted.contains { $0.collapseID == began && $0.at < first.at }
    }
  }

  /// Whether a push went into two bursts because the service may not know of its first acceptance. Is it put off meanwhile, it is of the
  /// burst of the later time.
  func mayBeInTwoBursts(_ arrivals: [WireBook.Arrival], at place: WireBook.Place) -> Bool {
    guard isFolding, let first = arrivals.first, isInFlight(first.at, place) else { return false }
    return arrivals.allSatisfy { isOwnOrEarlier([$0.collapseID], than: place.message) }
  }

  /// Whether every device was shown a message, or a newer one of its conversation.
  func isShown(_ message: HostMessage, to recipient: HostRecipient) -> Bool {
    let message = lines.message(message.id)
    return recipient.devices.allSatisfy { device in lines.newest(at: device).map { $0 >= message } ?? false }
  }

  /// Why a message cannot have been folded: each device must have been shown a newer one. Not always in the notification that the
  /// ledger names: when the newer one was put off, it may begin a burst of its own later.
  func objection(toFoldOf message: HostMessage, for recipient: HostRecipient) -> String? {
    let message = lines.message(message.id)
    let isOvertaken = recipient.devices.allSatisfy { device in
      lines.newest(at: device).map { $0 > message } ?? false
    }
    return isOvertaken ? nil : "folded, but a device was shown nothing newer"
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
