internal import Glibc
internal import Reactors
internal import Synchronization

/// The open connections of one reactor, and the clock of their deadlines.
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
    counters.figures.accepted += 1
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

  func abort(on reactor: isolated Reactor) { forEach { $0.leave(on: reactor) } }
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

/// Counts open connections by peer, over all reactors of a service. Holds its lock for one dictionary access.
final class ConnectionCensus: Sendable {
  enum Admission: Equatable {
    case admitted
    /// The service is full. The connection is of the reserve, for one request.
    case reserved
    /// The service and its reserve are full.
    case full
    case peerFull
  }

  private struct Counts {
    var admitted = 0
    var reserved = 0
    var byPeer: [IPNetwork: Int] = [:]
  }

  private let limits: ConnectionLimits
  private let counts = Mutex(Counts())

  init(_ limits: ConnectionLimits) { self.limits = limits }

  /// Counts a new connection if there is room for it.
  /// - Parameter peer: nil for a peer without a limit.
  func admit(_ peer: IPAddress?) -> Admission {
    counts.withLock { counts in
      guard counts.admitted < limits.totalMax || counts.reserved < limits.reserveMax else { return .full }
      guard Self.enter(peer, limits.perPeerMax, &counts) else { return .peerFull }
      if counts.admitted < limits.totalMax {
        counts.admitted += 1
        return .admitted
      }
      counts.reserved += 1
      return .reserved
    }
  }

  func leave(_ peer: IPAddress?, _ admission: Admission) {
    counts.withLock { counts in
      if admission == .reserved { counts.reserved -= 1 } else { counts.admitted -= 1 }
      Self.leave(peer, &counts)
    }
  }

  /// Counts a request from a proxy.
  /// - Returns: whether its client may have another concurrent request.
  func begin(for client: IPAddress) -> Bool { counts.withLock { Self.enter(client, limits.perPeerMax, &$0) } }

  func end(for client: IPAddress) { counts.withLock { Self.leave(client, &$0) } }

  private static func enter(_ peer: IPAddress?, _ limit: Int, _ counts: inout Counts) -> Bool {
    guard let peer else { return true }
    let network = IPNetwork(ofHost: peer)
    let count = counts.byPeer[network, default: 0]
    guard count < limit else { return false }
    counts.byPeer[network] = count + 1
    return true
  }

  private static func leave(_ peer: IPAddress?, _ counts: inout Counts) {
    guard let peer else { return }
    let network = IPNetwork(ofHost: peer)
    let count = counts.byPeer[network, default: 1] - 1
    counts.byPeer[network] = count == 0 ? nil : count
  }
}

/// A bound on the bytes that all connections of a service keep, over all its reactors.
final class BufferBudget: Sendable {
  private let bytesMax: Int
  private let bytes = Atomic<Int>(0)

  init(bytesMax: Int) { self.bytesMax = bytesMax }

  /// Counts a change of a connection's bytes, even one above the bound.
  /// - Parameter free: bytes that do not count for the bound.
  /// - Returns: whether the connection may keep its bytes: they are no more than before, or all bytes are within the bound.
  func count(change: Int, free: Int = 0) -> Bool {
    let sum = bytes.wrappingAdd(change, ordering: .relaxed).newValue
    return change <= 0 || sum - free <= bytesMax
  }
}

extension HTTPConnection {
  /// Counts the connection's bytes while it waits or its request is handled.
  /// - Parameter isAnswering: whether it sends an answer, which may have any size while the others are within the bound.
  /// - Returns: whether it may keep them. They are counted in either case.
  @discardableResult
  func countBytes(isAnswering: Bool = false) -> Bool {
    let kept = machine.bytesKept + handledBytes
    let budget = isSettled ? service.callersBytes : service.strangersBytes
    guard budget !== countedBudget || kept != countedBytes else { return true }
    if budget !== countedBudget {
      uncountBytes()
      countedBudget = budget
    }
    let change = kept - countedBytes
    countedBytes = kept
    return change == 0 || budget.count(change: change, free: isAnswering ? kept : 0)
  }

