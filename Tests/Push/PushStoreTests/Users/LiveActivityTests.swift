import Foundation
import Postgres
import PushRules
import Reactors
import TestIDs
import Testing

@testable import PushStore

@Suite("Live Activities: start, states and end")
struct LiveActivityTests {
  @Test(
    "a start goes to the start tokens of devices that are still the user's, once, urgently and with the type's texts")
  func start() async throws {
    let scene = try await LiveActivityScene()
    #expect(try await scene.start() == .started)
    #expect(try await scene.start() == .exists)
    let events = try await claim(scene.database)
    #expect(events.map(LiveActivityScene.words) == ["start 0 -> bb01"])
    let event = try #require(events.first)
    let push = try #require(try event.content?.push(about: event.subject))
    let payload = try #require(event.liveActivity)
    #expect(push.priority == .immediate && push.keptUntil == payload.timestamp + 1800)
    #expect(payload.staleDate == payload.timestamp + 1800)
    guard case .start(let start) = payload.event else { return #expect(Bool(false), "it is a start") }
    #expect(start.attributesType == LiveActivityScene.type && start.asksForToken)
    #expect(start.attributes["startTime"] == .integer(817_284_600))
    #expect(start.attributes["activityId"] == "run")
    #expect(start.alert == (try LiveActivityAlert(title: "Workout started", body: "Run")))
    #expect(payload.contentState["currentExercise"] == .null)
    try await scene.take(events)
    try await scene.database.sql("update push_tokens set user_id = '\(scene.chat.sender)'")
    #expect(try await scene.start("walk") == .started)
    #expect(try await scene.due() == ["start 0 -> "])
  }

  @Test("states follow one another a second apart; a waiting one is replaced, and the timestamps grow")
  func states() async throws {
    let scene = try await LiveActivityScene()
    try await scene.start()
    try await scene.send()
    try await scene.report("cc01")
    try await scene.database.sql("update tacet.activities set next_push_at = now() + interval '1 h'")
    for elapsed in [1, 2, 3] { #expect(try await scene.update(elapsed) == .updated) }
    #expect(try await scene.database.sql("select count(*) from tacet.inbox") == "1")
    #expect(try await scene.due() == [])
    try await scene.passTime()
    let first = try await claim(scene.database)
    #expect(first.map(LiveActivityScene.words) == ["update 3 -> cc01"])
    // The next one waits a second from now on, because the first is under way.
    try await scene.update(4)
    let waits = "select available_at > created_at from tacet.activity_updates order by version desc limit 1"
    #expect(try await scene.database.sql(waits) == "t")
    try await scene.take(first)
    try await scene.passTime()
    let second = try await claim(scene.database)
    #expect(second.map(LiveActivityScene.words) == ["update 4 -> cc01"])
    let (one, other) = (try #require(first.first?.liveActivity), try #require(second.first?.liveActivity))
    #expect(one.timestamp < other.timestamp)
    #expect(one.staleDate.map { $0 - one.timestamp } == 300)
  }

  @Test("a push that is tried again gives way to a newer state")
  func superseded() async throws {
    let scene = try await LiveActivityScene()
    try await scene.start()
    try await scene.send()
    try await scene.report("cc01")
    try await scene.update(1)
    try await scene.passTime()
    let events = try await claim(scene.database)
    let retried = events.map { event in
      DecidedEvent(
        event: event,
        outcomes: event.recipients.map {
          var outcome = RecipientOutcome(userID: $0.userID, decision: .held, acceptedDevices: [])
          (outcome.reason, outcome.due, outcome.remaining) = ("ServiceUnavailable", .seconds(5), .retryable)
          return outcome
        }, deadTargets: [], wokenBy: "notify")
    }
    try await withStore(scene.database) { try await $0.record(retried, on: $1) }
    try await scene.update(2)
    try await scene.passTime()
    #expect(Set(try await scene.due()) == ["update 1 -> cc01 cancelled", "update 2 -> cc01"])
  }

  @Test("the end has the type's last state; nothing follows it, and it is said once")
  func end() async throws {
    let scene = try await LiveActivityScene()
    try await scene.start()
    try await scene.send()
    try await scene.report("cc01")
    try await scene.update(7)
    #expect(try await scene.end(of: scene.chat.sender) == .unknown)
    #expect(try await scene.end() == .ended)
    #expect(try await scene.end() == .alreadyEnded)
    #expect(try await scene.update(8) == .ended)
    #expect(try await scene.update(8, "nothing") == .unknown)
    try await scene.passTime()
    let events = try await claim(scene.database)
    #expect(events.map(LiveActivityScene.words) == ["end 7 -> cc01"])
    let payload = try #require(events.first?.liveActivity)
    #expect(payload.contentState["heartRate"] == 0 && payload.contentState["currentExercise"] == "Workout Complete! 🎉")
    #expect(payload.staleDate == nil)
    guard case .end(let dismissal) = payload.event else { return #expect(Bool(false), "it is an end") }
    #expect(dismissal.map { $0 - payload.timestamp } == 30)
  }

  @Test("a meal is stale two hours after its start and half an hour after an update, and is dismissed with its end")
  func meal() async throws {
    let scene = try await LiveActivityScene()
    let (user, type) = (scene.user, "MealTrackingActivityAttributes")
    try await withStore(scene.database) {
      _ = try await $0.put(LiveActivityToken(token: "bb02", deviceToken: "aa01"), startingType: type, of: user, on: $1)
      var request = LiveActivityStartRequest(id: "lunch", userID: user, type: type)
      request.attributes = #"{"mealType": "Lunch"}"#
      request.isPushed = true
      #expect(try await $0.start(request, on: $1) == .started)
    }
    func payload() async throws -> LiveActivityPayload {
      let events = try await claim(scene.database)
      try await scene.take(events)
      return try #require(events.first?.liveActivity)
    }
    let first = try await payload()
    guard case .start(let start) = first.event else { return #expect(Bool(false), "it is a start") }
    #expect(start.attributes["targetCalories"] == 600)
    #expect(first.contentState["itemsLogged"] == 0 && first.contentState["lastFoodItem"] == .null)
    #expect(first.staleDate == first.timestamp + 7200)
    try await scene.report("cc02", "lunch")
    let state = #"{"itemsLogged": 1, "totalCalories": 250, "totalProtein": 12.5, "lastFoodItem": "Soup"}"#
    _ = try await withStore(scene.database) { try await $0.updateLiveActivity("lunch", state: state, on: $1) }
    try await scene.passTime()
    let update = try await payload()
    #expect(update.contentState["totalProtein"] == .number(12.5) && update.staleDate == update.timestamp + 1800)
    try await scene.end("lunch")
    try await scene.passTime()
    let last = try await payload()
    guard case .end(let dismissal) = last.event else { return #expect(Bool(false), "it is an end") }
    #expect(last.contentState["itemsLogged"] == 1 && last.staleDate == nil)
    // A moment that has passed is at once.
    #expect(try #require(dismissal) < last.timestamp)
  }

  @Test("an end before the start was sent leaves nothing to push; one during its retries takes it back")
  func endBeforeStart() async throws {
    let scene = try await LiveActivityScene()
    try await scene.start()
    #expect(try await scene.end() == .ended)
    #expect(try await scene.due() == [])
    try await scene.start("walk")
    _ = try await scene.due()
    try await scene.end("walk")
    try await scene.database.sql("update tacet.inbox set available_at = now() - interval '1 s'")
    #expect(Set(try await scene.due()) == ["start 0 -> bb01 cancelled", "end 0 -> "])
  }

  @Test("a start that waits takes the newest state")
  func startTakesState() async throws {
    let scene = try await LiveActivityScene()
    try await scene.start()
    try await scene.update(5)
    #expect(try await scene.due() == ["start 5 -> bb01"])
  }

  @Test("priority 10 for alerts always, and for what asks for it until the hour has had its share")
  func priorities() async throws {
    let scene = try await LiveActivityScene()
    try await scene.database.sql("update tacet.activity_types set urgent_per_hour = 2")
    try await scene.start(isPushed: false)
    let alert = #"{"title": "Half way"}"#
    for (elapsed, priority, alert) in [(1, 10, nil), (2, 5, nil), (3, 10, nil), (4, 10, nil), (5, nil, alert)] {
      try await scene.update(elapsed, of: scene.user, alert: alert, priority: priority)
      try await scene.database.sql("delete from tacet.inbox")
    }
    let priorities = "select string_agg(priority::text, ',' order by version) from tacet.activity_updates"
    #expect(try await scene.database.sql(priorities) == "10,5,10,5,10")
  }

  @Test("eight hours after its start it is ended, a moment before it is not")
  func eightHours() async throws {
    let scene = try await LiveActivityScene()
    for id in ["old", "young"] { try await scene.start(id, isPushed: false) }
    try await scene.database.sql(
      """
      update tacet.activities
      set started_at = now() - interval '8 h' + case when id like '% young' then interval '1 min' else interval '0' end
      """)
    #expect(try await withStore(scene.database) { try await $0.tendLiveActivities(10, on: $1) } == 1)
    let ended = "select split_part(id, ' ', 2), end_reason from tacet.activities where ended_at is not null"
    #expect(try await scene.database.sql(ended) == "old|eight_hours")
  }

  @Test("one that cannot end keeps no other from it: it is ended without a push, which is counted")
  func faultyEnd() async throws {
    let scene = try await LiveActivityScene()
    for id in ["a", "b", "c"] { try await scene.start(id) }
    try await scene.send()
    try await scene.database.sql(
      """
      insert into tacet.activity_types (name, attributes, state, end_state, alert_title)
      values ('Faulty', '{}', '{"a": "string"}', jsonb_build_object('a', repeat('x', 4000)), 'x');
      update tacet.activities set type = 'Faulty' where id = 'a';
      update tacet.activities set started_at = now() - interval '9 hours'
      """)
    #expect(try await withStore(scene.database) { try await $0.tendLiveActivities(10, on: $1) } == 3)
    #expect(try await scene.database.sql("select count(*) from tacet.activities where ended_at is null") == "0")
    let failures = "select kind, sqlstate from tacet.trigger_failures"
    #expect(try await scene.database.sql(failures) == "live_activity|22023")
    try await scene.passTime()
    #expect(try await scene.due().count == 2)
  }

  @Test("all of a user end at once, those of an app too, and nobody else's")
  func endAll() async throws {
    let scene = try await LiveActivityScene()
    try await scene.start("a")
    try await scene.start("b", isPushed: false)
    try await scene.start("c", of: scene.chat.sender)
    let user = scene.user
    #expect(try await withStore(scene.database) { try await $0.endLiveActivities(of: user, on: $1) } == 2)
    #expect(try await scene.database.sql("select id from tacet.activities where ended_at is null") == "c")
    #expect(try await withStore(scene.database) { try await $0.endLiveActivities(of: user, on: $1) } == 0)
  }

  @Test("an app's ids are its user's: they neither take nor keep those of servers and of other users")
  func announced() async throws {
    let scene = try await LiveActivityScene()
    let other = scene.chat.sender
    #expect(try await scene.start("run", of: other, isPushed: false) == .started)
    #expect(try await scene.report("dd01", "run", of: other, device: "ff01"))
    #expect(try await scene.update(1) == .unknown)
    #expect(try await scene.start() == .started)
    try await scene.send()
    #expect(try await scene.report("cc01"))
    #expect(try await scene.update(2) == .updated)
    try await scene.passTime()
    #expect(try await scene.send() == ["update 2 -> cc01"])
    #expect(try await scene.update(3, of: other) == .updated)
    try await scene.passTime()
    #expect(try await scene.send() == ["update 3 -> dd01"])
    #expect(try await scene.end(of: other) == .ended)
    #expect(try await scene.database.sql("select id from tacet.activities where ended_at is null") == "run")
    #expect(try await scene.start(isPushed: false) == .exists)
  }

  @Test("of what a user's apps announce fifty are kept")
  func announcedBound() async throws {
    let scene = try await LiveActivityScene()
    for number in 0..<55 { #expect(try await scene.start("run\(number)", isPushed: false) == .started) }
    let kept = "select count(*), bool_or(id like '% run4'), bool_or(id like '% run5') from tacet.activities"
    #expect(try await scene.database.sql(kept) == "50|f|t")
  }

  @Test("a document that does not fit is refused with a word, and is no error of the database")
  func refused() async throws {
    let scene = try await LiveActivityScene()
    try await scene.start()
    let outcome = try await withStore(scene.database) {
      try await $0.updateLiveActivity("run", state: #"{"secret": 1}"#, on: $1)
    }
    #expect(outcome == .refused("state has no field secret"))
  }

  @Test("a wait that APNs asks for one token holds for the activity's next push, and the newest state goes then")
  func waits() async throws {
    let scene = try await LiveActivityScene()
    try await scene.start()
    try await scene.send()
    try await scene.report("cc01")
    try await scene.update(1)
    try await scene.passTime()
    let events = try await claim(scene.database)
    // A state that comes while the push is under way waits too.
    try await scene.update(2)
    try await scene.hold(events)
    try await scene.update(3)
    let wait = "select available_at between now() + interval '20 s' and now() + interval '60 s' from tacet.inbox"
    #expect(try await scene.database.sql(wait) == "t")
    try await scene.passTime()
    #expect(Set(try await scene.due()) == ["update 1 -> cc01 cancelled", "update 3 -> cc01"])
  }

  @Test("a wait for one device keeps no other waiting, and ends with the newest state")
  func waitsForOne() async throws {
    let scene = try await LiveActivityScene()
    try await scene.start()
    try await scene.send()
    try await scene.report("cc01")
    try await scene.report("dd01", device: "aa02")
    try await scene.update(1)
    try await scene.passTime()
    try await scene.hold(try await claim(scene.database), takenBy: ["dd01"])
    for state in 2..<9 {
      try await scene.update(state)
      try await scene.database.sql("update tacet.inbox set available_at = now()")
      #expect(try await scene.send() == ["update \(state) -> dd01"])
    }
    try await scene.passTime()
    #expect(try await scene.due() == ["update 8 -> cc01"])
  }

  @Test("the next push goes a second after the one before it was sent, however long that took")
  func spacing() async throws {
    let scene = try await LiveActivityScene()
    try await scene.start()
    try await scene.send()
    try await scene.report("cc01")
    try await scene.update(1)
    try await scene.passTime()
    let events = try await claim(scene.database)
    try await scene.update(2)
    try await scene.database.sql("update tacet.inbox set available_at = now() where not is_claimed")
    try await scene.chat.record(events) {
      var outcome = RecipientOutcome(userID: $0, decision: .sent, acceptedDevices: ["cc01"])
      outcome.acceptedMicroseconds = 60_000_000
      return outcome
    }
    let wait = "select available_at > now() + interval '30 s' from tacet.inbox"
    #expect(try await scene.database.sql(wait) == "t")
    #expect(try await scene.due() == [])
  }

  @Test("who wants none of it gets no start")
  func optedOut() async throws {
    let scene = try await LiveActivityScene()
    try await scene.database.sql(
      "insert into tacet.preferences (user_id, disabled_kinds) values ('\(scene.user)', '{live_activity}')")
    try await scene.start()
    #expect(try await claim(scene.database).flatMap(\.recipients).map(\.situation.isOptedOut) == [true])
  }
}

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
    guard let push = try? content?.push(about: subject), case .liveActivity(let payload) = push.payload else {
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
