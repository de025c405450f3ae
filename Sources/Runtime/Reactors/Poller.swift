internal import CLinux
internal import Glibc

package struct Interest: OptionSet, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Bytes, a connection or the end of the stream can be read.
  package static let read = Interest(rawValue: EPOLLIN.rawValue | EPOLLRDHUP.rawValue)
  /// Bytes can be written, or a connect has finished.
  package static let write = Interest(rawValue: EPOLLOUT.rawValue)
}

/// What the kernel reported of a descriptor in one tick. Level-triggered: unread data is reported again.
package struct Readiness: OptionSet, Sendable {
  package let rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let readable = Readiness(rawValue: EPOLLIN.rawValue)
  package static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
  /// The peer has shut down its writing half; buffered data may still be readable.
  package static let peerClosed = Readiness(rawValue: EPOLLRDHUP.rawValue)
  /// Both halves are closed. Reported for every interest.
  package static let hungUp = Readiness(rawValue: EPOLLHUP.rawValue)
  /// An error is pending on the descriptor. Reported for every interest.
  package static let failed = Readiness(rawValue: EPOLLERR.rawValue)

  package var shouldRead: Bool { !isDisjoint(with: [.readable, .peerClosed, .hungUp, .failed]) }

  package var shouldWrite: Bool { !isDisjoint(with: [.writable, .hungUp, .failed]) }
}

/// Handles the readiness of a registered descriptor. Called on the reactor's thread, never after deregistration.
package protocol ReadinessHandler: AnyObject {
  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor)
}

/// A watched descriptor. The generation tells it from a later descriptor with the same number.
package struct Registration: Equatable, Sendable {
  let descriptor: Int32
  let generation: UInt32

  var tag: UInt64 { UInt64(generation) << 32 | UInt64(UInt32(bitPattern: descriptor)) }

}

extension Registration {
  init(tag: UInt64) {
    descriptor = Int32(bitPattern: UInt32(truncatingIfNeeded: tag))
    generation = UInt32(truncatingIfNeeded: tag >> 32)
  }
}

extension Reactor {
  /// Waits once for a descriptor without a handler, as connects and handshakes do. The caller keeps the descriptor.
  /// - Returns: what the descriptor is ready for; nil when `limit` passed first.
  /// - Throws: ``SystemError`` when the descriptor cannot be watched.
  package func waitForReadiness(
    of descriptor: Int32, _ interest: Interest, for limit: Duration?
  ) async throws(SystemError) -> Readiness? {
    let waiter = ReadinessWaiter()
    let registration = try register(descriptor, for: interest, handler: waiter)
    defer { deregister(registration) }
    guard await waiter.signal.wait(for: limit, on: self) else { return nil }
    return waiter.readiness
  }
}

private final class ReadinessWaiter: ReadinessHandler {
  let signal = Signal()
  private(set) var readiness: Readiness = []

  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    self.readiness = readiness
    signal.signal(on: reactor)
  }
}

struct Poller: ~Copyable {
  private struct Slot {
    var generation: UInt32
    var handler: (any ReadinessHandler)?
  }

  /// Events that one `epoll_wait` returns; others wait for the next tick. 256 events are 3 KiB.
  static let eventsPerTickMax = 256

  private let epoll: Int32
  private var slots: [Slot] = []
  private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: Poller.eventsPerTickMax)

  init() throws(SystemError) {
    epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard epoll >= 0 else { throw SystemError(operation: "epoll_create1", code: errno) }
  }

  deinit {
    events.deallocate()
    close(epoll)
  }

  mutating func register(
    _ descriptor: Int32, for interest: Interest, handler: (any ReadinessHandler)?
  ) throws(SystemError) -> Registration {
    while slots.count <= Int(descriptor) { slots.append(Slot(generation: 0, handler: nil)) }
    slots[Int(descriptor)].generation &+= 1
    let registration = Registration(descriptor: descriptor, generation: slots[Int(descriptor)].generation)
    guard clinux_epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, interest.rawValue, registration.tag) == 0 else {
      throw SystemError(operation: "epoll_ctl(ADD)", code: errno)
    }
    slots[Int(descriptor)].handler = handler
    return registration
  }

  mutating func update(_ registration: Registration, to interest: Interest) throws(SystemError) {
    guard isCurrent(registration) else { return }
    guard clinux_epoll_ctl(epoll, EPOLL_CTL_MOD, registration.descriptor, interest.rawValue, registration.tag) == 0
    else { throw SystemError(operation: "epoll_ctl(MOD)", code: errno) }
  }

  /// Call it before the descriptor is closed: afterwards its number may name another file.
  mutating func deregister(_ registration: Registration) {
    guard isCurrent(registration) else { return }
    _ = clinux_epoll_ctl(epoll, EPOLL_CTL_DEL, registration.descriptor, 0, 0)
    slots[Int(registration.descriptor)].handler = nil
    slots[Int(registration.descriptor)].generation &+= 1
  }

  /// - Parameter timeoutNanoseconds: 0 returns at once, -1 waits without a limit.
  /// - Returns: the number of events.
  func wait(timeoutNanoseconds: Int64) -> Int {
    max(0, Int(clinux_epoll_wait(epoll, events, Int32(Poller.eventsPerTickMax), timeoutNanoseconds)))
  }

  func event(at index: Int) -> (Registration, Readiness) {
    let tag = clinux_epoll_data(events, Int32(index))
    return (Registration(tag: tag), Readiness(rawValue: clinux_epoll_events(events, Int32(index))))
  }

  /// The handler. Nil if an earlier event of this tick deregistered it or reused its number.
  func handler(of registration: Registration) -> (any ReadinessHandler)? {
    isCurrent(registration) ? slots[Int(registration.descriptor)].handler : nil
  }

  private func isCurrent(_ registration: Registration) -> Bool {
    let index = Int(registration.descriptor)
    return index < slots.count && slots[index].generation == registration.generation
  }
}
