import Cryptography
import HTTP2
import Reactors
import TestAPNSCases
import Testing

@testable import Simulators

@Suite("Live Activity pushes and the kinds of tokens")
struct ActivityStartTests {
  private static let timestamp = #""timestamp":\#(ActivityStand.seconds)"#
  private static let update = #"\#(timestamp),"event":"update","content-state":{}"#
  private static let end = #"\#(timestamp),"event":"end""#

  @Test("a start that asks for it gets an activity with an update token, which updates and ends it")
  func life() throws {
    let stand = ActivityStand()
    let activity = try #require(try stand.begin())
    #expect(activity.device == "phone" && activity.attributesType == "RideAttributes")
    #expect(activity.attributes?.text == #"{"id":"r1"}"# && activity.state?.text == #"{"eta":1}"#)
    #expect(activity.alerts == 1 && activity.startedAt == stand.now)
    let token = try #require(activity.token)
    #expect(APNSInquiry.isDeviceToken(token) && token.count > 64)
    for push in [Self.update, Self.end, Self.update] {
      #expect(try stand.push(push, to: token).verdict?.status == 200)
    }
    let shown = try #require(stand.activities.first)
    #expect(shown.endedAt(stand.now) == stand.now && shown.state?.text == "{}" && shown.dropped == [.ended: 1])
    #expect(shown.history.entries.map(\.event) == [.start, .update, .end])
    #expect(shown.history.entries.map(\.receivedMilliseconds) == [1500.25, 1500.25, 1500.25])
    #expect(stand.service.lint.counts.isEmpty)
  }

  @Test(
    "the update token comes when it is asked for and the user allows updates",
    arguments: [
      (nil, true, true, true), (nil, false, true, false), (true, false, true, true), (false, true, true, false),
      (nil, true, false, false),
    ] as [(Bool?, Bool, Bool, Bool)])
  func permission(registration: Bool?, conduct: Bool, asks: Bool, hasToken: Bool) throws {
    let stand = ActivityStand(allowsUpdates: registration)
    var changed = stand.service.conduct
    changed.allowsActivityUpdates = conduct
    stand.service.conduct = changed
    let activity = try #require(try stand.begin(#""input-push-token":\#(asks ? 1 : 0)"#))
    #expect((activity.token != nil) == hasToken)
    #expect(stand.service.renewToken(of: activity.identifier) != nil)
  }

