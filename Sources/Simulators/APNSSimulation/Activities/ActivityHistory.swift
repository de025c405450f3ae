internal import DequeModule

/// A push that an activity showed, in the form of the control endpoint.
package struct AppliedPush: Codable, Equatable, Sendable {
  /// The number in the push log.
  package let push: Int
  /// The machine's time of its arrival, in milliseconds since 1970 with a fraction.
  package let receivedMilliseconds: Double
  /// `timestamp`, in Unix seconds.
  package let timestamp: Int64?
  package let event: ActivityEvent?
  package let priority: Int
  /// `content-state`; nil without one.
  package let state: ActivityJSON?

  private enum CodingKeys: String, CodingKey {
    case push, timestamp, event, priority, state
    case receivedMilliseconds = "received_ms"
  }

  init(_ push: ActivityPush, from origin: ActivityPush.Origin) {
    self.push = origin.push
    receivedMilliseconds = Double(origin.receivedMicroseconds) / 1000
    timestamp = push.timestamp
    event = push.event
    priority = origin.priority
    state = push.state
  }
}

/// The latest pushes that an activity showed, and the number of all.
package struct ActivityHistory: Sendable {
  /// The pushes kept: enough for a workout with an update every half minute.
  static let entriesMax = 100
  /// The size of the kept states, in bytes: 10,000 activities have a gigabyte at most. The newest is kept in any case.
  static let bytesMax = 100_000

  /// The number of pushes shown, including evicted ones.
  package private(set) var count = 0

  private var kept: Deque<AppliedPush> = []
  private var bytes = 0

  init() {}

  /// The latest, oldest first.
  package var entries: [AppliedPush] { Array(kept) }

  mutating func append(_ push: AppliedPush) {
    count += 1
    kept.append(push)
    bytes += Self.size(push)
    while kept.count > Self.entriesMax || (bytes > Self.bytesMax && kept.count > 1) {
      bytes -= Self.size(kept.removeFirst())
    }
  }

  private static func size(_ push: AppliedPush) -> Int { push.state?.text.utf8.count ?? 0 }
}
