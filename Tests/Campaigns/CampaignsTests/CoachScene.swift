import Foundation
import Logging
import PushRules
import PushStore
import Reactors
import TestIDs
import TestPostgres
import TestRepository
import Testing

@testable import Campaigns

/// A host with a coach: a database of its own with the coach's tables, and users to be looked at.
struct CoachScene: Sendable {
  let server: TestPostgres
  let database: String
  let zone = ZoneNearNoon.name

  /// - Parameter more: examples that are applied after the coach's.
  init(with more: String...) async throws {
    server = try await TestPostgres.shared
    database = "coach_" + UUID().uuidString.lowercased().filter { $0 != "-" }
    try await server.psql("create database \(database)")
    for file in Self.files + more.map({ Repository.file("db/examples/\($0).sql") }) {
      try await server.psql("\\i '\(try IDTypes.tested(file).path)'", database: database)
    }
  }

  private static let files = [Repository.hostTables, Repository.install, Repository.file("db/examples/coach.sql")]

  @discardableResult
  func sql(_ text: String) async throws -> String {
    try await server.psql(IDTypes.tested(text), database: database).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// A user who wants check-ins every day and has a device.
  func addUser(frequency: String = "daily", zone: String? = nil) async throws -> HostID {
    let id = HostID.new()
    try await sql(
      """
      insert into profiles (id, name) values ('\(id)', 'Ada');
      insert into push_tokens (user_id, device_token) values ('\(id)', encode(sha256('\(id)'), 'hex'));
      insert into context_profiles (user_id, time_zone, context_summary, notification_preferences)
      values ('\(id)', '\(zone ?? self.zone)', 'Works as an engineer.',
        '{"check_ins_enabled": true, "frequency": "\(frequency)"}');
      """)
    return id
  }

  /// A conversation of so many days ago, with messages of its owner.
  func addConversation(of user: HostID, daysAgo: Double, domain: String = "work", _ texts: [String]) async throws {
    let id = HostID.new()
    try await sql(
      """
      set session_replication_role = replica;
      insert into conversations (id, owner_id, domain, created_at)
      values ('\(id)', '\(user)', '\(domain)', now() - interval '\(daysAgo) days');
      insert into messages (conversation_id, from_id, text, created_at)
      select '\(id)', '\(user)', t.text, now() - interval '\(daysAgo) days' + t.place * interval '1 minute'
      from unnest(array[\(texts.map { "'\($0.split(separator: "'").joined(separator: "''"))'" }.joined(separator: ", "))]::text[])
        with ordinality as t (text, place);
      """)
  }

  /// What was decided about a user: decision, reason and layer.
  func decision(of user: HostID, campaign: String = "coach") async throws -> String {
    try await sql(
      """
      select coalesce(d.decision, 'undecided') || ' ' || coalesce(d.reason, '-') || ' ' || coalesce(d.layer, '-')
      from tacet.campaign_decisions d
      where d.user_id = '\(user)' and d.campaign = '\(campaign)'
      """)
  }

  /// Runs a body with a store and a runner over it.
  func withRunner(
    _ writer: ScriptedWriter? = ScriptedWriter(), limits: ModelUsageLimits = .ample,
    pace: CampaignPace = CampaignPace(), sleep: DatabaseSleep? = nil,
    logger: Logger = Logger(label: "campaigns"),
    _ body: @escaping @Sendable (CampaignRunner, PushDatabase, isolated Reactor) async throws -> Void
  ) async throws {
    try await withDatabase(named: database, on: server, logger: logger) { store, reactor in
      let runner = CampaignRunner(
        store: store, writer: writer, limits: limits, pace: pace, sleep: sleep, logger: logger, queued: { _ in })
      try await body(runner, store, reactor)
    }
  }
}

extension ModelUsageLimits {
  static let ample = ModelUsageLimits(tokensMax: 1_000_000_000, costMicrodollarsMax: 1_000_000_000)
}

/// Writes what it was told to, and remembers what it was asked.
final class ScriptedWriter: CheckInWriter, @unchecked Sendable {
  // Unchecked: it is made by a test before its reactor uses it, and read when that has ended.
  private let reply: Result<String, WritingFailure>
  private(set) var prompts: [CheckInPrompt] = []
  private(set) var limits: [Duration?] = []
  var onCall: (@Sendable () async throws -> Void)?

  init(_ reply: Result<String, WritingFailure> = .success(#"{"title":"Thinking of you","body":"How is it going?"}"#)) {
    self.reply = reply
  }

  func usageMax(of prompt: CheckInPrompt) -> CampaignUsage {
    var usage = CampaignUsage()
    usage.inputTokens = 100
    usage.outputTokens = 20
    usage.costMicrodollars = 200
    return usage
  }

  func write(_ prompt: CheckInPrompt, within limit: Duration?, on reactor: isolated Reactor) async -> WrittenText {
    prompts.append(prompt)
    limits.append(limit)
    try? await onCall?()
    return WrittenText(reply, usage: usageMax(of: prompt))
  }
}
