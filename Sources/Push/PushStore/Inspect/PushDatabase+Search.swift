package import FoundationEssentials
internal import Postgres
package import PushRules
package import Reactors

package struct LedgerPage: Equatable, Sendable {
  /// As many as were asked for, or fewer on the last page.
  package let entries: [LedgerEntry]
  package let hasMore: Bool

  fileprivate init(_ rows: [LedgerEntry], size: Int) {
    entries = Array(rows.prefix(size))
    hasMore = rows.count > size
  }
}

/// A user who has registered a device.
package struct DeviceTokenOwner: Hashable, Sendable {
  package let userID: HostID
  /// The first eight characters of the device token.
  package let device: String
}

extension PushDatabase {
  /// A user's pushes, the newest first.
  /// - Parameters:
  ///   - last: time and id of the last one on the page before; nil for the first page. size: rows of a page.
  /// - Throws: ``PostgresError``.
  package func pushes(
    ofUser userID: HostID, after last: (enqueuedAt: Int64, id: UUID)? = nil, size: Int, on reactor: isolated Reactor
  ) async throws -> LedgerPage {
    try await page(
      .pushesOfUser(
        userID: userID, lastEnqueuedMicroseconds: last?.enqueuedAt, lastID: last?.id, rowsMax: size + 1), size,
      on: reactor)
  }

  /// The recipients of an event, sorted by user id and kind.
  /// - Parameters:
  ///   - last: user and kind of the last one on the page before; nil for the first page. size: rows of a page.
  /// - Throws: ``PostgresError``.
  package func pushes(
    ofSubject subjectID: HostID, after last: (userID: HostID, kind: String)? = nil, size: Int,
    on reactor: isolated Reactor
  ) async throws -> LedgerPage {
    try await page(
      .pushesOfSubject(
        subjectID: subjectID, lastUserID: last?.userID, lastKind: last?.kind, rowsMax: size + 1), size, on: reactor)
  }

  /// What the ledger knows an id as; it may be both.
  /// - Parameter id: the id as a subject and as a user, as far as the types can hold it.
  /// - Throws: ``PostgresError``.
  package func meaning(
    ofID id: (subject: HostID?, user: HostID?), on reactor: isolated Reactor
  ) async throws -> (isSubject: Bool, isUser: Bool) {
    try await look(on: reactor) { look in
      let row = try await look.query(.meaningOfID(subjectID: id.subject, userID: id.user), on: reactor).one()
      return (try row.decode("is_subject"), try row.decode("is_user"))
    }
  }

  /// Who has registered a device token that begins like this, whether it still works or not.
  /// - Parameters:
  ///   - beginning: hexadecimal digits in lower case. countMax: registrations that are looked at.
  /// - Throws: ``PostgresError``.
  package func owners(
    ofDeviceToken beginning: String, countMax: Int, on reactor: isolated Reactor
  ) async throws -> [DeviceTokenOwner] {
    try await look(on: reactor) { look in
      try await look.query(.deviceTokenOwners(beginning: beginning, ownersMax: countMax), on: reactor).map {
        DeviceTokenOwner(userID: try $0.decode("user_id"), device: try $0.decode("device"))
      }
    }
  }

  private func page(
    _ call: StatementCall, _ size: Int, on reactor: isolated Reactor
  ) async throws -> LedgerPage {
    try await look(on: reactor) { look in
      let rows = try await look.query(call, on: reactor)
      return LedgerPage(try rows.map(LedgerEntry.init), size: size)
    }
  }
}
