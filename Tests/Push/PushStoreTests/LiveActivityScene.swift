import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

/// A user with a device that can start workouts by push.
struct LiveActivityScene: Sendable {
  static let (device, startToken) = ("aa01", "bb01")
  static let type = "WorkoutActivityAttributes"

  let chat: Chat
  var database: TestDatabase { chat.database }
  var user: HostID { chat.reader }

  init(in database: TestDatabase? = nil) async throws {
    chat = try await Chat(in: database)
    try await chat.register(Self.device)
    let user = user
    let isKnown = try await withStore(chat.database) {
      try await $0.put(
        LiveActivityToken(token: Self.startToken, deviceToken: Self.device), startingType: Self.type, of: user, on: $1)
    }
    #expect(isKnown)
  }

  /// The state after so many seconds.
  static func state(_ elapsed: Int, heartRate: Int = 120) -> String {
    #"{"elapsedTime": \#(elapsed), "heartRate": \#(heartRate), "activeCalories": \#(elapsed / 6)}"#
  }

  @discardableResult
  func start(
    _ id: String = "run", of other: HostID? = nil, isPushed: Bool = true
  ) async throws -> LiveActivityOutcome {
    var request = LiveActivityStartRequest(id: id, userID: other ?? user, type: Self.type)
    request.attributes = #"{"workoutType": "Run", "startTime": "2026-11-25T07:30:00Z"}"#
    request.isPushed = isPushed
    let start = request
    return try await withStore(database) { try await $0.start(start, on: $1) }
  }

  @discardableResult
  func update(
    _ elapsed: Int, _ id: String = "run", of user: HostID? = nil, alert: String? = nil, priority: Int? = nil
  ) async throws -> LiveActivityOutcome {
    try await withStore(database) {
      try await $0.updateLiveActivity(
        id, of: user, state: Self.state(elapsed), alert: alert, priority: priority, on: $1)
    }
  }

  @discardableResult
  func end(_ id: String = "run", of other: HostID? = nil) async throws -> LiveActivityOutcome {
    try await withStore(database) { try await $0.endLiveActivity(id, of: other, reason: "server", on: $1) }
  }

  /// Lets Live Activities follow the rows that have changed.
  @discardableResult
  func follow() async throws -> Int {
    try await withStore(database) { try await $0.followChangedRows(100, on: $1) }
  }

  @discardableResult
  func report(
    _ token: String, _ id: String = "run", of other: HostID? = nil, device: String = device
  ) async throws -> Bool {
    let user = other ?? user
    return try await withStore(database) {
      try await $0.put(LiveActivityToken(token: token, deviceToken: device), ofLiveActivity: id, of: user, on: $1)
    }
  }

  /// Makes what waits for its second due.
  func passTime() async throws {
    try await database.sql(
      """
      update tacet.push_log set sent_at = sent_at - interval '2 s';
      update tacet.activities set next_push_at = now() - interval '1 s';
      update tacet.deliveries set due_at = now();
      update tacet.inbox set available_at = now() where not is_claimed
      """)
  }

  /// The pushes that are due: `event timestamp elapsed heartRate -> tokens`, without their timestamps.
  func due() async throws -> [String] { try await claim(database).map(Self.words) }

  /// Claims what is due, and records that APNs took it.
  @discardableResult
  func send() async throws -> [String] {
    let events = try await claim(database)
    try await take(events)
    return events.map(Self.words)
  }

  /// Records that APNs asks to wait with a push, for all devices or those that have not taken it.
  func hold(_ events: [PushEvent], takenBy devices: [String] = [], for wait: Duration = .seconds(60)) async throws {
    let decided = events.map { event in
      DecidedEvent(
        event: event,
        outcomes: event.recipients.map {
          // As RecipientDelivery does: what one device has taken is sent, and the others' answers are in the history.
          var outcome = RecipientOutcome(
            userID: $0.userID, decision: devices.isEmpty ? .held : .sent, acceptedDevices: devices)
          outcome.recipient = $0
          (outcome.due, outcome.remaining) = (wait, .retryable)
          outcome.reason = devices.isEmpty ? "TooManyRequests" : nil
          outcome.deviceAttempts = $0.targets.map(\.mark).filter { !devices.contains($0) }.map {
            HistoryEntry.Attempt(
              mark: $0, route: nil, endedMicroseconds: 1, status: 429, reason: "TooManyRequests", verdict: "postponed")
          }
          return outcome
        }, deadTargets: [], wokenBy: "notify")
    }
    try await withStore(database) { try await $0.record(decided, on: $1) }
  }

  /// Records that APNs took pushes.
  func take(_ events: [PushEvent], dead: [DeadTarget] = []) async throws {
    let decided = events.map { event in
      DecidedEvent(
        event: event,
        outcomes: event.recipients.map {
          RecipientOutcome(userID: $0.userID, decision: .sent, acceptedDevices: $0.targets.map(\.address))
        }, deadTargets: dead, wokenBy: "notify")
    }
    try await withStore(database) { try await $0.record(decided, on: $1) }
  }

  static func words(_ event: PushEvent) -> String {
    guard let payload = event.liveActivity else { return "unreadable" }
    let name =
      switch payload.event {
      case .start: "start"
      case .update: "update"
      case .end: "end"
      }
    let recipient = event.recipients.first
    let tokens = recipient?.targets.map(\.address).sorted().joined(separator: ",") ?? ""
    let withheld = recipient?.situation.isCancelled == true ? " cancelled" : ""
    return "\(name) \(payload.elapsed ?? -1) -> \(tokens)\(withheld)"
  }
}

extension PushEvent {
  /// What its push tells a device.
  var liveActivity: LiveActivityPayload? {
    guard let push = try? content?.push(about: subject), case .liveActivity(let payload) = push.document else {
      return nil
    }
    return payload
  }
}

extension LiveActivityPayload {
  /// The workout's time.
  var elapsed: Int? {
    switch contentState["elapsedTime"] {
    case .integer(let number)?: Int(number)
    case .number(let number)?: Int(number.value)
    default: nil
    }
  }
}
