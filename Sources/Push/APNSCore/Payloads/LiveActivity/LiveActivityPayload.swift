/// Starts, changes or ends a Live Activity.
///
/// Goes to the activity's own token or to a push-to-start token, never to the app's device token. Priority 5 is free;
/// 10 counts toward an hourly budget that Apple does not publish. The device drops a content state that does not decode
/// with the default strategies, while APNs answers 200. Source: "Starting and updating Live Activities with ActivityKit
/// push notifications" (Apple).
public struct LiveActivityPayload: PushPayload {
  /// What happens to the activity.
  public enum Event: Equatable, Sendable {
    /// It appears.
    case start(LiveActivityStart)
    /// It changes.
    case update(LiveActivityUpdate)
    /// It is over.
    case end(LiveActivityEnd)
  }

  /// The longest that the system leaves an ended activity on the Lock Screen, in seconds.
  public static let dismissalDelayMax: Int64 = 4 * 3600

  /// When the event happened, in Unix seconds: the device shows the newest, whatever comes last.
  public let timestamp: Int64
  /// What happens.
  public internal(set) var event: Event

  /// Always ``PushType/liveactivity``.
  public var pushType: PushType { .liveactivity }

  /// - Throws: `dismissalTooLate` when an end's dismissal date is more than ``dismissalDelayMax`` after `timestamp`, for
  ///   which the system would not wait.
  public init(timestamp: Int64, event: Event) throws(PushRequestError) {
    self.timestamp = timestamp
    self.event = event
    guard case .end(let end) = event, let dismissalDate = end.dismissalDate else { return }
    let (delay, overflows) = dismissalDate.subtractingReportingOverflow(timestamp)
    guard dismissalDate <= timestamp || !overflows && delay <= Self.dismissalDelayMax else {
      throw PushRequestError(.dismissalTooLate, "more than \(Self.dismissalDelayMax) s after the end")
    }
  }

  /// The JSON document as sent.
  public func encoded() -> [UInt8] {
    JSONBytes.document(reservingBytes: 512) { json in
      json.append(member: "aps") { json in
        json.append(member: "timestamp", integer: timestamp)
        json.append(event)
      }
    }
  }
}

extension JSONBytes {
  fileprivate mutating func append(_ event: LiveActivityPayload.Event) {
    switch event {
    case .start(let start):
      append(member: "event", text: "start")
      append(start)
    case .update(let update):
      append(member: "event", text: "update")
      append(update)
    case .end(let end):
      append(member: "event", text: "end")
      append(end)
    }
  }
}
