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
  let handOvers: [HandOver]
  let lines: LineBook
  let windowMicroseconds: Int64
  /// How long the messages of a burst share a notification; 0 when each has its own.
  let foldMicroseconds: Int64
  /// By device.
  let users: [String: String]
  /// By message.
  let createdAt: [String: Int64]
  /// The conversation of each message.
  let rooms: [String: String]
  /// How long a request that was written before a strike may take to be read after it, and an answer to be recorded: a quarter of a
  /// second, or, on a machine that is busy with other work, twice what 99 of 100 undisturbed pushes took to be accepted.
  private(set) var slackMicroseconds: Int64 = 250_000

  init(
    host: HostBook, ledger: LedgerBook, wire: WireBook, disruptions: [DisruptionRecord], handOvers: [HandOver],
    windowMicroseconds: Int64, foldMicroseconds: Int64
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
    rooms = messages.reduce(into: [:]) { $0[$1.id] = $1.room.id }
    let enqueuedAt = ledger.rows.reduce(into: createdAt) { $0[$1.key.message] = $1.value[0].enqueuedAt }
    lines = LineBook(wire.accepted, enqueuedAt)
    reports = host.reports
    self.ledger = ledger
    self.wire = wire
    self.disruptions = disruptions
    self.handOvers = handOvers
    self.windowMicroseconds = windowMicroseconds
    self.foldMicroseconds = foldMicroseconds
    let latencies = undisturbedLatencies
    if !latencies.isEmpty { slackMicroseconds = max(slackMicroseconds, 2 * latencies[latencies.count * 99 / 100]) }
  }

  var committed: [HostMessage] { messages.filter(\.isCommitted) }

  var violations: [Violation] {
    let byRecipient = committed.flatMap { message in
      message.room.recipients.flatMap { violations(of: message, for: $0) }
    }
    return byRecipient + forgotten + strangers + identityViolations + duplicateViolations + outdatedLines
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

  /// Every push of a message to a device has the same two identifiers, the second of which is the message or, where bursts fold, one of
  /// its conversation that is earlier, or of which nothing was shown.
  private var identityViolations: [Violation] {
    wire.accepted.compactMap { place, arrivals in
      let identifiers = Set(arrivals.map(\.identifier))
      let collapseIDs = Set(arrivals.map(\.collapseID))
      guard identifiers.count > 1 || !isOwnOrEarlier(collapseIDs, than: place.message) else { return nil }
      if identifiers.count == 1, mayBeInTwoBursts(arrivals, at: place) || stoodIn(arrivals, at: place) { return nil }
      return Violation(
        kind: .doubled, message: place.message, text: "at \(place.device) as \(identifiers) collapsing \(collapseIDs)")
    }
  }
}

// Pushes that were accepted again.
extension CrashBooks {
  /// A lease, during which nobody else takes the work of a claim that was forgotten or whose answers were lost.
  private static let leaseMicroseconds: Int64 = 30_000_000

  /// How long conversations may change hands after a process serves or has ended: a renewal each, and what is in hand.
  private static let handOverMicroseconds: Int64 = 2_000_000

  /// How long a push may be on its way.
  private static let pushMicroseconds: Int64 = 10_000_000

  /// Acceptances that were in flight in a disruption: the service may not know of them, and then repeats them. There
  /// are at most as many duplicates.
  var acceptancesInFlight: Int {
    wire.accepted.reduce(0) { count, entry in count + entry.value.count { isInFlight($0.at, entry.key) } }
  }

  /// Repetitions of what was not in flight in any disruption.
  var duplicateViolations: [Violation] {
    wire.accepted.flatMap { place, arrivals in
      zip(arrivals, arrivals.dropFirst()).filter { !isInFlight($0.0.at, place) }.map { first, second in
        Violation(
          kind: .repeated, message: place.message,
          text: "accepted again by \(place.device) after \(second.at - first.at) us, though nothing came between")
      }
    }
  }

  /// Repetitions of what the service was told in peace: no disruption from the acceptance until ``slackMicroseconds`` after its
  /// answer. The service may not know of the others: their answers were lost, or may have been.
  var duplicatesOfTheKnown: Int {
    wire.accepted.values.reduce(0) { $0 + $1.dropLast().count { isKnown($0) } }
  }

  private func isKnown(_ arrival: WireBook.Arrival) -> Bool {
    guard let answeredAt = arrival.answeredAt else { return false }
    return !disruptions.contains {
      $0.beganAt <= answeredAt + slackMicroseconds && arrival.at <= $0.struckAt + slackMicroseconds
    }
  }

