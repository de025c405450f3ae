/// Somebody who lets pushes go, and may think better of it while they wait for a connection or a stream.
public protocol PushGate: AnyObject {
  /// Whether a push that was let go under this number may still go.
  func admits(_ number: Int) -> Bool
}

/// That a push may go, asked again just before it does: what waits for a stream must not outlive the reason to send it.
public struct PushPermit {
  private let gate: any PushGate
  private let number: Int

  /// - Parameter number: tells the gate when it let the push go.
  public init(from gate: any PushGate, number: Int) {
    self.gate = gate
    self.number = number
  }

  var isValid: Bool { gate.admits(number) }
}
