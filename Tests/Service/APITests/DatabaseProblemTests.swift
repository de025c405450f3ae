import HTTP1
import HTTPTypes
import TestLogs
import Testing

@testable import API
@testable import Postgres

@Suite("What a caller is told when the database did not do it")
struct DatabaseProblemTests {
  @Test(
    "503 when the request may be sent again, 500 when that does not help",
    arguments: [
      ("57014", 503), ("57P01", 503), ("08006", 503), ("53300", 503), ("40001", 503), ("55P03", 503), ("26000", 503),
      ("42703", 500), ("23514", 500), ("22P02", 500), ("42501", 500),
    ])
  func status(_ state: String, _ expected: Int) {
    let error = PostgresError(.server, context: .init(sqlState: SQLState(state)))
    #expect(ProblemDetails.database(error, "", RunLogs.logger).status.code == expected)
  }
}
