internal import CLinux
internal import Glibc

/// The epoll descriptor and its registrations.
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

  /// Waits for events.
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
