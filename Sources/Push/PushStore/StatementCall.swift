internal import Postgres
internal import Reactors

/// A statement with its parameters.
///
/// The build makes one of each file of `db/statements`: `users/remove_device.sql` becomes
/// `.removeDevice(userID:deviceToken:)`. A call with other parameters than the file declares does not compile.
struct StatementCall {
  let statement: PostgresStatement
  let parameters: [any PostgresEncodable]

  init(_ statement: PostgresStatement, _ parameters: [any PostgresEncodable]) {
    self.statement = statement
    self.parameters = parameters
  }
}

extension PostgresPool {
  @discardableResult
  func query(
    _ call: StatementCall, within limit: Duration? = nil, afterReturn time: Duration = .zero,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
    try await query(call.statement, call.parameters, within: limit, afterReturn: time, on: reactor)
  }
}

extension PostgresConnection {
  @discardableResult
  func query(
    _ call: StatementCall, within limit: Duration? = nil, on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
    try await query(call.statement, call.parameters, within: limit, on: reactor)
  }
}
