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
  /// - Parameter document: a JSON object of strings; nil where the stored one is still the host's.
  package func store(
    _ document: String?, etag: String?, from due: DueContent, of campaign: String, at url: String,
    timeToLive: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    let call = StatementCall.storeContent(
      campaign: campaign, slot: due.key.slot, userID: due.key.userID, fireDate: due.fireDate, url: url, etag: etag,
      document: document, ttlMicroseconds: timeToLive.wholeMicroseconds)
    try await pool.query(call, on: reactor)
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

  /// What is stored for rows, by the database's clock. Nothing is fetched.
  /// - Returns: an outcome for each row, in their order.
  package func contents(
    for rows: [Occasion], of campaign: String, isPerUser: Bool, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [ContentOutcome] {
    let uses = rows.map {
      ContentUse(
        key: ContentKey(slot: $0.slot, userID: isPerUser ? $0.userID : nil), timeZone: $0.timeZone, at: $0.fireAt)
    }
    let distinct = Array(Set(uses))
    let call = StatementCall.contents(
      campaign: campaign, slots: distinct.map(\.key.slot), userIDs: distinct.map(\.key.userID),
      timeZones: distinct.map(\.timeZone), fireMicroseconds: distinct.map(\.at))
    var documents: [ContentKey: String] = [:]
    var stale: Set<ContentUse> = []
    for row in try await pool.query(call, on: reactor) {
      let use = distinct[try row.decode("place") - 1]
      if try row.decode("is_stale") { stale.insert(use) }
      if let document: String = try row.decode("document") { documents[use.key] = document }
    }
    return uses.map { use in
      if stale.contains(use) { return .unavailable("content_stale") }
      return documents[use.key].map(ContentOutcome.document) ?? .unavailable("content_missing")
    }
  }
}

/// What decides whether a row may use a document.
private struct ContentUse: Hashable {
  let key: ContentKey
  let timeZone: String
  let at: Int64
}

/// What rows have in common that need one document at the same time: for all users some forty, one for each offset of zones.
private struct FetchMoment: Hashable {
  let slot: String
  let userID: HostID?
  let date: String
  let at: Int64
}
