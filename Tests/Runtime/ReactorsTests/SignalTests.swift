import TestReactors
import Testing

@testable import Reactors

@Suite("Signal")
struct SignalTests {
  @Test("a signal given while nobody waits ends the next wait")
  func remembered() async throws {
    try await onReactor { reactor in
      let signal = Signal()
      signal.signal(on: reactor)
      signal.signal(on: reactor)
      #expect(await signal.wait(for: .seconds(5), on: reactor))
      #expect(await signal.wait(for: .milliseconds(1), on: reactor) == false)
    }
  }

  @Test("a wait that is signalled leaves no timer behind")
  func timerIsCancelled() async throws {
    try await onReactor { reactor in
      let signal = Signal()
      reactor.start {
        await Task.yield()
        signal.signal(on: reactor)
      }
      #expect(await signal.wait(for: .seconds(60), on: reactor))
      #expect(reactor.pendingTimers == 0)
    }
  }
}