  @Test(
    "a start without what a device needs starts nothing, and says why",
    arguments: [
      (#""attributes-type":"RideAttributes""#, #""x":1"#, ActivityDrop.noAttributesType),
      (#""attributes-type":"RideAttributes""#, #""attributes-type":"""#, .noAttributesType),
      (#""attributes-type":"RideAttributes""#, #""attributes-type":"MealAttributes""#, .wrongAttributesType),
      (#""attributes":{"id":"r1"}"#, #""x":1"#, .noAttributes), (#""content-state":{"eta":1}"#, #""x":1"#, .noState),
      (#""alert":{"title":"Ride","body":"On its way"}"#, #""x":1"#, .noAlert),
      (#""alert":{"title":"Ride","body":"On its way"}"#, #""alert":null"#, .noAlert),
      (#""event":"start""#, #""event":"begin""#, .noEvent),
    ])
  func missing(_ member: String, replacement: String, drop: ActivityDrop) throws {
    let stand = ActivityStand()
    let start = "\(Self.timestamp),\(ActivityStand.start)"
    let changed = start.replacing(member, with: replacement)
    #expect(changed != start)
    let reception = try stand.push(changed, to: ActivityStand.startToken)
    #expect(reception.verdict?.status == 200 && stand.activities.isEmpty && stand.drops == [drop: 1])
  }

  @Test(
    "a start has a time that is not far ahead",
    arguments: [
      (#""timestamp":\#(ActivityStand.seconds + 28_800)"#, nil),
      (#""timestamp":\#(ActivityStand.seconds + 28_801)"#, .future), (#""timestamp":1"#, nil),
      (#""timestamp":null"#, .noTimestamp),
    ] as [(String, ActivityDrop?)])
  func start(_ members: String, drop: ActivityDrop?) throws {
    let stand = ActivityStand()
    _ = try stand.push("\(members),\(ActivityStand.start)", to: ActivityStand.startToken)
    #expect(stand.activities.count == (drop == nil ? 1 : 0) && stand.drops == drop.map { [$0: 1] } ?? [:])
  }

  @Test("what fits no token is answered 200, shown nowhere, and noticed")
  func wrongTokens() throws {
    let stand = ActivityStand()
    let token = try #require(try stand.begin()?.token)
    let start = "\(Self.timestamp),\(ActivityStand.start)"
    let sent = [
      (start, token), (Self.update, ActivityStand.startToken), (Self.end, ActivityStand.startToken),
      (start, ActivityStand.deviceToken), (Self.update, ActivityStand.deviceToken),
    ]
    for (push, token) in sent { #expect(try stand.push(push, to: token).verdict?.status == 200) }
    #expect(stand.drops == [.wrongToken: 5] && stand.service.lint.counts == [.liveActivityWrongToken: 5])
    #expect(stand.activities.map(\.history.count) == [1])
    let drops = stand.service.withActivities { $0.drops.entries }
    #expect(drops.map(\.push) == [2, 3, 4, 5, 6] && drops.allSatisfy { $0.device == "phone" })
  }

  @Test("an alert without a title is noticed")
  func untitled() throws {
    let stand = ActivityStand()
    let token = try #require(try stand.begin()?.token)
    _ = try stand.push(#"\#(Self.update),"alert":{"body":"b"}"#, to: token)
    #expect(stand.service.lint.counts == [.liveActivityUntitledAlert: 1])
  }

  @Test("a new update token replaces the old one, which has expired")
  func renewal() throws {
    let stand = ActivityStand()
    let activity = try #require(try stand.begin())
    let old = try #require(activity.token)
    stand.advance(seconds: 60)
    let new = try #require(stand.service.renewToken(of: activity.identifier))
    let gone = try stand.push(Self.update, to: old).verdict
    #expect(gone?.status == 410 && gone?.reason == "ExpiredToken")
    #expect(gone?.timestampMilliseconds == stand.now.milliseconds)
    #expect(try stand.push(Self.update, to: new).verdict?.status == 200)
    #expect(stand.activities.first?.history.count == 2 && stand.activities.first?.token == new)
    #expect(stand.service.renewToken(of: activity.identifier, to: "BB00") == "bb00")
    #expect(stand.service.renewToken(of: "no such") == nil)
    stand.advance(seconds: 8 * 3600)
    #expect(stand.service.renewToken(of: activity.identifier) == nil)
  }
}

@Suite("The Live Activities of all devices")
struct ActivityBookTests {
  private static let update = #""timestamp":\#(ActivityStand.seconds),"event":"update","content-state":{"eta":7}"#

  @Test("an app's own activity is known by its update token, and another token replaces the first")
  func startedByTheApp() throws {
    let stand = ActivityStand()
    #expect(stand.register("BB00", .update(activity: "ride-1", attributesType: "RideAttributes")))
    #expect(try stand.push(Self.update, to: "bb00").verdict?.status == 200)
    let shown = try #require(stand.activities.first)
    #expect(shown.identifier == "ride-1" && shown.token == "bb00" && shown.state?.text == #"{"eta":7}"#)
    #expect(stand.register("bb01", .update(activity: "ride-1", attributesType: "RideAttributes")))
    #expect(try stand.push(Self.update, to: "bb00").verdict?.reason == "ExpiredToken")
    #expect(try stand.push(Self.update, to: "bb01").verdict?.status == 200)
    #expect(stand.activities.map(\.history.count) == [2])
  }

  @Test("an activity that its user ends is gone at once, and its token has expired")
  func dismissed() throws {
    let stand = ActivityStand()
    let activity = try #require(try stand.begin())
    #expect(stand.service.dismissActivity(activity.identifier) && !stand.service.dismissActivity("no such"))
    #expect(stand.activities.first?.isDismissed(at: stand.now) == true)
    #expect(try stand.push(Self.update, to: #require(activity.token)).verdict?.reason == "ExpiredToken")
  }

  @Test("a removed token is unknown, and its activity has none")
  func removedToken() throws {
    let stand = ActivityStand()
    let token = try #require(try stand.begin()?.token)
    #expect(stand.service.removeToken(token.uppercased()) && !stand.service.removeToken(token))
    #expect(stand.activities.first?.token == nil)
    #expect(try stand.push(Self.update, to: token).verdict?.reason == "BadDeviceToken")
  }

  @Test("everything can be forgotten; then tokens have expired")
  func forgotten() throws {
    let stand = ActivityStand()
    let token = try #require(try stand.begin()?.token)
    _ = try stand.push(Self.update, to: ActivityStand.startToken)
    stand.service.forgetActivities()
    #expect(stand.activities.isEmpty && stand.drops.isEmpty)
    #expect(try stand.push(Self.update, to: token).verdict?.reason == "ExpiredToken")
  }

  @Test("a full book takes no more running ones, and forgets the oldest finished ones")
  func bound() throws {
    let stand = ActivityStand()
    let first = try #require(try stand.begin())
    stand.advance(seconds: 1)
    let full = ActivityBook.activitiesMax
    for number in 1..<full {
      #expect(stand.register("bb", .update(activity: "ride-\(number)", attributesType: "")))
    }
    _ = try stand.begin()
    #expect(stand.activities.count == full && stand.drops == [.tooMany: 1])
    stand.advance(seconds: 8 * 3600 - 1)
    let next = try #require(try stand.begin())
    #expect(next.token != nil)
    #expect(stand.activities.count == full && stand.service.withActivities { $0[first.identifier] } == nil)
    #expect(try stand.push(Self.update, to: #require(first.token)).verdict?.reason == "ExpiredToken")
    #expect(stand.service.withActivities { $0["ride-1"] } != nil)
  }
}

@Suite("The hourly budget and the history of a Live Activity")
struct ActivityBudgetTests {
  private static let start: Int64 = 1_790_000_000

  @Test("pushes of priority 10 beyond the budget are held back until the hour is over; priority 5 is free")
  func budget() throws {
    var activity = activity()
    let sent: [(after: Int64, priority: Int, drop: ActivityDrop?)] = [
      (0, 10, nil), (1, 10, nil), (2, 10, .throttled), (3, 5, nil), (3599, 10, .throttled), (3600, 10, nil),
      (3601, 10, nil), (3602, 10, .throttled),
    ]
    for (after, priority, drop) in sent {
      let origin = ActivityPush.Origin.at(Self.start + after, priority: priority)
      #expect(activity.take(try update(after), from: origin, hourly: 2) == drop, "after \(after) s")
    }
    #expect(activity.dropped == [.throttled: 3] && activity.history.count == 5)
  }

  @Test("without a budget every push is shown, and a budget that is set later begins then")
  func none() throws {
    var activity = activity()
    for number in 0..<5 {
      #expect(activity.take(try update(Int64(number)), from: .at(Self.start), hourly: nil) == nil)
    }
    #expect(activity.take(try update(9), from: .at(Self.start), hourly: 1) == nil)
    #expect(activity.take(try update(9), from: .at(Self.start), hourly: 1) == .throttled)
  }

  @Test("the service applies the budget of its conduct")
  func conduct() throws {
    let stand = ActivityStand()
    var conduct = stand.service.conduct
    conduct.activityBudget = 1
    stand.service.conduct = conduct
    let token = try #require(try stand.begin()?.token)
    for _ in 0..<2 {
      let update = #""timestamp":\#(ActivityStand.seconds),"event":"update","content-state":{}"#
      #expect(try stand.push(update, to: token).verdict?.status == 200)
    }
    #expect(stand.drops == [.throttled: 1] && stand.activities.first?.history.count == 2)
  }

  @Test("a history keeps the newest hundred pushes and counts all")
  func history() throws {
    var activity = activity()
    for number in 0..<101 {
      let origin = ActivityPush.Origin.at(Self.start, push: number + 1)
      #expect(activity.take(try update(Int64(number)), from: origin, hourly: nil) == nil)
    }
    #expect(activity.history.count == 101 && activity.history.entries.map(\.push) == Array(2...101))
  }

  @Test("a history of large states keeps fewer, and always the newest")
  func largeStates() throws {
    var activity = activity()
    let text = String(repeating: "x", count: 60_000)
    for number in 0..<3 {
      let push = try update(Int64(number), state: #"{"x":"\#(text)"}"#)
      #expect(activity.take(push, from: .at(Self.start, push: number), hourly: nil) == nil)
    }
    #expect(activity.history.entries.map(\.push) == [2] && activity.history.count == 3)
  }

  private func activity() -> SimulatedActivity {
    SimulatedActivity(
      "A1", on: "phone", of: ActivityStand.owner, attributesType: "T",
      startedAt: WallInstant(seconds: Self.start))
  }

  private func update(_ after: Int64, state: String = "{}") throws -> ActivityPush {
    let aps = #""timestamp":\#(Self.start + after),"event":"update","content-state":\#(state)"#
    return try #require(ActivityPush(body: Array(#"{"aps":{\#(aps)}}"#.utf8)))
  }
}

@Suite("The control endpoint and Live Activities")
struct ActivityControlTests {
  private static let start =
    #"{"environment":"production","bundle_id":"com.example.app","kind":"push_to_start","#
    + #""attributes_type":"RideAttributes","device":"phone"}"#
  private static let app = #""environment":"production","bundle_id":"com.example.app""#

  @Test("a test plays the app: it registers a token, finds the activity's token, and sees what the device shows")
  func activity() async throws {
    try await SimulatorScene.play { scene, reactor in
      let script = Script(scene, reactor)
      #expect(try await script.send("PUT", "/tokens/AA00", Self.start).status == 204)
      #expect(try await script.send("GET", "/tokens").body.contains(#""kind":"push_to_start""#))
      let connection = try await scene.connect(on: reactor)
      let jwt = try scene.providerToken()
      let begin = scene.live(#"\#(ActivityStand.start),"input-push-token":1"#, to: "aa00", jwt)
      #expect(await connection.outcome(of: begin, on: reactor) == "200")
      let shown = try #require(try await script.activities("device=phone").first)
      #expect(shown["attributes_type"] as? String == "RideAttributes" && shown["ended"] as? Bool == false)
      let (activity, token) = (shown["activity"] as? String ?? "", shown["token"] as? String ?? "")
      let update = scene.live(#""event":"update","content-state":{"eta":2}"#, to: token, jwt)
      #expect(await connection.outcome(of: update, on: reactor) == "200")
      let updated = try #require(try await script.activities("activity=\(activity)&history=1").first)
      #expect((updated["state"] as? [String: Int]) == ["eta": 2] && updated["applied_count"] as? Int == 2)
      let applied = try #require((updated["applied"] as? [[String: Any]])?.first)
      #expect(applied["event"] as? String == "update" && applied["priority"] as? Int == 10)
      #expect((applied["received_ms"] as? Double ?? 0) > 1_700_000_000_000)
      let renewed = try await script.send("POST", "/activities/\(activity)/token")
      #expect(renewed.status == 200 && renewed.json["token"] as? String != token)
      #expect(await connection.outcome(of: update, on: reactor).contains("ExpiredToken"))
      #expect(try await script.activities("device=tablet").isEmpty)
    }
  }

  @Test("drops are shown with their reasons, and activities can be ended and forgotten")
  func drops() async throws {
    try await SimulatorScene.play { scene, reactor in
      let script = Script(scene, reactor)
      let token = #"{\#(Self.app),"kind":"update","activity":"ride 1"}"#
      #expect(try await script.send("PUT", "/tokens/bb00", token).status == 204)
      let connection = try await scene.connect(on: reactor)
      let stray = try scene.live(ActivityStand.start, to: "bb00", scene.providerToken())
      #expect(await connection.outcome(of: stray, on: reactor) == "200")
      let list = try await script.send("GET", "/activities")
      #expect(list.json["dropped"] as? [String: Int] == ["wrong_token": 1] && list.json["total"] as? Int == 1)
      #expect((list.json["drops"] as? [[String: Any]])?.first?["reason"] as? String == "wrong_token")
      #expect(try await script.send("DELETE", "/activities/ride%201").status == 204)
      #expect(try await script.activities("activity=ride+1").first?["dismissed"] as? Bool == true)
      #expect(try await script.send("DELETE", "/activities/other").status == 404)
      #expect(try await script.send("POST", "/activities/ride%201/token").status == 404)
      #expect(try await script.send("DELETE", "/activities").status == 204)
      #expect(try await script.activities("").isEmpty)
    }
  }
}

/// Requests of a script to the control endpoint.
private struct Script {
  let scene: SimulatorScene
  let reactor: Reactor

  init(_ scene: SimulatorScene, _ reactor: isolated Reactor) {
    self.scene = scene
    self.reactor = reactor
  }

  func send(_ method: String, _ target: String, _ body: String = "") async throws -> ControlClient.Answer {
    try await ControlClient.send(method, target, body, to: scene.addresses.control, on: reactor)
  }

  func activities(_ query: String) async throws -> [[String: Any]] {
    try await send("GET", "/activities?\(query)").json["activities"] as? [[String: Any]] ?? []
  }
}

extension SimulatorScene {
  /// A Live Activity push as of now.
  fileprivate func live(_ aps: String, to token: String, _ providerToken: String) -> HTTP2Request {
    let fields: HTTP2Fields = [
      "authorization": "bearer \(providerToken)", "apns-topic": "com.example.app.push-type.liveactivity",
      "apns-push-type": "liveactivity",
    ]
    return HTTP2Request(path: "/3/device/\(token)", fields: fields, body: Self.payload(aps))
  }

  private static func payload(_ aps: String) -> [UInt8] {
    Array(#"{"aps":{"timestamp":\#(SimulationClock.wall.seconds),\#(aps)}}"#.utf8)
  }
}

/// A service with a standing clock, one phone with a token of each kind, and a sender of Live Activity pushes.
struct ActivityStand {
  static let seconds: Int64 = 1_790_000_000
  static let bundle = "com.example.app"
  static let startToken = "aa00"
  static let deviceToken = "dd00"
  static let owner = SimulatedActivity.Owner(environment: .production, bundle: bundle)

  /// The members of a start besides its `timestamp`.
  static let start = """
    "event":"start","attributes-type":"RideAttributes","attributes":{"id":"r1"},"content-state":{"eta":1},\
    "alert":{"title":"Ride","body":"On its way"}
    """

  let service = SimulatedService(clock: SimulationClock(standingAt: WallInstant(seconds: seconds)))
  private let key = P256PrivateKey()

  init(allowsUpdates: Bool? = nil) {
    let key = key
    service.withRegistry { registry in
      registry.register(ProviderKey(identifier: "KEY0000001", team: "TEAM000001", publicKey: key.publicKey))
      registry.registerBundle(Self.bundle, team: nil)
    }
    register(Self.startToken, .pushToStart(attributesType: "RideAttributes", allowsUpdates: allowsUpdates))
    register(Self.deviceToken, .device)
  }

  @discardableResult
  func register(_ token: String, _ kind: TokenKind) -> Bool {
    service.register(
      RegisteredDevice(environment: .production, bundle: Self.bundle, name: "phone", kind: kind), token: token)
  }

  func advance(seconds: Int64) {
    service.clock.advance(milliseconds: seconds * 1000)
  }

  /// All activities, oldest first.
  var activities: [SimulatedActivity] { service.withActivities { $0.all } }

  /// The number of drops for each reason.
  var drops: [ActivityDrop: Int] { service.withActivities { $0.drops.counts } }

  var now: WallInstant { service.clock.now }

  /// Sends a start that the phone follows.
  /// - Returns: the activity.
  func begin(_ more: String = #""input-push-token":1"#) throws -> SimulatedActivity? {
    _ = try push(#""timestamp":\#(now.seconds),\#(Self.start),\#(more)"#, to: Self.startToken)
    return activities.last
  }

  /// Sends a push.
  /// - Parameter aps: the members of `aps`.
  func push(_ aps: String, to token: String, priority: Int = 10) throws -> Reception {
    try receive(
      path: "/3/device/\(token)", aps,
      [
        ("apns-topic", Self.bundle + ".push-type.liveactivity"), ("apns-push-type", "liveactivity"),
        ("apns-priority", String(priority)),
      ])
  }

  private func receive(path: String, _ aps: String, _ fields: [(String, String)]) throws -> Reception {
    try receive(method: "POST", path: path, body: #"{"aps":{\#(aps)}}"#, fields)
  }

  private func receive(
    method: String, path: String, body: String, _ fields: [(String, String)]
  ) throws -> Reception {
    let token = try ProviderTokenMint(
      keyIdentifier: "KEY0000001", issuer: "TEAM000001", issuedAt: "\(now.seconds)"
    ).sign(with: key)
    let fields = fields.map { (name: $0.0, value: $0.1) } + [(name: "authorization", value: "bearer \(token)")]
    var binding = ProviderBinding()
    return service.receive(
      InspectedRequest(method: method, path: path, fields: fields, body: Array(body.utf8)),
      from: RequestOrigin(
        environment: .production, connection: 1, stream: 1, arrival: WallInstant(microseconds: 1_500_250)),
      binding: &binding)
  }
}
