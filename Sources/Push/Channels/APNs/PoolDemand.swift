internal import Reactors

/// How many connections a pool wants: one more when the streams of the present ones stay in use, one less when they were not
/// needed for long.
///
/// A value: time comes in as monotonic nanoseconds.
struct PoolDemand {
  private let connectionsMax: Int
  private let growAfter: UInt64
  private var busySince: UInt64?

  /// The most pushes in flight at once in the present period.
  private var peak = 0

  /// Connections wanted, at least 1.
  private(set) var wanted = 1

  init(_ configuration: APNSConfiguration) {
    connectionsMax = max(1, configuration.connectionsMax)
    growAfter = configuration.growAfter.clampedNanoseconds
  }

  /// Takes the load of a moment.
  /// - Parameters:
  ///   - inFlight: pushes on all connections.
  ///   - streams: the streams of all connections that allow more than one. APNs grants a single one to connections that it
  ///     does not trust, and more connections would not change that.
  ///   - connections: the number of connections.
  /// - Returns: whether one more is wanted than before.
  mutating func wantsMore(inFlight: Int, streams: Int, connections: Int, now: @autoclosure () -> UInt64) -> Bool {
    peak = max(peak, inFlight)
    guard streams > 0, inFlight >= streams - streams / 8, connections >= wanted, wanted < connectionsMax else {
      busySince = nil
      return false
    }
    let now = now()
    let since = busySince ?? now
    busySince = since
    guard now - since >= growAfter else { return false }
    busySince = nil
    wanted += 1
    return true
  }

  /// Ends a period, after which one connection may be closed.
  /// - Parameters:
  ///   - inFlight: pushes on all connections now.
  ///   - otherStreams: streams that remain without the connection in question.
  /// - Returns: whether half of those would have been enough for the whole period.
  mutating func endPeriod(inFlight: Int, otherStreams: Int) -> Bool {
    defer { peak = inFlight }
    return peak <= otherStreams / 2
  }

  /// Wants no more than the present connections until the load grows again.
  mutating func settle(for connections: Int) {
    wanted = min(wanted, max(1, connections))
    busySince = nil
  }
}
