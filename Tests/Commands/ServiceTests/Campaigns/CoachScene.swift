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
          "composer": {"on_failure": "template"},
          "texts": [{"title": "Your {theme}", "body": "What was good today?"}]}')
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

/// Somebody whom a coach may know, and what there is to say to them.
struct CoachUser: Sendable {
  /// The first four may be pushed, each for another layer's reason, the last of them for none; nobody else may.
  enum Situation: String, CaseIterable {
    case event, pattern, away, quiet
    case unwilling, unasked, deviceless, inSession, pushedLately

    var isEligible: Bool { [.event, .pattern, .away, .quiet].contains(self) }
  }

  let id = UUID().uuidString.lowercased()
  let situation: Situation
  let devices = [Conversation.newToken()]
  /// What stands in the prompt about the user, and in no other's.
  let context: String
  /// The newest of what the user wrote.
  let words: String

  /// - Parameter words: nil for those that go with the situation.
  init(_ situation: Situation, context: String? = nil, words: String? = nil) {
    self.situation = situation
    self.context = context ?? "Works as engineer \(id.prefix(8))."
    self.words = words ?? Self.words(situation)
  }

  private static func words(_ situation: Situation) -> String {
    switch situation {
    case .event: "My presentation is the day after tomorrow."
    case .pattern, .quiet: "Just a normal day."
    default: "My garden."
    }
  }

  /// Days since the user wrote.
  private var daysAgo: Double {
    switch situation {
    case .event: 1
    case .quiet: 1.5
    case .pattern: 2.5
    case .inSession: 0
    default: 4
    }
  }

  private var wishes: String {
    switch situation {
    case .unasked: "{}"
    case .unwilling: #"{"check_ins_enabled": false, "frequency": "daily"}"#
    case .pushedLately: #"{"check_ins_enabled": true, "frequency": "weekly"}"#
    default: #"{"check_ins_enabled": true, "frequency": "daily"}"#
    }
  }

  /// SQL that makes the user.
  func creation(in zone: String) -> String {
    let conversation = UUID().uuidString
    var sql = """
      insert into profiles (id, name) values ('\(id)', 'Ada');
      insert into context_profiles (user_id, time_zone, context_summary, notification_preferences)
      values ('\(id)', '\(zone)', '\(context.quoted)', '\(wishes)');
      insert into conversations (id, owner_id, domain, created_at)
      values ('\(conversation)', '\(id)', 'work', now() - interval '\(daysAgo) days');
      insert into messages (conversation_id, from_id, text, created_at)
      values ('\(conversation)', '\(id)', '\(words.quoted)', now() - interval '\(daysAgo) days');
      insert into push_tokens (user_id, device_token, invalidated_at)
      values ('\(id)', '\(devices[0])', \(situation == .deviceless ? "now()" : "null"));
      """
    if situation == .pattern {
      sql += """
        insert into pattern_cache (user_id, theme, occurrences, domains, confidence, synthesis)
        values ('\(id)', 'fear of speaking', 4, '{work}', 0.9, 'Speaking up comes back again and again.');
        """
    }
    if situation == .pushedLately {
      sql += """
        insert into tacet.push_log (user_id, push_type, decision, enqueued_at, sent_at)
        values ('\(id)', 're_engagement', 'sent', now() - interval '3 days', now() - interval '3 days');
        """
    }
    return sql
  }
}

extension String {
  /// Inside quotation marks of SQL.
  fileprivate var quoted: String { replacingOccurrences(of: "'", with: "''") }
}
