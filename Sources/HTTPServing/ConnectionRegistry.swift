internal import Glibc
internal import HTTP1
internal import Reactors

/// The open connections of one reactor, and the clock that ends their waits.
///
/// One timer sweeps over all connections instead of one timer for each, so a request sets its deadlines without touching a
/// queue or reading the clock.
final class ConnectionRegistry {
  /// How near the end of the service is.
  enum DrainStage: Comparable {
    case serving
    /// Every answer is the last of its connection.
    case lastAnswers
    /// Connections that wait for another request are closed.
    case closesIdle
    /// Those that have not asked anything yet are closed too.
    case closesQuiet
  }

  let clock: SweepClock
  private(set) var drainStage = DrainStage.serving
  private var channels: [ConnectionChannel] = []
  private var isSweeping = false
  private let emptied = Signal()
  private var date = HTTPDate(unixSeconds: time(nil))
  /// How often the timer has come.
  private(set) var sweeps = 0

  init(_ configuration: HTTPServiceConfiguration) { clock = SweepClock(configuration.timeouts) }

  var count: Int { channels.count }

  /// The present second, formatted once for all connections.
  func currentDate() -> HTTPDate {
    let now = time(nil)
    if date.unixSeconds != now { date = HTTPDate(unixSeconds: now) }
    return date
  }

  func add(_ channel: ConnectionChannel, on reactor: isolated Reactor) {
    channel.index = channels.count
    channels.append(channel)
    if drainStage > .serving { channel.drain(on: reactor) }
    guard !isSweeping else { return }
    isSweeping = true
    reactor.schedule(after: clock.interval, self)
  }

  /// Puts the last connection in the removed one's place.
  func remove(_ channel: ConnectionChannel, on reactor: isolated Reactor) {
    channels.swapAt(channel.index, channels.count - 1)
    channels[channel.index].index = channel.index
    channels.removeLast()
    if channels.isEmpty { emptied.signal(on: reactor) }
  }

  /// Comes a stage nearer to the end; connections that wait are told.
  func drain(to stage: DrainStage, on reactor: isolated Reactor) {
    drainStage = stage
    for channel in channels { channel.drain(on: reactor) }
  }

  /// Whether a connection that waits here, and on which nothing has begun, is to close.
  func closesQuiet(_ stretch: ReadStretch) -> Bool {
    drainStage >= (stretch == .idle ? .closesIdle : .closesQuiet)
  }

  /// - Returns: whether all connections were closed in time.
  func waitUntilEmpty(for limit: Duration, on reactor: isolated Reactor) async -> Bool {
    while !channels.isEmpty {
      guard await emptied.wait(for: limit, on: reactor) else { return channels.isEmpty }
    }
    return true
  }

  func abort(on reactor: isolated Reactor) {
    for channel in channels { channel.abort(on: reactor) }
  }
}

extension ConnectionRegistry: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    sweeps += 1
    for channel in channels { channel.sweep(sweeps, on: reactor) }
    isSweeping = !channels.isEmpty
    if isSweeping { reactor.schedule(after: clock.interval, self) }
  }
}
