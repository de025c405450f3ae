/// The books of a run: what the host wrote, what the service recorded, what the simulator accepted; and whether they
/// balance.
struct CrashBooks {
  /// Something that must not be.
  struct Violation {
    enum Kind { case lost, wrong, doubled, repeated }

    let kind: Kind
    let message: String
    let text: String
  }

  let messages: [HostMessage]
  let reports: [String: [PresenceReport]]
  let ledger: LedgerBook
  let wire: WireBook
  let disruptions: [DisruptionRecord]
  let windowMicroseconds: Int64
  /// By device.
  let users: [String: String]
  /// By message.
  let createdAt: [String: Int64]

  init(
    host: HostBook, ledger: LedgerBook, wire: WireBook, disruptions: [DisruptionRecord], windowMicroseconds: Int64
  ) {
    // Where the answer to the commit was lost, the table tells whether it was one.
    messages = host.messages.map { message in
      var message = message
      message.createdAt = message.createdAt ?? ledger.messages[message.id]
      return message
    }
    users = messages.flatMap(\.room.recipients).reduce(into: [:]) { users, recipient in
      for device in recipient.devices { users[device] = recipient.user }
    }
    createdAt = messages.reduce(into: [:]) { $0[$1.id] = $1.createdAt }
    reports = host.reports
    self.ledger = ledger
    self.wire = wire
    self.disruptions = disruptions
    self.windowMicroseconds = windowMicroseconds
  }

  var committed: [HostMessage] { messages.filter(\.isCommitted) }

  var violations: [Violation] {
    let byRecipient = committed.flatMap { message in
      message.room.recipients.flatMap { violations(of: message, for: $0) }
    }
    return byRecipient + forgotten + strangers + identityViolations + duplicateViolations
  }

  /// What the database acknowledged to the host and does not have: then nothing can be said about the service.
  private var forgotten: [Violation] {
    let messages = committed.filter { !$0.mayBeDeleted && ledger.messages[$0.id] == nil }.map {
      Violation(kind: .wrong, message: $0.id, text: "was committed, and the database has forgotten it")
    }
    let reports = reports.values.joined().filter { ledger.reported[$0.user]?.contains($0.seenAt) != true }.map {
      Violation(kind: .wrong, message: "none", text: "the database has forgotten \($0)")
    }
    return messages + reports
  }

  /// Rows and pushes of messages that were never committed, or for people who are no recipients.
  private var strangers: [Violation] {
    let known = Set(
      committed.flatMap { message in
        message.room.recipients.map { LedgerBook.Place(message: message.id, user: $0.user) }
      })
    let rows = ledger.rows.keys.filter { !known.contains($0) }.map {
      Violation(kind: .wrong, message: $0.message, text: "has a ledger row for \($0.user), who is no recipient")
    }
    let places = Set(
      committed.flatMap { message in
        message.room.recipients.flatMap(\.devices).map { WireBook.Place(device: $0, message: message.id) }
      })
    let pushes = wire.accepted.keys.filter { !places.contains($0) }.map {
      Violation(kind: .wrong, message: $0.message, text: "was pushed to \($0.device), which is no recipient's")
    }
    return rows + pushes
  }

  /// Every push of a message to a device has the same two identifiers, the second of which is the message.
  private var identityViolations: [Violation] {
    wire.accepted.compactMap { place, arrivals in
      let identifiers = Set(arrivals.map(\.identifier))
      let collapseIDs = Set(arrivals.map(\.collapseID))
      guard identifiers.count > 1 || collapseIDs != [place.message] else { return nil }
      return Violation(
        kind: .doubled, message: place.message, text: "at \(place.device) as \(identifiers) collapsing \(collapseIDs)")
    }
  }
}
