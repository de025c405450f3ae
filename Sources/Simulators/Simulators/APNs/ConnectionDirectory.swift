internal import DequeModule
internal import Reactors
internal import Synchronization

/// A connection in the form of the control endpoint.
package struct ConnectionSummary: Codable, Equatable, Sendable {
  /// Its number since the start, from 1.
  package let number: Int
  package let environment: SimulatedEnvironment
  /// When its handshake ended, in microseconds since 1970.
  package let openedMicroseconds: Int64
  /// Whole requests received.
  package var requests = 0
  /// Streams refused for exceeding the limit. An obedient client has none.
  package var refusedStreams = 0
  package var streamsMax: Int

  private enum CodingKeys: String, CodingKey {
    case number, environment, requests
    case openedMicroseconds = "opened_us"
    case refusedStreams = "refused_streams"
    case streamsMax = "streams_max"
  }
}

/// The open connections of all listeners, by number.
///
/// Usable from any thread. Work for a connection is submitted to its reactor.
package final class ConnectionDirectory: Sendable {
  private struct Entry {
    var summary: ConnectionSummary
    let strike: @Sendable (ServerFault, _ number: Int) -> Void
  }

  private struct Content {
    var openedCount = 0
    var gate = ConnectionGate()
    var open: [Int: Entry] = [:]
  }

  private let content = Mutex(Content())

  init() {}

  /// Connections since the start, including closed ones.
  package var openedCount: Int { content.withLock { $0.openedCount } }

  /// Clients refused before their handshake, since the start.
  package var refusedCount: Int { content.withLock { $0.gate.refusedCount } }

  package func refuse(next count: Int) {
    content.withLock { $0.gate.refuse(next: count) }
  }

  package func refuse(for time: Duration) {
    let until = Reactor.now + UInt64(max(0, time / .nanoseconds(1)))
    content.withLock { $0.gate.refuse(until: until) }
  }

  func admits(_ limit: ChurnLimit?) -> Bool {
    content.withLock { $0.gate.admits(limit, now: Reactor.now) }
  }

  /// The open ones, oldest first.
  package var open: [ConnectionSummary] {
    content.withLock { content in content.open.values.map(\.summary) }.sorted { $0.number < $1.number }
  }

  /// Adds a connection.
  /// - Parameter strike: carries out a fault on the connection of this number; callable from any thread.
  /// - Returns: its number.
  func add(
    environment: SimulatedEnvironment, streamsMax: Int, strike: @escaping @Sendable (ServerFault, _ number: Int) -> Void
  ) -> Int {
    let opened = SimulationClock.wall.microseconds
    return content.withLock { content in
      content.openedCount += 1
      let number = content.openedCount
      let summary = ConnectionSummary(
        number: number, environment: environment, openedMicroseconds: opened, streamsMax: streamsMax)
      content.open[number] = Entry(summary: summary, strike: strike)
      return number
    }
  }

  func update(_ number: Int, _ change: (inout ConnectionSummary) -> Void) {
    content.withLock { content in
      guard var entry = content.open.removeValue(forKey: number) else { return }
      change(&entry.summary)
      content.open[number] = entry
    }
  }

  func remove(_ number: Int) {
    content.withLock { content in content.open[number] = nil }
  }

  /// Carries out a fault on every open connection.
  /// - Returns: their number.
  @discardableResult
  package func strike(_ fault: ServerFault) -> Int {
    let open = content.withLock { content in Array(content.open.values) }
    for entry in open { entry.strike(fault, entry.summary.number) }
    return open.count
  }
}

/// Decides whether a client gets a connection. Times are monotonic nanoseconds.
struct ConnectionGate {
  private var recent: Deque<UInt64> = []
  private var refusedUntil: UInt64 = 0
  private var refusedNext = 0

  private(set) var refusedCount = 0

  mutating func refuse(next count: Int) {
    refusedNext += count
  }

  mutating func refuse(until moment: UInt64) {
    refusedUntil = max(refusedUntil, moment)
  }

  mutating func admits(_ limit: ChurnLimit?, now: UInt64) -> Bool {
    let isAdmitted = decide(limit, now: now)
    if !isAdmitted { refusedCount += 1 }
    return isAdmitted
  }

  private mutating func decide(_ limit: ChurnLimit?, now: UInt64) -> Bool {
    if now < refusedUntil { return false }
    if refusedNext > 0 {
      refusedNext -= 1
      return false
    }
    guard let limit else { return true }
    let window = UInt64(limit.seconds) * 1_000_000_000
    while let oldest = recent.first, now >= oldest + window { recent.removeFirst() }
    guard recent.count < limit.connections else {
      recent.removeAll()
      refusedUntil = now + UInt64(limit.refusedMilliseconds) * 1_000_000
      return false
    }
    recent.append(now)
    return true
  }
}
