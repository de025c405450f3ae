internal import FoundationEssentials
internal import Postgres
internal import PushRules

/// One row of a claim: an event and one of its recipients, or an event that has none.
struct ClaimRow {
  /// The columns of ``PushStatements/claim`` and of the two looks, in their order.
  private enum Column: Int {
    case subjectID, kind, attempts, isDelivery, enqueuedAt, claimedAt, conversationID, senderName, body
    case userID, isParticipant, hasRead, lastSeenAge, sawAfterMessage, hasLeft, priorReadAge, badge
    case deviceTokens, environments, apps, acceptedDevices, heldMicroseconds, retries, isWaiting
    case title, surfaceKind, readMessageIDs, hasReadMore
    case isOptedOut, isMuted, wantsMentionsOnly, isMentioned, quietHoursRemaining, quietHoursPolicy
    case data, collapseID, releasedBy, releasedAt, datedAt, answeredAt
  }

  private let row: PostgresRow

  /// Rows of one event stand together, because the statement sorts by subject.
  /// - Parameter recipientsMax: the bound that the statement was given; an event that reaches it may have more.
  static func events(from rows: PostgresRows, recipientsMax: Int) throws(PostgresError) -> [PushEvent] {
    var events: [PushEvent] = []
    for row in rows {
      let row = ClaimRow(row: row)
      let event = try row.event()
      if events.last?.isSameClaim(as: event) != true { events.append(event) }
      if let recipient = try row.recipient() { events[events.count - 1].recipients.append(recipient) }
    }
    for index in events.indices where events[index].origin == .inbox {
      events[index].hasMore = events[index].recipients.count >= recipientsMax
    }
    return events
  }

  private func event() throws(PostgresError) -> PushEvent {
    PushEvent(
      subject: PushSubject(id: try read(.subjectID), kind: try read(.kind)),
      origin: try read(.isDelivery) ? .delivery : .inbox,
      attempts: Int(try read(.attempts) as Int32),
      enqueuedAt: try read(.enqueuedAt),
      claimedAt: try read(.claimedAt),
      message: try message(),
      notice: try notice(),
      readSync: try readSync(),
      recipients: [],
      answeredAt: try read(.answeredAt))
  }

  private func message() throws(PostgresError) -> MessageContent? {
    let title: String? = try read(.title)
    guard title == nil, let conversationID: UUID = try read(.conversationID) else { return nil }
    let text: String? = try read(.body)
    return MessageContent(conversationID: conversationID, senderName: try read(.senderName), text: text ?? "")
  }

  private func notice() throws(PostgresError) -> EventNotice? {
    guard let title: String = try read(.title), let id: UUID = try read(.conversationID) else { return nil }
    let body: String? = try read(.body)
    let surfaceKind: String? = try read(.surfaceKind)
    return EventNotice(
      title: title, body: body ?? "", surface: surfaceKind.map { Surface(kind: $0, id: id) },
      data: try read(.data), collapseID: try read(.collapseID))
  }

  private func readSync() throws(PostgresError) -> ReadSync? {
    guard let messageIDs: [UUID] = try read(.readMessageIDs) else { return nil }
    return ReadSync(messageIDs: messageIDs, hasMore: try read(.hasReadMore))
  }

  private func recipient() throws(PostgresError) -> PushRecipient? {
    guard let userID: UUID = try read(.userID) else { return nil }
    let accepted: [String] = try read(.acceptedDevices)
    let devices = try self.devices(without: accepted)
    let badge: Int64? = try read(.badge)
    return PushRecipient(
      userID: userID,
      isParticipant: try read(.isParticipant),
      situation: try situation(deviceCount: devices.count + accepted.count),
      badge: Int(badge ?? 0),
      devices: devices,
      acceptedDevices: accepted,
      retries: Int(try read(.retries) as Int32),
      releasedBy: try read(.releasedBy),
      releasedAt: try read(.releasedAt))
  }

  private func situation(deviceCount: Int) throws(PostgresError) -> RecipientSituation {
    let conversationID: UUID? = try read(.conversationID)
    let sync = try readSync()
    let datedAt: Int64 = try read(.datedAt)
    let claimedAt: Int64 = try read(.claimedAt)
    let wish: String? = try read(.quietHoursPolicy)
    return RecipientSituation(
      messageAge: .microseconds(claimedAt - datedAt),
      heldFor: .microseconds(try read(.heldMicroseconds) as Int64),
      isDeleted: conversationID == nil && sync == nil,
      hasRead: try read(.hasRead),
      lastSeenAge: try duration(.lastSeenAge),
      sawAfterMessage: try read(.sawAfterMessage),
      hasLeft: try read(.hasLeft),
      newestOtherReadAge: try duration(.priorReadAge),
      isOptedOut: try read(.isOptedOut),
      isMuted: try read(.isMuted),
      wantsMentionsOnly: try read(.wantsMentionsOnly),
      isMentioned: try read(.isMentioned),
      quietHoursRemaining: try duration(.quietHoursRemaining),
      quietHoursPolicy: wish.flatMap(QuietHoursPolicy.init) ?? .hold,
      deviceCount: deviceCount)
  }

  private func devices(without accepted: [String]) throws(PostgresError) -> [PushDevice] {
    let tokens: [String] = try read(.deviceTokens)
    let environments: [String] = try read(.environments)
    let apps: [String] = try read(.apps)
    return zip(tokens, zip(environments, apps)).filter { !accepted.contains($0.0) }.map { token, place in
      PushDevice(token: token, environment: place.0.nonEmpty, app: place.1.nonEmpty)
    }
  }

  private func duration(_ column: Column) throws(PostgresError) -> Duration? {
    let microseconds: Int64? = try read(column)
    return microseconds.map { .microseconds($0) }
  }

  private func read<Value: PostgresDecodable>(_ column: Column) throws(PostgresError) -> Value {
    try row.decode(column.rawValue)
  }
}

extension String {
  /// Arrays of text hold an empty one for a null.
  fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}

extension PushEvent {
  /// Two rows belong to one claim on the inbox; every delivery is a claim of its own.
  fileprivate func isSameClaim(as other: PushEvent) -> Bool {
    origin == .inbox && other.origin == .inbox && subject == other.subject
  }
}
