package import Reactors

/// Runs a test's body on a reactor of its own, which is stopped afterwards; what the body returns or throws.
@discardableResult
package func onReactor<Value: Sendable>(
  _ body: @escaping @Sendable (isolated Reactor) async throws -> Value
) async throws -> Value {
  let group = try ReactorGroup(count: 1)
  let result: Result<Value, any Error>
  do {
    result = .success(try await group.reactors[0].perform(body))
  } catch {
    result = .failure(error)
  }
  await group.stop()
  return try result.get()
}
