public import Postgres
public import Reactors

// How engaged users are; see db/functions/engagement.sql.
extension PushDatabase {
  /// How long a count of all users may take. A million users take a second, seven at the end of an earlier period.
  public static let countLimit = Duration.seconds(10)

  /// How engaged all users are, of whom any activity is known.
  ///
  /// One ``OperatorLook``.
  /// - Parameter period: whose sessions are counted, and at whose end users are classed; microseconds since 1970.
  /// - Throws: ``PostgresError``.
  public func engagement(in period: Range<Int64>, on reactor: isolated Reactor) async throws -> EngagementFigures {
    try await look(on: reactor) { look in
      let call = StatementCall.engagement(fromMicroseconds: period.lowerBound, toMicroseconds: period.upperBound)
      return try EngagementFigures(await look.query(call, on: reactor).one(), period: period)
    }
  }
}
