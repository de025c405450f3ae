internal import CLinux

/// What a descriptor is asked to be watched for.
public struct Interest: OptionSet, Sendable {
  /// The bits, private to this module's poller.
  public let rawValue: UInt32

  /// Makes a set from its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Bytes, a connection or an end of stream can be read.
  public static let read = Interest(rawValue: EPOLLIN.rawValue | EPOLLRDHUP.rawValue)

  /// Bytes can be written, or a connect has ended.
  public static let write = Interest(rawValue: EPOLLOUT.rawValue)
}

/// What the kernel said of a descriptor in one tick. Level-triggered: unread data is reported again.
public struct Readiness: OptionSet, Sendable {
  /// The kernel's own bits.
  public let rawValue: UInt32

  /// Makes a set from the kernel's bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// A read would not block.
  public static let readable = Readiness(rawValue: EPOLLIN.rawValue)

  /// A write would not block.
  public static let writable = Readiness(rawValue: EPOLLOUT.rawValue)

  /// The peer has shut down its writing half; buffered data may still be readable.
  public static let peerClosed = Readiness(rawValue: EPOLLRDHUP.rawValue)

  /// Both halves are closed. Reported whatever the interest was.
  public static let hungUp = Readiness(rawValue: EPOLLHUP.rawValue)

  /// An error is pending on the descriptor. Reported whatever the interest was.
  public static let failed = Readiness(rawValue: EPOLLERR.rawValue)

  /// Whether a reader should try: data, end of stream or an error to collect.
  public var shouldRead: Bool { !isDisjoint(with: [.readable, .peerClosed, .hungUp, .failed]) }

  /// Whether a writer should try: room, or an error to collect.
  public var shouldWrite: Bool { !isDisjoint(with: [.writable, .hungUp, .failed]) }
}

/// Told when a registered descriptor becomes ready. Called on the reactor's thread, never after deregistration.
public protocol ReadinessHandler: AnyObject {
  /// The descriptor is ready for something it was watched for, or has failed.
  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor)
}

/// A watched descriptor. The generation tells it from a later descriptor with the same number.
public struct Registration: Equatable, Sendable {
  let descriptor: Int32
  let generation: UInt32

  var tag: UInt64 { UInt64(generation) << 32 | UInt64(UInt32(bitPattern: descriptor)) }

  init(descriptor: Int32, generation: UInt32) {
    self.descriptor = descriptor
    self.generation = generation
  }

  init(tag: UInt64) {
    descriptor = Int32(bitPattern: UInt32(truncatingIfNeeded: tag))
    generation = UInt32(truncatingIfNeeded: tag >> 32)
  }
}

extension Reactor {
  /// Waits once for a descriptor that has no handler of its own, as connects and handshakes do.
  /// - Returns: what it became ready for; nil when `limit` passed first.
  /// - Throws: ``SystemError`` when the descriptor cannot be watched. The descriptor stays the caller's.
  public func waitForReadiness(
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
