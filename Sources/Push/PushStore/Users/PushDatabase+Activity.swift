package import Postgres
package import PushRules
package import Reactors

// When users were active; see db/functions/activity.sql.
extension PushDatabase {
  /// Notes that users are active now. A user is written at most once in five minutes.
  package func noteActivity(of users: [HostID], on reactor: isolated Reactor) async throws(PostgresError) {
    _ = try await pool.query(.noteActivity(userIDs: users), on: reactor)
  }
}
