internal import DequeModule

/// Why a device shows nothing of an accepted Live Activity push.
package enum ActivityDrop: String, CaseIterable, Codable, Sendable {
  /// A `start` that went to anything but a push-to-start token, or another event that went to anything but an update
  /// token.
  case wrongToken = "wrong_token"
  /// No `aps`, or no known `event`.
  case noEvent = "no_event"
  /// No `timestamp`, or one that is no time.
  case noTimestamp = "no_timestamp"
  /// A `timestamp` before that of the last push shown.
  case old
  /// A `timestamp` more than eight hours ahead.
  case future
  /// The activity has ended, or is gone.
  case ended
  /// Neither a `start` nor an `update` without the object `content-state` changes anything.
  case noState = "no_state"
  /// A `start` without the object `attributes`.
  case noAttributes = "no_attributes"
  /// A `start` without `attributes-type`.
  case noAttributesType = "no_attributes_type"
  /// A `start` with another `attributes-type` than that of the push-to-start token.
  case wrongAttributesType = "wrong_attributes_type"
  /// A `start` without an alert.
  case noAlert = "no_alert"
  /// A push of priority 10 beyond the hourly budget of the activity.
  case throttled
  /// A `start` while the simulator has as many running activities as it keeps.
  case tooMany = "too_many"
}

/// Dropped pushes: a counter for each reason, and the latest ones.
package struct ActivityDropLog: Sendable {
  package struct Entry: Codable, Equatable, Sendable {
    /// The number in the push log.
    package let push: Int
    package let reason: ActivityDrop
    /// The device; nil when the push reached none.
    package let device: String?
    /// The activity; nil when the push belonged to none.
    package let activity: String?
  }

  /// Enough to show a pattern. The counters show how common it is.
  static let entriesMax = 1000

  /// The number of drops for each reason, including evicted ones.
  package private(set) var counts: [ActivityDrop: Int] = [:]

  private var kept: Deque<Entry> = []

  /// The latest drops, oldest first.
  package var entries: [Entry] { Array(kept) }

  mutating func append(_ entry: Entry) {
    counts[entry.reason, default: 0] += 1
    if kept.count == Self.entriesMax { kept.removeFirst() }
    kept.append(entry)
  }
}