  /// From the acknowledged commit to the acceptance, for those who are away, when no disruption was between a second
  /// before and the acceptance, and no conversation changed hands; microseconds, the shortest first. What follows in a burst waits
  /// for the push before it, and does not count.
  var undisturbedLatencies: [Int64] {
    committed.flatMap { message in
      message.room.recipients.filter { $0.situation == .away }.compactMap { latency(of: message, to: $0) }
    }.sorted()
  }

  private func latency(of message: HostMessage, to recipient: HostRecipient) -> Int64? {
    guard let device = recipient.devices.first, let committedAt = message.acknowledgedAt,
      let arrival = wire.arrivals(of: message, at: device).first, arrival.collapseID == message.id
    else { return nil }
    let acceptedAt = arrival.at
    let isDisturbed = disruptions.contains { $0.beganAt <= acceptedAt && $0.struckAt >= committedAt - 1_000_000 }
    let isHandedOver = handOvers.contains {
      $0.beganAt <= acceptedAt && $0.endedAt + Self.handOverMicroseconds >= committedAt
    }
    return isDisturbed || isHandedOver ? nil : max(0, acceptedAt - committedAt)
  }

  /// How many were accepted again after each kind of disruption.
  var duplicateCauses: [String: Int] {
    var causes: [String: Int] = [:]
    for (place, arrivals) in wire.accepted where arrivals.count > 1 {
      for arrival in arrivals.dropLast() {
        let cause = disruptions.last {
          isInFlight(arrival.at, place, in: $0) && $0.beganAt <= arrival.at + Self.pushMicroseconds
        }
        causes[cause?.name ?? "none", default: 0] += 1
      }
    }
    return causes
  }

  /// Whether each acceptance of a push was in flight in a disruption.
  func mayBeUnknown(_ place: WireBook.Place) -> Bool {
    (wire.accepted[place] ?? []).allSatisfy { isInFlight($0.at, place) }
  }

  func isInFlight(_ acceptedAt: Int64, _ place: WireBook.Place) -> Bool {
    disruptions.contains { isInFlight(acceptedAt, place, in: $0) }
  }

  /// Accepted while the disruption struck; or by a claim that was not safely recorded before; or, after a crash that
  /// may have forgotten a claim, late under that claim.
  private func isInFlight(_ acceptedAt: Int64, _ place: WireBook.Place, in disruption: DisruptionRecord) -> Bool {
    let end = disruption.struckAt + slackMicroseconds
    if disruption.beganAt <= acceptedAt, acceptedAt <= end { return true }
    if acceptedAt <= end + Self.leaseMicroseconds, isUnsafe(place, in: disruption) { return true }
    guard disruption.isCrash, end < acceptedAt, acceptedAt <= end + Self.pushMicroseconds else { return false }
    return createdAt[place.message].map { $0 <= disruption.struckAt } ?? false
  }

  /// Whether a process that was stopped may have had the push in hand. It goes on with it, whoever has the conversation by then.
  func mayBeLate(_ arrival: WireBook.Arrival, _ place: WireBook.Place) -> Bool {
    disruptions.contains { pause in
      guard pause.isPause, pause.struckAt < arrival.at, arrival.at <= pause.struckAt + Self.leaseMicroseconds else {
        return false
      }
      let isOfMoment = createdAt[place.message].map {
        pause.beganAt <= $0 && $0 <= pause.struckAt + slackMicroseconds
      }
      return isOfMoment == true || isUnsafe(place, in: pause)
    }
  }

  private func isUnsafe(_ place: WireBook.Place, in disruption: DisruptionRecord) -> Bool {
    disruption.unsafeWork.contains(.init(message: place.message, user: nil))
      || disruption.unsafeWork.contains(.init(message: place.message, user: users[place.device]))
  }
}

// One recipient of one message.
extension CrashBooks {
  /// How long one statement may take: half a second, on a machine that has a database just started and everything else to do, or what the
  /// load makes of it.
  private var claimMicroseconds: Int64 { max(500_000, slackMicroseconds) }

