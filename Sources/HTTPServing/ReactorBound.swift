internal import Reactors

/// A value that lives on one reactor, held by something that does not.
///
/// Unchecked because the value is not `Sendable`; safe because it is made on its reactor and handed out only there.
struct ReactorBound<Value>: @unchecked Sendable {
  let reactor: Reactor
  private let value: Value

  init(_ value: Value, on reactor: isolated Reactor) {
    self.value = value
    self.reactor = reactor
  }

  /// Works with the value on its reactor, from any task.
  func perform<Result: Sendable>(
    _ work: @escaping @Sendable (Value, isolated Reactor) async -> Result
  ) async -> Result {
    await withUnsafeContinuation { continuation in
      reactor.submit { reactor in
        continuation.resume(returning: await work(self.value, reactor))
      }
    }
  }
}
