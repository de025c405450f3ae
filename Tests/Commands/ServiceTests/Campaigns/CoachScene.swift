import Foundation
import FoundationNetworking
import Reactors
import Simulators
import TestLogs
import TestPostgres
import TestProcesses
import TestRepository
import Testing

/// A service scene with the coach's tables and a simulated language model, in which campaigns run when they are asked to.
final class CoachScene: Sendable {
  static let serviceKey = "service-key-of-the-campaign-tests"
  static let modelKey = "model-key-of-the-campaign-tests"

  let scene: ServiceScene
  let model: LanguageModelSimulator
  let zone = ZoneNearNoon.name
  private let group: ReactorGroup

  init(_ script: ModelScript = ModelScript(), settings: [String: String] = [:]) async throws {
    group = try ReactorGroup(count: 1, name: "model")
    var configuration = LanguageModelSimulatorConfiguration()
    configuration.script = script
    configuration.key = Self.modelKey
    configuration.recordsMax = 10_000
    configuration.logger = RunLogs.logger
    model = try await LanguageModelSimulator.start(configuration, on: group.reactors[0])
    let campaigns = [
      "PUSH_TRIGGER_ENABLED": "true", "LANGUAGE_MODEL_URL": model.origin, "LANGUAGE_MODEL_KEY": Self.modelKey,
      "LANGUAGE_MODEL_DAILY_TOKENS_MAX": "1000000000", "LANGUAGE_MODEL_DAILY_DOLLARS_MAX": "10000",
      "SERVICE_KEY": Self.serviceKey,
    ]
    scene = try await ServiceScene(extra: campaigns.merging(settings) { $1 })
    let example = Repository.file("db/examples/coach.sql")
    try await scene.sql("\\i '\(example.path)'")
    try await scene.sql("update tacet.campaigns set is_scheduled = false")
  }

  /// A scene with its service running, and everything stopped afterwards.
  static func play(
    _ script: ModelScript = ModelScript(), settings: [String: String] = [:],
    _ body: (CoachScene, RunningService) async throws -> Void
  ) async throws {
    let coach = try await CoachScene(script, settings: settings)
    let service = try await coach.scene.startService()
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(try await body(coach, service))
    } catch {
      outcome = .failure(error)
    }
    coach.model.model.release()
    try await service.stop()
    await coach.stop()
    try outcome.get()
  }

  /// Ends both simulators.
  func stop() async {
    await scene.simulator.stop()
    await model.stop()
    await group.stop()
  }

  /// Writes users as a host does, some at a time: a command line has its limits.
  func add(_ users: [CoachUser]) async throws {
    var rest = users[...]
    while !rest.isEmpty {
      for user in rest.prefix(20) { user.devices.forEach { scene.registerSlowly($0) } }
      try await scene.sql(
        "set session_replication_role = replica;" + rest.prefix(20).map { $0.creation(in: zone) }.joined())
      rest = rest.dropFirst(20)
    }
  }

  /// Adds a campaign that always has something to say, to the same people and under the same cap.
  func addEvening() async throws {
    try await scene.sql(
      """
      insert into tacet.campaigns (name, audience, material, push_types, cap_group, is_scheduled, definition)
      values ('evening', 'tacet.check_in_audience', 'tacet.check_in_material', '{occasion}', 'check_in', false,
        '{"layers": ["occasion"], "occasion": "evening reflection",
          "composer": {"kind": "model", "on_failure": "template"},
          "templates": {"occasion": [{"title": "Your {theme}", "body": "What was good today?"}]}}')
      """)
  }

  /// What `tacet explain` prints of a campaign and a user.
  func explain(_ user: CoachUser, campaign: String = "coach", more: [String] = []) async throws -> String {
    let run = try ServiceProcess(
      ["explain", "--campaign", campaign, "--user", user.id] + more, settings: scene.databaseSettings)
    try #require(try await run.exitCode() == 0, "\(run.text)")
    return run.text.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.hasPrefix("pid ") && !$0.hasPrefix("exit ") }.joined(separator: "\n")
  }
}

extension HTTPAnswer {
  /// Asks a service as another server does.
  static func ask(
    _ method: String = "GET", _ path: String, at origin: String, prefer: String? = nil
  ) async throws -> HTTPAnswer {
    var request = URLRequest(url: try #require(URL(string: origin + path)))
    request.httpMethod = method
    request.setValue("Bearer \(CoachScene.serviceKey)", forHTTPHeaderField: "Authorization")
    if let prefer { request.setValue(prefer, forHTTPHeaderField: "Prefer") }
    return try await HTTPAnswer(of: request)
  }
}
