internal import FoundationEssentials
public import Postgres
internal import PushKinds
internal import PushRules
public import Reactors

extension PushDatabase {
  /// What a look at claimed work says.
  func events(
    from rows: PostgresRows, columns: PostgresColumns<ClaimRow.Column>, recipientsMax: Int
  ) throws(PostgresError) -> [PushEvent] {
    try ClaimRow.events(from: rows, columns: columns, recipientsMax: recipientsMax, badgeMax: badgeMax)
  }

  /// As ``claim(_:on:)``, of new messages only, the newest of them. Other work is not seen, and conversations do not take
  /// turns.
  public func claimMessages(
    _ limits: ClaimLimits, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [PushEvent] {
    let rows = try await pool.query(.claimMessages(limits), afterReturn: Self.recordsFirst, on: reactor)
    return try events(from: rows, columns: ClaimRow.claimMessages, recipientsMax: limits.recipientsMax)
  }
}

/// One row of a claim: an event and one of its recipients, or an event without any.
struct ClaimRow {
  /// What the claims and looks return.
  enum Column: Int, PostgresColumn {
    case subjectID, kind, attempts, isDelivery, enqueuedAt, claimedAt, surfaceID, pushKind, senderName, body, content
    case userID, isParticipant, hasRead, lastSeenAge, sawAfterMessage, hasLeft, priorReadAge, badge
    case deviceTokens, environments, apps, acceptedDevices, heldUS, retries
    case isDeleted, lifeUS, withheld, isOptedOut, isMuted, mentionsOnly, isMentioned, quietHoursRemaining,
      quietHoursPolicy
    case releasedBy, releasedAt, datedAt, place, answeredAt
  }

  /// Of `claim`, `claim_messages`, `look_at_event` and `look_at_delivery`.
  static let claim = PostgresColumns<Column>()
  static let claimMessages = PostgresColumns<Column>()
  static let lookAtEvent = PostgresColumns<Column>()
  static let lookAtDelivery = PostgresColumns<Column>()

  private let row: PostgresRow
  private let places: [Int]

  /// The statement sorts: the rows of one event follow each other, the one with its texts first.
  ///
  /// A recipient that the host's functions name twice is one: the rows follow each other too.
  /// - Parameters:
  ///   - columns: those of the statement.
  ///   - recipientsMax: the bound that the statement was given; an event that reaches it may have more.
  ///   - badgeMax: no badge is larger, even if the host's function counts further.
  static func events(
    from rows: PostgresRows, columns: PostgresColumns<Column>, recipientsMax: Int,
    badgeMax: Int = PushDatabase.badgeMaxDefault
  ) throws(PostgresError) -> [PushEvent] {
    guard !rows.isEmpty else { return [] }
    let places = try columns.places(in: rows)
    var events: [PushEvent] = []
    for row in rows {
      let row = ClaimRow(row: row, places: places)
      if try events.last?.isOfSameClaim(row) != true { events.append(try row.event()) }
      let last = events.count - 1
      guard let userID = try row.userID else { continue }
      // The recipient's place among those of the event, from 1; null for one who takes no part any more.
      let place: Int64? = try row.read(.place)
      if events[last].origin == .inbox { events[last].hasMore = place ?? 0 >= recipientsMax }
      guard userID != events[last].recipients.last?.userID else { continue }
      events[last].recipients.append(try row.recipient(userID, of: events[last], badgeMax: badgeMax))
    }
    return events
  }

  fileprivate var subject: PushSubject {
    get throws(PostgresError) { PushSubject(id: try read(.subjectID), kind: try read(.kind)) }
  }

  fileprivate var isDelivery: Bool {
    get throws(PostgresError) { try read(.isDelivery) }
  }

  fileprivate var userID: HostID? {
    get throws(PostgresError) { try read(.userID) }
  }

  private func event() throws(PostgresError) -> PushEvent {
    PushEvent(
      subject: try subject,
      origin: try isDelivery ? .delivery : .inbox,
      attempts: Int(try read(.attempts) as Int32),
      enqueuedAt: try read(.enqueuedAt),
      claimedAt: try read(.claimedAt),
      content: try content(),
      datedAt: try read(.datedAt),
      recipients: [],
      answeredAt: try read(.answeredAt))
  }

  private func content() throws(PostgresError) -> (any PushContent)? {
    guard try !(read(.isDeleted) as Bool), let kind: String = try read(.pushKind) else { return nil }
    let claimed = ClaimedContent(
      surfaceID: try read(.surfaceID), senderName: try read(.senderName), text: try read(.body),
      document: try read(.content))
    return KnownKinds.content(claimed, of: kind)
  }

  private func recipient(
    _ userID: HostID, of event: PushEvent, badgeMax: Int
  ) throws(PostgresError) -> PushRecipient {
    let accepted: [String] = try read(.acceptedDevices)
    let devices = try self.devices(without: accepted)
    let badge: Int64? = try read(.badge)
    return PushRecipient(
      userID: userID,
      isParticipant: try read(.isParticipant),
      situation: try situation(of: event, deviceCount: devices.count + accepted.count),
      badge: badge.map { Int(clamping: max(0, $0)) }.map { min($0, badgeMax) },
      devices: devices,
      acceptedDevices: accepted,
      retries: Int(try read(.retries) as Int32),
      releasedBy: try read(.releasedBy),
      releasedAt: try read(.releasedAt))
  }

  private func situation(of event: PushEvent, deviceCount: Int) throws(PostgresError) -> RecipientSituation {
    let datedAt: Int64 = try read(.datedAt)
    let claimedAt: Int64 = try read(.claimedAt)
    let wish: String? = try read(.quietHoursPolicy)
    let withheld: String? = try read(.withheld)
    var situation = RecipientSituation.nothingKnown
    situation.messageAge = .microseconds(claimedAt - datedAt)
    situation.heldFor = .microseconds(try read(.heldUS) as Int64)
    situation.isDeleted = try read(.isDeleted)
    situation.isCancelled = withheld == DecisionReason.cancelled.rawValue
    situation.isCapped = withheld == DecisionReason.pushedToday.rawValue
    situation.life = try duration(.lifeUS)
    situation.hasRead = try read(.hasRead)
    situation.lastSeenAge = try duration(.lastSeenAge)
    situation.sawAfterMessage = try read(.sawAfterMessage)
    situation.hasLeft = try read(.hasLeft)
    situation.newestOtherReadAge = try duration(.priorReadAge)
    situation.isOptedOut = try read(.isOptedOut)
    situation.isMuted = try read(.isMuted)
    situation.wantsMentionsOnly = try read(.mentionsOnly)
    situation.isMentioned = try read(.isMentioned)
    situation.quietHoursRemaining = try duration(.quietHoursRemaining)
    situation.quietHoursPolicy = wish.flatMap(QuietHoursPolicy.init) ?? .hold
    situation.deviceCount = deviceCount
    return situation
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
    try row.decode(places[column.rawValue])
  }
}

extension String {
  /// Arrays of text hold an empty one for a null.
  fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}

extension PushEvent {
  /// Whether a row belongs to the same claim: all rows of an event do; each recipient's delivery is a separate one.
  fileprivate func isOfSameClaim(_ row: ClaimRow) throws(PostgresError) -> Bool {
    guard try subject == row.subject, try (origin == .delivery) == row.isDelivery else { return false }
    if origin == .inbox { return true }
    return try recipients.last?.userID == row.userID
  }
}
