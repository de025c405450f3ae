import Foundation
import TestPostgres

extension ServiceScene {
  /// How a host connects.
  var conninfo: String { postgres.conninfo(database: database) }

  /// Registers a device whose answers take a while, as they do from afar: half of the devices answer at once, the others
  /// leave time to be interrupted between the acceptance and its answer.
  func registerSlowly(_ token: String) {
    let delays = [0, 0, 0, 0, 50, 100, 200, 500]
    register(token, delayMilliseconds: delays[Int(token.utf8.first ?? 0) % delays.count])
  }

  /// Asks again while the database takes no connections, as in the first moment after a restart.
  func patientSQL(_ text: String) async throws -> String {
    let deadline = ContinuousClock.now + Self.patience
    while true {
      do {
        return try await sql(text)
      } catch {
        guard ContinuousClock.now < deadline, !"\(error)".contains("ERROR:") else { throw error }
      }
      try await Task.sleep(for: Self.pause)
    }
  }

  /// What is not finished: waiting or claimed events, remaining deliveries, recipients whose last word is "held".
  func unfinished() async throws -> [String: Int] {
    let text = try await patientSQL(
      """
      select (select count(*) from tacet.inbox), (select count(*) from tacet.deliveries),
        (select count(*) from tacet.push_log where decision = 'held')
      """)
    let counts = text.split(separator: "|").compactMap { Int($0) }
    return Dictionary(uniqueKeysWithValues: zip(["inbox", "deliveries", "held"], counts)).filter { $0.value > 0 }
  }

  /// Events and deliveries that were put aside as hopeless.
  func parked() async throws -> Int {
    guard try await patientSQL("select to_regclass('tacet.parked') is not null") == "t" else { return 0 }
    return Int(try await patientSQL("select count(*) from tacet.parked")) ?? -1
  }

  /// Waits until nothing is unfinished. There is nothing to wait on but the tables.
  /// - Returns: what still is when the time is over.
  func settle(within limit: Duration) async throws -> [String: Int] {
    let deadline = ContinuousClock.now + limit
    while true {
      let left = try await unfinished()
      if left.isEmpty || ContinuousClock.now >= deadline { return left }
      try await Task.sleep(for: .milliseconds(500))
    }
  }
}
