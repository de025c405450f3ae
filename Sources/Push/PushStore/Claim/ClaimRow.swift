internal import FoundationEssentials
package import Postgres
internal import PushRules
package import Reactors

extension PushDatabase {
  /// What a look at claimed work says.
  func events(
    from rows: PostgresRows, columns: PostgresColumns<ClaimRow.Column>, recipientsMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [PushEvent] {
    var events = try ClaimRow.events(from: rows, columns: columns, recipientsMax: recipientsMax, badgeMax: badgeMax)
    for index in events.indices where events[index].hasMore {
      await countBadges(&events[index].recipients, on: reactor)
    }
    return events
  }

  /// Counts for all recipients of a full part at once; the claim counts for each one, which takes too long for so many.
  /// Without an answer they have no badge, and their apps' icons stay as they are.
  private func countBadges(_ recipients: inout [PushRecipient], on reactor: isolated Reactor) async {
    let rows = try? await pool.query(.unreadCounts(userIDs: recipients.map(\.userID)), on: reactor)
    guard let badges: [Int64?] = try? rows?.one().decode("badges") else { return }
    for (index, badge) in zip(recipients.indices, badges) { recipients[index].setBadge(badge, max: badgeMax) }
  }

  /// New messages of the caller's shards, the newest of them, which nobody else takes. Nothing is written: the caller says which
  /// ones it has in hand. Other work is not seen, and conversations do not take turns.
  package func claimMessages(
    _ limits: ClaimLimits, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [PushEvent] {
    let rows = try await pool.query(.claimMessages(limits), afterReturn: Self.recordsFirst, on: reactor)
    var events = try await events(
      from: rows, columns: ClaimRow.claimMessages, recipientsMax: limits.recipientsMax, on: reactor)
    for index in events.indices { events[index].isLeased = false }
    return events
  }
}

/// One row of a claim: an event and one of its recipients, or an event without any.
struct ClaimRow {
  /// What the claims and looks return.
  enum Column: Int, PostgresColumn {
    case subjectID, kind, attempts, isDelivery, enqueuedAt, claimedAt, surfaceID, pushKind, senderName, body, content
    case userID, isParticipant, hasRead, lastSeen, leftAt, createdAt, priorReadAt, badge
    case channels, addresses, environments, apps, keys, acceptedDevices, heldUS, retries, deviceWaits, isWaiting
    case isDeleted, lifeUS, withheld, isOptedOut, isMuted, mentionsOnly, isMentioned, quietHoursRemaining,
      quietHoursPolicy
    case releasedBy, releasedAt, datedAt, place, shard, answeredAt
  }

  /// Of `claim`, `claim_messages` and `look_at_work`.
  static let claim = PostgresColumns<Column>()
  /// A new message is in no ledger yet, and nothing but its own row says when it came.
  static let claimMessages = PostgresColumns<Column>(
    without: [
      .isDelivery, .content, .acceptedDevices, .heldUS, .retries, .deviceWaits, .isWaiting, .lifeUS, .withheld,
      .releasedBy, .releasedAt, .datedAt,
    ])
  static let lookAtWork = PostgresColumns<Column>()

  private let row: PostgresRow
  private let places: [Int]

  /// The rows of one event follow each other, the one with its texts first.
  ///
  /// A recipient that the host's functions name twice is one: the rows follow each other too.
  /// - Parameters:
  ///   - columns: those of the statement.
  ///   - recipientsMax: the bound that the statement was given; an event that reaches it may have more.
  ///   - badgeMax: no badge is larger, even if the host's function counts further.
  /// - Returns: new events first, in the order of their commits, then deliveries; what waited for its lane last, the newest of
  ///   it first.
  static func events(
    from rows: PostgresRows, columns: PostgresColumns<Column>, recipientsMax: Int,
    badgeMax: Int = PushDatabase.badgeMaxDefault
  ) throws(PostgresError) -> [PushEvent] {
    guard let last = rows.last else { return [] }
    let places = try columns.places(in: rows)
    let answeredAt = try ClaimRow(row: last, places: places).time(.answeredAt)
    var found: [(turn: ClaimTurn, event: PushEvent)] = []
    for row in rows {
      let row = ClaimRow(row: row, places: places)
      if try found.last?.event.isOfSameClaim(row) != true {
        let event = try row.event(answeredAt: answeredAt)
        found.append((ClaimTurn(of: event, isWaiting: try row.flag(.isWaiting), place: found.count), event))
      }
      try row.addRecipient(to: &found[found.count - 1].event, recipientsMax: recipientsMax, badgeMax: badgeMax)
    }
    if found.count > 1 { found.sort { $0.turn < $1.turn } }
    return found.map(\.event)
  }

  private func addRecipient(
    to event: inout PushEvent, recipientsMax: Int, badgeMax: Int
  ) throws(PostgresError) {
    guard let userID = try userID else { return }
    // The recipient's place among those of the event, from 1; null for one who takes no part any more.
    let place: Int64? = try read(.place)
    if event.origin == .inbox { event.hasMore = place ?? 0 >= recipientsMax }
    guard userID != event.recipients.last?.userID else { return }
    event.recipients.append(try recipient(userID, of: event, badgeMax: badgeMax))
  }

  fileprivate var subject: PushSubject {
    get throws(PostgresError) { PushSubject(id: try read(.subjectID), kind: try read(.kind)) }
  }

  fileprivate var isDelivery: Bool {
    get throws(PostgresError) { try flag(.isDelivery) }
  }

  fileprivate var userID: HostID? {
    get throws(PostgresError) { try read(.userID) }
  }

  private func event(answeredAt: Int64) throws(PostgresError) -> PushEvent {
    let enqueuedAt = try time(.enqueuedAt)
    let createdAt = try finiteTime(.createdAt) ?? enqueuedAt
    return PushEvent(
      subject: try subject,
      origin: try isDelivery ? .delivery : .inbox,
      attempts: Int(try read(.attempts) as Int32),
      enqueuedAt: enqueuedAt,
      claimedAt: try time(.claimedAt),
      content: try content(),
      datedAt: try finiteTime(.datedAt) ?? min(enqueuedAt, createdAt),
      recipients: [],
      shard: try read(.shard),
      answeredAt: answeredAt)
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
    let accepted: [String] = try read(.acceptedDevices) ?? []
    var targets = try self.targets(of: event)
    if !accepted.isEmpty { targets.removeAll { accepted.contains($0.mark) } }
    var recipient = PushRecipient(
      userID: userID,
      situation: try situation(of: event, deviceCount: targets.count + accepted.count),
      targets: targets,
      acceptedDevices: accepted,
      retries: Int(try read(.retries) ?? Int32(0)),
      releasedBy: try read(.releasedBy),
      releasedAt: try finiteTime(.releasedAt))
    if let waits: String = try read(.deviceWaits) {
      recipient.deviceWaits = (try? JSONDecoder().decode([String: DeviceWait].self, from: Data(waits.utf8))) ?? [:]
    }
    recipient.setBadge(try read(.badge), max: badgeMax)
    return recipient
  }

  private func situation(of event: PushEvent, deviceCount: Int) throws(PostgresError) -> RecipientSituation {
    let wish: String? = try read(.quietHoursPolicy)
    let withheld: String? = try read(.withheld)
    var situation = RecipientSituation.nothingKnown
    situation.isParticipant = try read(.isParticipant)
    situation.messageAge = .microseconds(event.claimedAt - event.datedAt)
    situation.heldFor = .microseconds(try read(.heldUS) ?? Int64(0))
    situation.isDeleted = try read(.isDeleted)
    situation.isCancelled = withheld == DecisionReason.cancelled.rawValue
    situation.isCapped = withheld == DecisionReason.pushedToday.rawValue
    situation.life = try duration(.lifeUS)
    situation.hasRead = try flag(.hasRead)
    situation.set(try presence(), enqueuedAt: event.enqueuedAt, moment: event.claimedAt)
    situation.isOptedOut = try flag(.isOptedOut) || withheld == DecisionReason.optedOut.rawValue
    situation.isMuted = try flag(.isMuted)
    situation.wantsMentionsOnly = try flag(.mentionsOnly)
    situation.isMentioned = try flag(.isMentioned)
    situation.quietHoursRemaining = try duration(.quietHoursRemaining)
    situation.quietHoursPolicy = wish.flatMap(QuietHoursPolicy.init) ?? .hold
    situation.deviceCount = deviceCount
    return situation
  }

  private func presence() throws(PostgresError) -> PresenceTimes {
    PresenceTimes(
      lastSeen: try finiteTime(.lastSeen), left: try finiteTime(.leftAt), readOther: try finiteTime(.priorReadAt),
      created: try finiteTime(.createdAt))
  }

  private func duration(_ column: Column) throws(PostgresError) -> Duration? {
    let microseconds: Int64? = try read(column)
    return microseconds.map { .microseconds($0) }
  }

  /// A null is no: of what the host's functions leave out, and the statement.
  fileprivate func flag(_ column: Column) throws(PostgresError) -> Bool {
    let value: Bool? = try read(column)
    return value ?? false
  }

  /// A time of the service's own, in microseconds since 1970.
  fileprivate func time(_ column: Column) throws(PostgresError) -> Int64 {
    let value: PostgresTimestamp = try read(column)
    return try value.finite()
  }

  /// A time that the host may have written, in microseconds since 1970; nil where it is null or infinite.
  private func finiteTime(_ column: Column) throws(PostgresError) -> Int64? {
    let value: PostgresTimestamp? = try read(column)
    return value?.microseconds
  }

  func read<Value: PostgresDecodable>(_ column: Column) throws(PostgresError) -> Value {
    try row.decode(at: places[column.rawValue])
  }
}

/// In which order claimed work is decided.
private struct ClaimTurn: Comparable {
  private let rank: Int
  private let time: Int64
  private let place: Int

  init(of event: PushEvent, isWaiting: Bool, place: Int) {
    rank = event.origin == .inbox ? 0 : isWaiting ? 2 : 1
    time = isWaiting ? -event.enqueuedAt : event.enqueuedAt
    self.place = place
  }

  static func < (one: ClaimTurn, other: ClaimTurn) -> Bool {
    (one.rank, one.time, one.place) < (other.rank, other.time, other.place)
  }
}

extension PushEvent {
  /// Whether a row belongs to the same claim: all rows of an event do; each recipient's delivery is a separate one.
  fileprivate func isOfSameClaim(_ row: ClaimRow) throws(PostgresError) -> Bool {
    guard try subject == row.subject, try (origin == .delivery) == row.isDelivery else { return false }
    if origin == .inbox { return true }
    return try recipients.last?.userID == row.userID
  }
}

// Where the pushes of a claimed event go.
extension ClaimRow {
  /// The targets that the event names, or else the recipient's.
  func targets(of event: PushEvent) throws(PostgresError) -> [PushTarget] {
    if let targets = event.content?.targets { return targets }
    let addresses: [String]? = try read(.addresses)
    let channels: [String]? = try read(.channels)
    let environments: [String]? = try read(.environments)
    let apps: [String]? = try read(.apps)
    let keys: [String]? = try read(.keys)
    guard let addresses, let channels, let environments, let apps, let keys else { return [] }
    let counts = [channels, environments, apps, keys].map(\.count)
    return (0..<(counts.min() ?? 0)).prefix(addresses.count).map { index in
      PushTarget(
        DeliveryChannel(rawValue: channels[index]), address: addresses[index],
        environment: environments[index].nonEmpty, app: apps[index].nonEmpty, keys: keys[index].nonEmpty)
    }
  }
}

extension String {
  /// Arrays of text hold an empty one for a null.
  fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
