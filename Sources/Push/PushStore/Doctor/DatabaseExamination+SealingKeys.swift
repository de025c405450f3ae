package import Postgres
package import Reactors

// Content that is sealed for devices.
extension DatabaseExamination {
  /// How many devices have registered a key; of the first 200,000 of each kind.
  package func sealingKeys(on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    let counts = try await rows(.examineSealingKeys, on: reactor) { row throws(PostgresError) -> Int in
      try row.decode("keys")
    }
    return counts.first ?? 0
  }
}
