package import Reactors

/// Runs a test's body on a reactor of its own, which is stopped afterwards; what the body returns or throws.
@discardableResult
package func onReactor<Value: Sendable>(
  _ body: @escaping @Sendable (isolated Reactor) async throws -> Value
) async throws -> Value {
  try await ReactorGroup.perform(body)
}