  func violations(of message: HostMessage, for recipient: HostRecipient) -> [Violation] {
    var found: [Violation] = []
    func expect(_ holds: Bool, _ text: String, _ kind: Violation.Kind = .wrong) {
      if !holds {
        found.append(
          Violation(kind: kind, message: message.id, text: "\(recipient.situation) \(recipient.user): \(text)"))
      }
    }
    let rows = ledger.rows[LedgerBook.Place(message: message.id, user: recipient.user)] ?? []
    expect(rows.count <= 1, "\(rows.count) ledger rows")
    expect(!rows.isEmpty || message.mayBeDeleted, "no final state", .lost)
    let arrivals = recipient.devices.map { wire.arrivals(of: message, at: $0) }
    if let row = rows.first {
      expect(
        outcomes(of: recipient, message).contains("\(row.decision) \(row.reason)"),
        "ends as \(row.decision) \(row.reason)", row.decision == "held" || row.decision == "failed" ? .lost : .wrong)
      expect(row.decision != "sent" || arrivals.contains { !$0.isEmpty }, "sent, but nothing was accepted", .lost)
      expect(row.decision != "sent" || (1...recipient.devices.count).contains(row.devicesAccepted), "devices accepted")
      if row.isLetGo, let text = objection(toClaim: row, of: message, for: recipient) { expect(false, text) }
    }
    if mustBePushed(message, to: recipient) {
      if isFolding {
        expect(isShown(message, to: recipient), "neither it nor a newer one was accepted for every device", .lost)
      } else {
        expect(!arrivals.contains { $0.isEmpty }, "not accepted for every device", .lost)
      }
    }
    if let row = rows.first, row.isFolded, let text = objection(toFoldOf: message, for: recipient) {
      expect(false, text, .lost)
    }
    if let first = arrivals.joined().map(\.at).min(),
      let text = objection(toArrival: first, of: message, for: recipient)
    {
      expect(false, text)
    }
    return found
  }

  /// What the ledger may say in the end, as `decision reason`.
  private func outcomes(of recipient: HostRecipient, _ message: HostMessage) -> Set<String> {
    let sent: Set<String> = isFolding ? ["sent ", "skipped folded"] : ["sent "]
    let outcomes: Set<String> =
      switch recipient.situation {
      case .tokenless: ["skipped no_tokens"]
      case .hasRead: ["skipped already_read"]
      case .reading where message.followUpBegan != nil: sent.union(["skipped already_read"])
      case .looking: sent.union(["skipped user_viewing"])
      case .away, .glimpsing, .leaving, .reading: sent
      }
    return message.mayBeDeleted ? outcomes.union(["skipped deleted"]) : outcomes
  }

  private func mustBePushed(_ message: HostMessage, to recipient: HostRecipient) -> Bool {
    switch recipient.situation {
    case .away, .glimpsing, .leaving: !message.mayBeDeleted
    case .reading: message.followUpBegan == nil
    case .looking, .tokenless, .hasRead: false
    }
  }

  /// Why the claim under which the ledger says that it was sent or folded cannot have been right.
  private func objection(
    toClaim row: LedgerBook.Row, of message: HostMessage, for recipient: HostRecipient
  ) -> String? {
    if let done = message.followUpDone, message.followUp != .leave, row.claimedAt > done + claimMicroseconds {
      return "\(row.decision) by a claim \(row.claimedAt - done) us after it was read or deleted"
    }
    guard recipient.situation == .looking else { return nil }
    let messageAt = max(row.enqueuedAt, message.createdAt ?? 0)
    return judgement(of: recipient).mayBeAbsent(messageAt: messageAt, claimedAt: row.claimedAt)
      ? nil : "\(row.decision) by a claim while looking"
  }

  private func judgement(of recipient: HostRecipient) -> PresenceJudgement {
    PresenceJudgement(
      reports: reports[recipient.user] ?? [], windowMicroseconds: windowMicroseconds,
      claimMicroseconds: claimMicroseconds)
  }

  /// Why the first accepted push cannot have been right at its time.
  private func objection(
    toArrival arrivedAt: Int64, of message: HostMessage, for recipient: HostRecipient
  ) -> String? {
    guard let createdAt = message.createdAt else { return nil }
    switch recipient.situation {
    case .hasRead, .tokenless: return "pushed"
    case .away, .reading: return nil
    case .glimpsing:
      let end = createdAt + windowMicroseconds
      if let done = message.followUpDone, done < end - claimMicroseconds {
        return "pushed, though it was deleted within the window"
      }
      return arrivedAt < end ? "pushed \(end - arrivedAt) us before the window ended" : nil
    case .leaving:
      let end = min(createdAt + windowMicroseconds, message.followUpBegan ?? .max)
      return arrivedAt < end ? "pushed \(end - arrivedAt) us before they left" : nil
    case .looking:
      let place = LedgerBook.Place(message: message.id, user: recipient.user)
      let messageAt = max(createdAt, ledger.rows[place]?.first?.enqueuedAt ?? 0)
      return judgement(of: recipient).mayHaveBeenAbsent(messageAt: messageAt, arrivedAt: arrivedAt)
        ? nil : "pushed while looking"
    }
  }
}