  func uncountBytes() {
    if countedBytes > 0 { _ = countedBudget?.count(change: -countedBytes) }
    countedBytes = 0
  }
}

/// What a service has done since its start, and its open connections.
package struct HTTPServiceFigures: Sendable, Equatable {
  package enum TurnAway: String, Sendable, CaseIterable {
    /// The service is full, and so is its reserve.
    case full
    /// The peer has as many connections as it may have.
    case peer
    /// The process has no descriptor left, or the kernel no memory.
    case descriptors
  }

  package struct Answer: Hashable, Sendable {
    /// Nil when the request had no operation, or was refused before its operation was known.
    package let operation: HTTPOperation?
    /// From 200 to 599.
    package let status: Int

    package init(_ operation: HTTPOperation?, status: Int) {
      self.operation = operation
      self.status = status
    }
  }

  package var accepted = 0
  package var open = 0
  /// Connections turned away, by reason. Has no zeros.
  package var turnedAway: [TurnAway: Int] = [:]
  /// TLS handshakes that failed, took too long, or began with plain HTTP. Peers that sent nothing do not count.
  package var failedHandshakes = 0
  /// Answers, including refusals of requests. Has no zeros.
  package var answers: [Answer: Int] = [:]

  package var responses: [Int: Int] {
    answers.reduce(into: [:]) { $0[$1.key.status, default: 0] += $1.value }
  }

  package init() {}

  static func += (sum: inout HTTPServiceFigures, other: HTTPServiceFigures) {
    sum.accepted += other.accepted
    sum.open += other.open
    sum.turnedAway.merge(other.turnedAway, uniquingKeysWith: +)
    sum.failedHandshakes += other.failedHandshakes
    sum.answers.merge(other.answers, uniquingKeysWith: +)
  }
}

/// Reads the figures of a service. Made before the service, so that a route of the service can show them. May be used from any
/// task.
package final class HTTPServiceMeter: Sendable {
  private let registries = Mutex<[ReactorBound<ConnectionRegistry>]>([])

  package init() {}

  /// Adds up the figures of all reactors. Those of one reactor are of one moment.
  package func read() async -> HTTPServiceFigures {
    var figures = HTTPServiceFigures()
    for registry in registries.withLock({ $0 }) {
      figures += await registry.perform { registry, _ in registry.figures }
    }
    return figures
  }

  func add(_ registry: ReactorBound<ConnectionRegistry>) { registries.withLock { $0.append(registry) } }
}

final class ConnectionCounters {
  private static let statuses = 200..<600

  private let operations: [HTTPOperation]
  /// Without the open connections and the answers.
  var figures = HTTPServiceFigures()
  /// A count for each status of each operation, and at the end for answers without an operation, so that an answer costs one
  /// addition. Thirty operations take 100 KB.
  private var responses: [Int]

  /// - Parameter operations: in the order of their routes' numbers.
  init(_ operations: [HTTPOperation]) {
    self.operations = operations
    responses = [Int](repeating: 0, count: Self.statuses.count * (operations.count + 1))
  }

  /// - Parameter route: the number of the request's route; nil without one.
  func countResponse(_ status: Int, of route: Int? = nil) {
    responses[(route ?? operations.count) * Self.statuses.count + status - Self.statuses.lowerBound] += 1
  }

  func figures(open: Int) -> HTTPServiceFigures {
    var figures = figures
    figures.open = open
    for (place, count) in responses.enumerated() where count > 0 {
      let (route, status) = place.quotientAndRemainder(dividingBy: Self.statuses.count)
      let operation = route < operations.count ? operations[route] : nil
      figures.answers[.init(operation, status: Self.statuses.lowerBound + status)] = count
    }
    return figures
  }
}
