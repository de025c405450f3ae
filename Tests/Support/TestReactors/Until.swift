/// Waits for a condition of which nothing tells, and looks each millisecond.
/// - Throws: `CancellationError` at the end of the test's time, so that a condition that never holds ends its own test alone.
package func until(_ condition: () async throws -> Bool) async throws {
  while try await !condition() { try await Task.sleep(for: .milliseconds(1)) }
}
