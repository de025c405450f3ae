internal import PushKinds
internal import PushStore
internal import Reactors

/// Sessions that read messages at once, each the next one as soon as it can, and all messages again when none is left.
final class ReaderCrowd {
  private let sessions: [MeasuringSession]
  private let messages: [HostID]
  private let ended = Signal()
  private var running = 0
  private var next = 0
  /// In microseconds.
  private(set) var reads: [Int64] = []

  init(_ sessions: [MeasuringSession], _ messages: [HostID]) {
    self.sessions = sessions
    self.messages = messages
  }

  /// - Returns: messages a second.
  func run(for limit: Duration, on reactor: isolated Reactor) async -> Double {
    // The first read of a session is planned.
    await read(until: Reactor.now + limit.wholeNanoseconds, once: true, on: reactor)
    reads = []
    let start = Reactor.now
    await read(until: start + limit.wholeNanoseconds, once: false, on: reactor)
    return Double(reads.count) * 1e9 / Double(max(1, Reactor.now - start))
  }

  private func read(until end: UInt64, once: Bool, on reactor: isolated Reactor) async {
    running = sessions.count
    for session in sessions {
      reactor.start {
        await self.read(session, until: end, once: once, on: reactor)
        self.running -= 1
        if self.running == 0 { self.ended.signal(on: reactor) }
      }
    }
    _ = await ended.wait(on: reactor)
  }

  /// A read that fails ends the transaction. It failed in the walk too, where it is told.
  private func read(
    _ session: MeasuringSession, until end: UInt64, once: Bool, on reactor: isolated Reactor
  ) async {
    repeat {
      let pause = min(end, Reactor.now + MessageWalk.transactionLimit.wholeNanoseconds)
      try? await session.undone(on: reactor) {
        repeat {
          let message = messages[next % messages.count]
          next += 1
          reads.append(try await session.read(message, on: reactor).nanoseconds / 1000)
        } while !once && Reactor.now < pause
      }
    } while !once && Reactor.now < end && session.isOpen
  }
}
