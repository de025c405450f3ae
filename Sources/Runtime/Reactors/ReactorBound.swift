/// A value of one reactor, in a wrapper that other threads may hold but not open.
package struct ReactorBound<Value>: @unchecked Sendable {
  // Unchecked: `value` need not be Sendable. Safe, because only its reactor can read it.
  private let value: Value

  package let reactor: Reactor

  package init(_ value: Value, on reactor: isolated Reactor) {
    self.value = value
    self.reactor = reactor
  }

  /// The value. Traps on any other reactor.
  package func value(on reactor: isolated Reactor) -> Value {
    precondition(reactor === self.reactor, "a value of \(self.reactor.name) was asked for on \(reactor.name)")
    return value
  }

  /// Starts work with the value on its reactor, from any thread. Costs one job in the reactor's inbox.
  package func submit(_ work: @escaping @Sendable (Value, isolated Reactor) async -> Void) {
    reactor.submit { await work(self.value(on: $0), $0) }
  }

  /// Runs work with the value on its reactor, from any thread, and returns its result.
  package func perform<Result: Sendable>(
    _ work: @escaping @Sendable (Value, isolated Reactor) async -> Result
  ) async -> Result {
    await withUnsafeContinuation { continuation in
      submit { continuation.resume(returning: await work($0, $1)) }
    }
  }
}

package struct PerReactor<Value>: Sendable {
  private let values: [ObjectIdentifier: ReactorBound<Value>]

  /// In the order of the reactors.
  package let all: [ReactorBound<Value>]

  /// Makes a value on each reactor in turn.
  /// - Parameter make: gets the reactor's number and runs on it.
  package init(
    _ reactors: [Reactor], make: @escaping @Sendable (Int, isolated Reactor) async throws -> Value
  ) async throws {
    var all: [ReactorBound<Value>] = []
    for (number, reactor) in reactors.enumerated() {
      all.append(try await reactor.perform { ReactorBound(try await make(number, $0), on: $0) })
    }
    self.all = all
    values = Dictionary(uniqueKeysWithValues: all.map { (ObjectIdentifier($0.reactor), $0) })
  }

  /// This reactor's value. Traps on a reactor without one.
  package func value(on reactor: isolated Reactor) -> Value {
    guard let bound = values[ObjectIdentifier(reactor)] else { preconditionFailure("no value on \(reactor.name)") }
    return bound.value(on: reactor)
  }
}
