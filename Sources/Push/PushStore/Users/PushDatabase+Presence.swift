package import Postgres
package import PushRules
package import Reactors

/// A user and what they may look at.
package struct SurfaceView: Hashable, Sendable {
  package let surface: SurfaceID

  package let userID: HostID

  package init(of surface: SurfaceID, by userID: HostID) {
    self.surface = surface
    self.userID = userID
  }
}

/// What an app says of its user.
package enum PresenceSign: Sendable {
  case looking
  case left
}

/// What one user's app has said of one surface since it was last written.
package struct PresenceReport: Equatable, Sendable {
  package private(set) var hasLooked: Bool

  /// Whether the user has left after the last look, or without any.
  package private(set) var hasLeft: Bool

  package init(_ sign: PresenceSign) {
    hasLooked = sign == .looking
    hasLeft = sign == .left
  }

  /// Takes what is said next. Leaving erases no look, and a look ends having left.
  package mutating func add(_ sign: PresenceSign) {
    hasLooked = hasLooked || sign == .looking
    hasLeft = sign == .left
  }

  package mutating func add(_ later: PresenceReport) {
    hasLooked = hasLooked || later.hasLooked
    hasLeft = later.hasLeft
  }
}

/// What a user is to a surface.
package enum SurfaceStanding: Equatable, Sendable {
  /// There is no such surface.
  case unknown
  case stranger
  case viewer
  /// The user takes part, but nothing could be written, because another session has locked the row.
  case busy
  /// The user takes part, but row-level security keeps the service from writing the rows: another try does not help.
  case unwritable

  init(_ takesPart: Bool?) {
    switch takesPart {
    case nil: self = .unknown
    case false?: self = .stranger
    case true?: self = .viewer
    }
  }
}

extension PushDatabase {
  /// Writes what apps have said of their users, and tells what each user is to the surface: one transaction.
  ///
  /// Only what viewers do is written. A row that another session has locked is not: then the view is
  /// ``SurfaceStanding/busy``, and its report should come again. It is ``SurfaceStanding/unwritable`` where no row may be
  /// written. A report that repeats what was stored seconds ago is not written, unless a push waits for it.
  package func note(
    _ reports: [SurfaceView: PresenceReport], on reactor: isolated Reactor
  ) async throws(PostgresError) -> [SurfaceView: SurfaceStanding] {
    let reports = Array(reports)
    let call = StatementCall.recordViews(
      kinds: reports.map(\.key.surface.kind), surfaceIDs: reports.map(\.key.surface.id),
      userIDs: reports.map(\.key.userID), haveLooked: reports.map(\.value.hasLooked),
      haveLeft: reports.map(\.value.hasLeft))
    var standings: [SurfaceView: SurfaceStanding] = [:]
    standings.reserveCapacity(reports.count)
    for row in try await pool.query(call, on: reactor) {
      let surface = SurfaceID(kind: try row.decode("kind"), id: try row.decode("id"))
      let standing = SurfaceStanding(try row.decode("takes_part"))
      let isSkipped: Bool = try row.decode("is_skipped")
      let view = SurfaceView(of: surface, by: try row.decode("user_id"))
      standings[view] = standing == .viewer && isSkipped ? .busy : standing
    }
    let busy = standings.filter { $0.value == .busy && $0.key.surface.kind == SurfaceID.conversationKind }.keys
    if let first = busy.first, try await hidesWrites(of: "view_conversations", in: first.surface.id, on: reactor) {
      for view in busy { standings[view] = .unwritable }
    }
    return standings
  }

  /// Whether what a function of the contract has not written is hidden from it. Asked only when it has written nothing.
  func hidesWrites(
    of function: String, in conversationID: HostID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    let table = function == "mark_read" ? "public.messages" : "public.conversation_participants"
    return try await pool.query(
      .hidesWrites(function: function, tableName: table, conversationID: conversationID), on: reactor
    ).one().decode(0)
  }
}
