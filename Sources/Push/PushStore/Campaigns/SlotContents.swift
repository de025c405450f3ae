package import Postgres
package import PushRules
package import Reactors

/// Which document of a slot campaign.
package struct ContentKey: Hashable, Sendable {
  /// The time of the day, as `0800`.
  package let slot: String
  /// The user; nil for a document of all users.
  package let userID: HostID?

  package init(slot: String, userID: HostID? = nil) {
    self.slot = slot
    self.userID = userID
  }
}

/// A fetch that this process has claimed. It is made once, or again by another process when this one dies.
package struct DueContent: Equatable, Sendable {
  package let key: ContentKey
  /// The day of the slot, as `2026-11-22`; of a document of all users, the latest of their days.
  package let fireDate: String
  /// The version of the stored document; nil without one from this URL, or when the host names none.
  package let etag: String?
}

/// What a slot campaign has from its host.
package enum ContentOutcome: Equatable, Sendable {
  /// A JSON object of strings.
  case document(String)
  /// Nothing that may be used: `content_missing` before the first answer, `content_stale` when the last is too old.
  case unavailable(String)
}

// Documents that slot campaigns fetch from their hosts; see tacet.notif_contents.
extension PushDatabase {
  /// How long a fetch may take until another process makes it: one that has died. More than twice its time-out.
  static let fetchLease = Duration.seconds(30)

  /// Claims fetches for rows that are due within the lead. A document has one attempt a day, by whichever process claims it first.
  /// - Parameters:
  ///   - url: the campaign's.
  ///   - isPerUser: whether each user has a document.
  ///   - contentsMax: fetches at most; the others stay to be claimed.
  package func claimContents(
    for rows: [Occasion], of campaign: String, at url: String, isPerUser: Bool, lead: Duration, contentsMax: Int,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> [DueContent] {
    let moments = Set(
      rows.map { FetchMoment(slot: $0.slot, userID: isPerUser ? $0.userID : nil, date: $0.fireDate, at: $0.fireAt) })
    let call = StatementCall.claimContents(
      campaign: campaign, url: url, slots: moments.map(\.slot), userIDs: moments.map(\.userID),
      fireDates: moments.map(\.date), fireMicroseconds: moments.map(\.at), leadMicroseconds: lead.wholeMicroseconds,
      leaseMicroseconds: Self.fetchLease.wholeMicroseconds, contentsMax: contentsMax)
    return try await pool.query(call, on: reactor).map { row throws(PostgresError) in
      DueContent(
        key: ContentKey(slot: try row.decode("slot"), userID: try row.decode("user_id")),
        fireDate: try row.decode("fire_date"), etag: try row.decode("etag"))
    }
  }

  /// Stores what a fetch has returned.
  /// - Parameter document: a JSON object of strings.
  /// - Returns: whether rows may say something else now.
  package func store(
    _ document: String, etag: String?, from due: DueContent, of campaign: String, at url: String, timeToLive: Duration,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    let call = StatementCall.storeContent(
      campaign: campaign, slot: due.key.slot, userID: due.key.userID, fireDate: due.fireDate, url: url, etag: etag,
      document: document, ttlMicroseconds: timeToLive.wholeMicroseconds)
    return try await pool.query(call, on: reactor).first?.decode("is_changed") ?? false
  }

  /// Notes that the stored document is still the host's.
  /// - Returns: whether rows may say something else now: the document could not be used before.
  package func confirm(
    _ due: DueContent, of campaign: String, timeToLive: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    let call = StatementCall.confirmContent(
      campaign: campaign, slot: due.key.slot, userID: due.key.userID, fireDate: due.fireDate,
      ttlMicroseconds: timeToLive.wholeMicroseconds)
    return try await pool.query(call, on: reactor).first?.decode("is_changed") ?? false
  }

  /// Notes why a fetch has failed. The stored document stays.
  package func fail(
    _ due: DueContent, of campaign: String, code: String, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    try await pool.query(
      .failContent(
        campaign: campaign, slot: due.key.slot, userID: due.key.userID, fireDate: due.fireDate, code: code),
      on: reactor)
  }

  /// What is stored, by the database's clock. Nothing is fetched.
  /// - Returns: an outcome for each key.
  package func contents(
    _ keys: [ContentKey], of campaign: String, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [ContentKey: ContentOutcome] {
    let call = StatementCall.contents(campaign: campaign, slots: keys.map(\.slot), userIDs: keys.map(\.userID))
    var outcomes: [ContentKey: ContentOutcome] = [:]
    for row in try await pool.query(call, on: reactor) {
      let place: Int = try row.decode("place")
      let refusal: String? = try row.decode("refusal")
      outcomes[keys[place - 1]] =
        if let refusal { .unavailable(refusal) } else { .document(try row.decode("document")) }
    }
    return outcomes
  }
}

/// What rows have in common that need one document at the same time: for all users some forty, one for each offset of zones.
private struct FetchMoment: Hashable {
  let slot: String
  let userID: HostID?
  let date: String
  let at: Int64
}
