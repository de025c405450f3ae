internal import Glibc
internal import Reactors

/// The open connections of one reactor, and the clock of their deadlines.
///
/// One timer sweeps over all connections, so a request sets its deadlines without touching a queue or reading the clock.
final class ConnectionRegistry {
  enum DrainStage: Comparable {
    case serving
    /// Every answer is the last of its connection.
    case lastAnswers
    /// Connections that wait for another request are closed.
    case closesIdle
    /// Connections that wait for their first request are closed too.
    case closesQuiet
  }

  let clock: SweepClock
  let counters: ConnectionCounters
  var spareBuffers = SpareBuffers()
  private(set) var drainStage = DrainStage.serving
  private var connections: [HTTPConnection] = []
  private var isSweeping = false
  private let emptied = Signal()
  private var date = HTTPDate(unixSeconds: time(nil))
  private(set) var sweeps = 0

  init(_ configuration: HTTPServiceConfiguration, operations: [HTTPOperation]) {
    clock = SweepClock(configuration.timeouts)
    counters = ConnectionCounters(operations)
  }

  var count: Int { connections.count }

  var figures: HTTPServiceFigures { counters.figures(open: count) }

  /// The current second, formatted once for all connections.
  func currentDate() -> HTTPDate {
    var current = date
    update(&current)
    return current
  }

  /// Updates a date to the current second, which it mostly is already.
  func update(_ date: inout HTTPDate) {
    let now = time(nil)
    guard date.unixSeconds != now else { return }
    if self.date.unixSeconds != now { self.date = HTTPDate(unixSeconds: now) }
    date = self.date
  }

  func add(_ connection: HTTPConnection, on reactor: isolated Reactor) {
    counters.countAccepted()
    connection.index = connections.count
    connections.append(connection)
    connection.isDraining = drainStage > .serving
    guard !isSweeping else { return }
    isSweeping = true
    reactor.schedule(after: clock.interval, self)
  }

  /// Replaces the connection by the last one.
  func remove(_ connection: HTTPConnection, on reactor: isolated Reactor) {
    connections.swapAt(connection.index, connections.count - 1)
    connections[connection.index].index = connection.index
    connections.removeLast()
    if connections.isEmpty { emptied.signal(on: reactor) }
  }

  func drain(to stage: DrainStage, on reactor: isolated Reactor) {
    drainStage = stage
    forEach { $0.drain(on: reactor) }
  }

  /// Backwards, because a connection may remove itself, which moves a visited one into its place.
  private func forEach(_ body: (HTTPConnection) -> Void) {
    for index in connections.indices.reversed() { body(connections[index]) }
  }

  /// Whether a connection without a request closes while it waits in this stretch.
  func closesQuiet(_ stretch: ReadStretch) -> Bool {
    drainStage >= (stretch == .idle ? .closesIdle : .closesQuiet)
  }

  /// - Returns: whether all connections closed in time.
  func waitUntilEmpty(for limit: Duration, on reactor: isolated Reactor) async -> Bool {
    while !connections.isEmpty {
      guard await emptied.wait(for: limit, on: reactor) else { return connections.isEmpty }
    }
    return true
  }

  func abort(on reactor: isolated Reactor) {
    forEach { $0.leave(on: reactor) }
  }
}

extension ConnectionRegistry: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    sweeps += 1
    forEach { $0.sweep(on: reactor) }
    isSweeping = !connections.isEmpty
    if isSweeping { reactor.schedule(after: clock.interval, self) }
  }
}

/// The time-outs of a service in sweeps of a registry.
struct SweepClock {
  let interval: Duration
  let handshake: Int
  let head: Int
  let reserve: Int
  let body: Int
  let bodyGrace: Int
  let idle: Int
  let write: Int
  let linger: Int
  /// The least content per sweep in bytes, possibly a fraction; zero for any rate.
  private let bodyBytesMin: Double

  init(_ timeouts: HTTPTimeouts) {
    let all = [
      timeouts.handshake, timeouts.head, timeouts.reserve, timeouts.body, timeouts.bodyGrace, timeouts.idle,
      timeouts.write, timeouts.linger,
    ]
    let interval = max(.milliseconds(1), min(.seconds(1), (all.min() ?? .seconds(1)) / 4))
    self.interval = interval
    // One more, because part of the current interval has passed.
    func sweeps(_ duration: Duration) -> Int { Int((duration / interval).rounded(.up)) + 1 }
    handshake = sweeps(timeouts.handshake)
    head = sweeps(timeouts.head)
    reserve = sweeps(timeouts.reserve)
    body = sweeps(timeouts.body)
    bodyGrace = sweeps(timeouts.bodyGrace)
    idle = sweeps(timeouts.idle)
    write = sweeps(timeouts.write)
    linger = sweeps(timeouts.linger)
    bodyBytesMin = Double(timeouts.bodyBytesPerSecondMin) * (interval / .seconds(1))
  }

  /// How long content may take of which this much has arrived: as long as it keeps its rate, at most the whole time-out.
  func body(afterReceiving byteCount: Int) -> Int {
    guard bodyBytesMin > 0 else { return body }
    return min(body, bodyGrace + Int(min(Double(body), Double(byteCount) / bodyBytesMin)))
  }
}
