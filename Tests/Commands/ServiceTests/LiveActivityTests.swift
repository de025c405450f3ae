import Foundation
import FoundationNetworking
import Simulators
import TestProcesses
import Testing

@Suite("Live Activities of a running service, as the devices show them")
struct LiveActivityTests {
  private static let serviceKey = "service-key-of-live-activities"
  private static let type = "WorkoutActivityAttributes"
  private static let (device, startToken) = (String(repeating: "a1", count: 32), String(repeating: "b1", count: 40))

  /// A user with a phone that starts workouts by push.
  private struct Phone {
    let scene: ServiceScene
    let user: String

    init(_ scene: ServiceScene) async throws {
      self.scene = scene
      user = UUID().uuidString.lowercased()
      scene.register(device)
      scene.simulator.service.register(
        RegisteredDevice(
          environment: .production, bundle: ServiceScene.bundle, name: "phone",
          kind: .pushToStart(attributesType: type, allowsUpdates: true)), token: startToken)
      try await scene.sql(
        """
        insert into profiles (id) values ('\(user)');
        insert into push_tokens (user_id, device_token) values ('\(user)', '\(device)');
        select tacet.put_start_token('\(user)', '\(device)', '\(type)', '\(startToken)', null, null)
        """)
    }

    func start() async throws {
      try await scene.sql(
        """
        select tacet.start_live_activity(
          'run', '\(user)', '\(type)', '{"workoutType": "Run", "startTime": "2026-11-25T07:30:00Z"}', null, null, true)
        """)
    }

    func update(_ elapsed: Int) async throws -> String {
      try await scene.sql("select tacet.update_live_activity('run', '\(state(elapsed))')")
    }

    /// Tells the service the token that the device has now, as the app does.
    func report(_ token: String) async throws {
      try await scene.sql("select tacet.put_activity_token('run', '\(user)', '\(device)', '\(token)', null, null)")
    }

    /// The activity, once it is as a test expects.
    func shown(_ isAwaited: @Sendable (SimulatedActivity) -> Bool) async throws -> SimulatedActivity {
      try await LiveActivityTests.shown(scene, isAwaited)
    }
  }

  private static func shown(
    _ scene: ServiceScene, _ isAwaited: @Sendable (SimulatedActivity) -> Bool
  ) async throws -> SimulatedActivity {
    let deadline = ContinuousClock.now + .seconds(90)
    while true {
      let all = scene.simulator.service.withActivities { $0.all }
      if let activity = all.first(where: isAwaited) { return activity }
      guard ContinuousClock.now < deadline else { throw Unexpected(screens: all.map { $0.state?.text ?? "nothing" }) }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  private struct Unexpected: Error {
    let screens: [String]
  }

  private static func state(_ elapsed: Int) -> String {
    #"{"elapsedTime": \#(elapsed), "heartRate": \#(160 - elapsed), "activeCalories": 1}"#
  }

  @Test(
    "a workout over kill -9, a new token and its end: the last screen is the last committed state, and nothing comes after"
  )
  func workout() async throws {
    let scene = try await ServiceScene()
    let service = try await scene.startService()
    let phone = try await Phone(scene)
    try await phone.start()
    let begun = try await phone.shown { $0.token != nil }
    #expect(begun.attributes?.text.contains(#""workoutType":"Run""#) == true && begun.alerts == 1)
    try await phone.report(try #require(begun.token))
    #expect(try await phone.update(1) == "updated")
    _ = try await phone.shown { $0.state?.text.contains(#""elapsedTime":1,"#) == true }
    try await service.process.signal(SIGKILL)
    for elapsed in 2...5 { _ = try await phone.update(elapsed) }
    let next = try await scene.startService()
    _ = try await phone.shown { $0.state?.text.contains(#""elapsedTime":5,"#) == true }
    let renewed = scene.simulator.service.renewToken(of: begun.identifier)
    _ = try await phone.update(6)
    try await phone.report(try #require(renewed))
    _ = try await phone.shown { $0.state?.text.contains(#""elapsedTime":6,"#) == true }
    try await scene.sql("select tacet.end_live_activity('run', null, null, 'server')")
    let ended = try await phone.shown { $0.history.entries.last?.event == .end }
    #expect(try await phone.update(7) == "ended")
    #expect(ended.state?.text.contains("Workout Complete! 🎉") == true)
    let timestamps = ended.history.entries.compactMap(\.timestamp)
    #expect(timestamps == timestamps.sorted() && Set(timestamps).count == timestamps.count)
    #expect(ended.history.entries.filter { $0.event == .start }.count == 1)
    #expect(try await scene.sql("select count(*) from push_tokens where invalidated_at is not null") == "0")
    try await next.stop()
    await scene.simulator.stop()
  }

  private func ask(
    _ service: RunningService, _ method: String, _ path: String, _ body: String? = nil
  ) async throws -> HTTPAnswer {
    var request = URLRequest(url: try #require(URL(string: service.origin + path)))
    request.httpMethod = method
    request.httpBody = body.map { Data($0.utf8) }
    if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
    request.setValue("Bearer \(Self.serviceKey)", forHTTPHeaderField: "Authorization")
    return try await HTTPAnswer(of: request)
  }
}
