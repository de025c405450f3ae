internal import FoundationEssentials
public import Postgres
public import Reactors

extension PushDatabase {
  /// Writes what apps have said of their users, and tells what each user is to the surface: one transaction.
  ///
  /// Only of viewers anything is written, unless somebody else has locked the row: then the view is
  /// ``SurfaceStanding/busy``, and its report should come again; or nobody lets the service write such rows. What says the stored again within seconds is not written,
  /// unless somebody waits to learn of it.
  public func note(
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
      let surface = Surface(kind: try row.decode("kind"), id: try row.decode("id"))
      let standing = SurfaceStanding(try row.decode("takes_part"))
      let isSkipped: Bool = try row.decode("is_skipped")
      let view = SurfaceView(of: surface, by: try row.decode("user_id"))
      standings[view] = standing == .viewer && isSkipped ? .busy : standing
    }
    let busy = standings.filter { $0.value == .busy && $0.key.surface.kind == Surface.conversationKind }.keys
    if let first = busy.first, try await hidesWrites(of: "view_conversations", in: first.surface.id, on: reactor) {
      for view in busy { standings[view] = .unwritable }
    }
    return standings
  }

  /// Whether what a function of the contract has not written is hidden from it. Asked only when it has written nothing.
  func hidesWrites(
    of function: String, in conversationID: UUID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    let table = function == "mark_read" ? "public.messages" : "public.conversation_participants"
    return try await pool.query(
      .hidesWrites(function: function, tableName: table, conversationID: conversationID), on: reactor
    ).one().decode(0)
  }
}
