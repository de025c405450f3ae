public import Postgres
public import Reactors

extension PushDatabase {
  /// Writes what apps have said of their users, and tells what each user is to the surface: one transaction.
  ///
  /// Only of viewers anything is written, unless somebody else has locked the row: then the view is
  /// ``SurfaceStanding/busy``, and its report should come again. What says the stored again within seconds is not written,
  /// unless somebody waits to learn of it.
  public func note(
    _ reports: [SurfaceView: PresenceReport], on reactor: isolated Reactor
  ) async throws(PostgresError) -> [SurfaceView: SurfaceStanding] {
    let reports = Array(reports)
    let parameters: [any PostgresEncodable] = [
      reports.map(\.key.surface.kind), reports.map(\.key.surface.id), reports.map(\.key.userID),
      reports.map(\.value.hasLooked), reports.map(\.value.hasLeft),
    ]
    var standings: [SurfaceView: SurfaceStanding] = [:]
    standings.reserveCapacity(reports.count)
    for row in try await pool.query(PushStatements.noteViews, parameters, on: reactor) {
      let surface = Surface(kind: try row.decode(0), id: try row.decode(1))
      let standing = SurfaceStanding(try row.decode(3))
      let isSkipped: Bool = try row.decode(4)
      standings[SurfaceView(of: surface, by: try row.decode(2))] = standing == .viewer && isSkipped ? .busy : standing
    }
    return standings
  }
}
