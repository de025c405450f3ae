/// Memory that the connections of one reactor lend each other.
///
/// One that reads takes it and gives it back before it waits, unless bytes are left in it. So thousands that wait keep none,
/// and a request on one of them allocates none.
public struct SpareBuffers: Sendable {
  var input = ReceiveBuffer()
  var output = SendBuffer()

  /// Makes an empty store; what the first connection gives back fills it.
  public init() {}
}

extension ConnectionStateMachine {
  /// Takes the spare memory for what it has none for; call it before `receive`.
  public mutating func borrow(from spare: inout SpareBuffers) {
    if input.capacity == 0 { swap(&input, &spare.input) }
    if output.capacity == 0 { swap(&output, &spare.output) }
  }

  /// Gives back the memory in which nothing is unread or unsent; call it before a wait. What is more than usual is
  /// released, except that content keeps what lets it be read in few pieces.
  public mutating func giveBack(to spare: inout SpareBuffers) {
    if input.isEmpty, phase != .body {
      if input.capacity == ReceiveBuffer.usualBytes { swap(&input, &spare.input) }
      if input.capacity > 0 { input = ReceiveBuffer() }
    }
    if output.isEmpty {
      if output.capacity > 0 { swap(&output, &spare.output) }
      if output.capacity > 0 { output = SendBuffer() }
    }
  }
}
