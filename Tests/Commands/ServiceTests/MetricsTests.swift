import Cryptography
import Foundation
import FoundationNetworking
import Simulators
import TestPostgres
import TestProcesses
import TestRepository
import Testing
import Yams

@Suite("/metrics of a running service", .serialized)
struct MetricsTests {
  /// What Prometheus adds to every series.
  private static let target: Set<String> = ["job", "instance"]

  /// The answer to a webhook with a wrong secret.
  private static let refusal = ["method": "POST", "route": "/v1/webhooks/messages", "status": "401"]

  /// A service to which one of everything has happened that makes a series.
  private static func busy(_ body: (ServiceScene, RunningService, MetricsScrape) async throws -> Void) async throws {
    let extra = [
      "PUSH_TRIGGER_ENABLED": "true", "SERVICE_KEY": serviceKey, "VAPID_PRIVATE_KEY": P256PrivateKey().pem,
      "VAPID_SUBJECT": "mailto:ops@example.com", "WEB_PUSH_URL": "https://chat.example.com/",
      "WEB_PUSH_HOSTS": "127.0.0.1:9", "EVENTS_URL": "http://127.0.0.1:9/",
      "EVENTS_SECRET": "a-secret-of-the-events-of-this-test",
    ]
    try await ServiceScene.play(extra: extra) { scene, service in
      let conversation = try await Conversation(scene, [.away(), .viewing(), .away()])
      try await decideLate(scene, service)
      scene.register(conversation.tokens[2][0], end: .unregistered(atMilliseconds: 1_700_000_000_000))
      try await scene.sql(
        """
        insert into tacet.deliveries (subject_id, user_id, kind, due_at, enqueued_at, state, lane)
        values (gen_random_uuid(), gen_random_uuid(), 'message', now() + interval '1 day', now(), 'waiting', 'x/production')
        """)
      try await scene.sql(Self.analysis)
      // Nobody listens there. It is not tried again, because each attempt counts as one more outcome of its user.
      let browser = P256PrivateKey().publicKey.x963
      try await scene.sql(
        """
        create function put_off() returns trigger language plpgsql as
          $$ begin new.due_at := now() + interval '1 day'; return new; end $$;
        create trigger put_off before insert or update on tacet.deliveries
          for each row when (new.user_id = '\(conversation.people[0])') execute function put_off();
        insert into tacet.targets (channel, address, user_id, keys) values ('web_push', 'https://127.0.0.1:9/a',
          '\(conversation.people[0])', '{"p256dh": "\(Base64URL.encode(browser))", "auth": "BTBZMqHH6r4Tts7J_aSIgg"}')
        """)
      let message = try await conversation.say("a text that no label has")
      _ = try await scene.ledger(of: message, held: 1, others: 2)
      _ = try await service.webhook("{}", secret: "wrong")
      // Outcomes are counted once they are recorded, answers of HTTP after they are sent, and the queues are read at the
      // scrape or shortly before.
      let scrape = try await service.scrape { scrape in
        scrape.sum("tacet_outcomes_total") == 3 && scrape.sum("tacet_http_responses_total", Self.refusal) == 1
          && scrape.sum("tacet_deliveries", ["state": "held"]) == 1 && scrape.sum("tacet_inbox_events") == 0
          && scrape.sum("tacet_database_listening") == 1 && scrape.sum("tacet_campaign_occasions_total") == 2
          && scrape.sum("tacet_engagement_users") == 2
      }
      try await body(scene, service, scrape)
    }
  }

  /// An analysis of two users, one of whom is active, newer than any that the service stores.
  private static let analysis = """
    insert into tacet.engagement_analyses (
      analysed_at, period_start, period_end, total_users, active_users, recent_users, lapsed_users, churn_risk_users, sessions,
      session_seconds)
    select t, t - interval '7 days', t, 2, 1, 0, 0, 1, 3, 60 from (select now() + interval '1 hour') n (t)
    """

  @Test("METRICS_ADDRESS serves the figures, and nothing else does or is there")
  func elsewhere() async throws {
    try await ServiceScene.play(extra: ["METRICS_ADDRESS": "127.0.0.1:0"]) { _, service in
      let line = try await service.process.line(containing: "serving figures")
      let address = try #require(line.split(separator: " ").first { $0.hasPrefix("address=") }).dropFirst(8)
      let figures = RunningService(process: service.process, origin: "http://\(address)")
      #expect(try await figures.scrape { $0.sum("tacet_database_up") == 1 }.sum("tacet_database_up") == 1)
      #expect(try await service.get("/metrics").status == 404)
      for path in ["/readyz", "/dashboard", "/openapi.yaml"] { #expect(try await figures.get(path).status == 404) }
    }
  }

  private static let serviceKey = "service-key-of-the-metrics"

  /// A campaign has a user whose hour was yesterday, and an empty audience otherwise. A run by request looks at once.
  private static func decideLate(_ scene: ServiceScene, _ service: RunningService) async throws {
    try await scene.sql(
      """
      create or replace function tacet.check_in_audience(moment timestamptz, only_user uuid)
      returns table (user_id uuid, time_zone text, gap_days int, refusal text)
      language sql stable
      as 'select null::uuid, null::text, 1, null where false';
      create or replace function tacet.sessions_between(user_id uuid, first_moment timestamptz, end_moment timestamptz)
      returns table (session_id uuid)
      language sql stable
      as 'select null::uuid where false';
      insert into tacet.occasions (fire_at, available_at, fire_date, user_id, run_id, campaign, time_zone)
      values (now() - interval '1 day', now(), current_date - 1, gen_random_uuid(), gen_random_uuid(), 'coach', 'UTC');
      create or replace function tacet.ritual_audience(moment timestamptz, only_user uuid)
      returns table (user_id uuid, time_zone text, gap_days int)
      language sql stable
      as 'select null::uuid, null::text, 1 where false';
      update tacet.campaigns set is_active = true where name = 'ritual';
      insert into tacet.occasions (fire_at, available_at, fire_date, user_id, campaign, slot, time_zone)
      values (now() - interval '1 day', now(), current_date - 1, gen_random_uuid(), 'ritual', '0800', 'UTC');
      """)
    var request = URLRequest(url: try #require(URL(string: service.origin + "/v1/push-trigger")))
    request.httpMethod = "POST"
    request.setValue("Bearer \(serviceKey)", forHTTPHeaderField: "Authorization")
    #expect(try await HTTPAnswer(of: request).status == 200)
  }

  @Test("what has happened is counted")
  func counted() async throws {
    try await Self.busy { _, service, scrape in
      for (decision, reason) in [("sent", "none"), ("held", "user_viewing"), ("failed", "Unregistered")] {
        let labels = ["kind": "message", "decision": decision, "reason": reason]
        #expect(scrape.sum("tacet_outcomes_total", labels) == 1, "\(decision)")
      }
      for (stage, count) in [("claimed", 3), ("decided", 3), ("accepted", 1)] as [(String, Double)] {
        #expect(scrape.sum("tacet_push_latency_seconds_count", ["stage": stage]) == count)
      }
      #expect(scrape.sum("tacet_apns_answers_total", ["status": "200", "reason": "none"]) == 1)
      #expect(scrape.sum("tacet_apns_answers_total", ["status": "410", "reason": "Unregistered"]) == 1)
      let late = ["campaign": "coach", "status": "skipped", "reason": "too_late"]
      #expect(scrape.sum("tacet_campaign_occasions_total", late) == 1)
      let row = ["campaign": "ritual", "status": "cancelled", "reason": "switched_off"]
      #expect(scrape.sum("tacet_campaign_occasions_total", row) == 1)
      #expect(scrape.sum("tacet_http_responses_total", Self.refusal) == 1)
      #expect(scrape.sum("tacet_database_up") == 1)
      #expect(scrape.sum("tacet_database_listening") == 1)
      #expect(scrape.sum("tacet_apns_connections", ["environment": "production"]) ?? 0 >= 1)
      #expect(scrape.sum("tacet_deliveries", ["state": "held"]) == 1)
      #expect(scrape.sum("tacet_deliveries_waiting", ["lane": "x/production"]) == 1)
      #expect(scrape.sum("tacet_inbox_events") == 0)
      #expect(scrape.sum("tacet_engagement_users", ["class": "churn_risk"]) == 1)
      #expect(scrape.sum("tacet_engagement_rate") == 0.5)
    }
  }

  @Test("what a configured route has accepted is shown before its first push")
  func fromTheStart() async throws {
    try await ServiceScene.play { _, service in
      let scrape = MetricsScrape(try await service.get("/metrics").text)
      #expect(scrape.sum("tacet_apns_answers_total", ["environment": "production", "status": "200"]) == 0)
      #expect(scrape.sum("tacet_apns_route_needed", ["environment": "production"]) ?? 0 >= 1)
    }
  }

  @Test("every family has a help and a type, once; no label holds an id, a token or a text")
  func tidy() async throws {
    try await Self.busy { _, _, scrape in
      let heads = scrape.text.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
      #expect(heads.count == Set(heads).count && heads.count == scrape.types.count)
      #expect(scrape.types.keys.filter { scrape.helps[$0, default: ""].isEmpty } == [])
      let values = scrape.samples.flatMap(\.labels.values)
      #expect(values.filter { $0.contains(/[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{16}|no label has/) } == [])
      #expect(values.allSatisfy { $0.utf8.count <= 64 })
    }
  }

  @Test("every name and label of the dashboard and the alerts is there, and every family is used by one of them")
  func monitoring() async throws {
    try await Self.busy { _, service, scrape in
      let rules = try MonitoringFiles.rules()
      // What one of everything counts comes at different times.
      let records = Set(rules.compactMap(\.record))
      let wanted = (rules.map(\.expr) + (try MonitoringFiles.dashboardQueries()))
        .reduce(into: Set<String>()) { $0.formUnion(QueryNames($1).selected.keys) }.subtracting(records)
      let scrape = try await service.scrape { wanted.isSubset(of: $0.labels.keys) }
      var known = scrape.labels.mapValues { $0.union(Self.target) }
      for rule in rules { if let name = rule.record { known[name] = QueryNames(rule.expr).grouped.union(Self.target) } }
      var used: Set<String> = []
      for query in rules.map(\.expr) + (try MonitoringFiles.dashboardQueries()) {
        let names = QueryNames(query)
        for (name, labels) in names.selected {
          #expect(known[name] != nil, "\(name) in \(query)")
          #expect(labels.subtracting(known[name] ?? []) == [], "labels of \(name) in \(query)")
        }
        let all = names.selected.keys.reduce(into: Set<String>()) { $0.formUnion(known[$1] ?? []) }
        #expect(names.grouped.subtracting(all) == [], "labels of \(query)")
        used.formUnion(names.selected.keys)
      }
      let unused = scrape.types.keys.filter { family in !used.contains { $0.hasPrefix(family) } }
      #expect(unused == [])
    }
  }

  @Test("while the database is away that is said, and what waits there is not")
  func away() async throws {
    let postgres = try await TestPostgres.launch()
    try await ServiceScene.play(postgres: postgres) { _, service in
      let before = try await service.scrape { $0.sum("tacet_database_up") == 1 && $0.sum("tacet_inbox_events") == 0 }
      #expect(before.sum("tacet_inbox_events") == 0)
      try await postgres.stop()
      let scrape = try await service.scrape {
        $0.sum("tacet_database_up") == 0 && $0.sum("tacet_inbox_events") == nil
      }
      #expect(scrape.sum("tacet_database_up") == 0)
      #expect(scrape.sum("tacet_inbox_events") == nil && scrape.sum("tacet_parked_work") == nil)
      #expect(scrape.sum("tacet_http_connections_open") != nil)
      try await postgres.start()
      let again = try await service.scrape { $0.sum("tacet_database_up") == 1 }
      #expect(again.sum("tacet_database_up") == 1)
    }
  }

  @Test("promtool finds nothing wrong with the text", .enabled(if: Promtool.isInstalled))
  func lint() async throws {
    try await Self.busy { _, _, scrape in
      let complaints = try await Promtool.run(["check", "metrics"], input: scrape.text)
      #expect(complaints.isEmpty)
    }
  }
}

/// The text of `/metrics`, as a scraper reads it.
struct MetricsScrape {
  /// A line: the sample's name, its labels, its value.
  struct Sample {
    let name: String
    let labels: [String: String]
    let value: Double
  }

  let text: String
  let samples: [Sample]
  /// By family.
  let types: [String: String]
  let helps: [String: String]

  init(_ text: String) {
    self.text = text
    let lines = text.split(separator: "\n")
    samples = lines.filter { !$0.hasPrefix("#") }.compactMap { Self.sample(String($0)) }
    types = Self.comments("# TYPE ", in: lines)
    helps = Self.comments("# HELP ", in: lines)
  }

  /// The names that a query may use, each with the labels that some series of it has.
  var labels: [String: Set<String>] {
    samples.reduce(into: [:]) { $0[$1.name, default: []].formUnion($1.labels.keys) }
  }

  /// The sum of the series that have these labels.
  func sum(_ name: String, _ labels: [String: String] = [:]) -> Double? {
    let found = samples.filter { sample in
      sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value }
    }
    return found.isEmpty ? nil : found.reduce(0) { $0 + $1.value }
  }

  private static func sample(_ line: String) -> Sample? {
    guard let match = line.wholeMatch(of: /([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/) else { return nil }
    let pairs = (match.2 ?? "").matches(of: /(\w+)="((?:[^"\\]|\\.)*)"/).map { (String($0.1), String($0.2)) }
    let number = String(match.3) == "+Inf" ? Double.infinity : Double(match.3)
    return number.map { Sample(name: String(match.1), labels: Dictionary(pairs) { $1 }, value: $0) }
  }

  private static func comments(_ prefix: String, in lines: [Substring]) -> [String: String] {
    let pairs = lines.filter { $0.hasPrefix(prefix) }.map { line in
      let words = line.dropFirst(prefix.count).split(separator: " ", maxSplits: 1)
      return (String(words[0]), words.count > 1 ? String(words[1]) : "")
    }
    return Dictionary(pairs) { first, _ in first }
  }
}

extension RunningService {
  /// `/metrics`, once it shows all that a test waits for; the last one when that takes too long. Nothing announces a
  /// figure, so it is asked for again after a while.
  func scrape(until isThere: (MetricsScrape) -> Bool) async throws -> MetricsScrape {
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      let scrape = MetricsScrape(try await get("/metrics").text)
      if isThere(scrape) || ContinuousClock.now > deadline { return scrape }
      try await Task.sleep(for: .milliseconds(100))
    }
  }
}

@Suite("Alerts")
struct AlertTests {
  @Test("each has a severity, a summary, and what to do")
  func complete() throws {
    let alerts = try MonitoringFiles.rules().filter { $0.alert != nil }
    #expect(alerts.count >= 10)
    for alert in alerts {
      #expect(["critical", "warning"].contains(alert.labels?["severity"]), "\(alert.alert ?? "")")
      #expect(alert.annotations?["summary"]?.isEmpty == false && alert.annotations?["runbook"]?.isEmpty == false)
    }
  }

  @Test("each waits for a while, but for those whose query looks back by itself")
  func patient() throws {
    let hasty = try MonitoringFiles.rules().filter { $0.alert != nil && $0.for == nil }
    #expect(hasty.compactMap(\.alert) == ["TacetRestarting"])
  }

  @Test("each has a case in the tests of rules")
  func tested() throws {
    let cases = try MonitoringFiles.text("prometheus-alerts-test.yml")
    for name in try MonitoringFiles.rules().compactMap(\.alert) {
      #expect(cases.contains("alertname: \(name)\n"), "\(name)")
    }
  }

  @Test(
    "promtool takes the rules, and they fire when they should and not before", .enabled(if: Promtool.isInstalled),
    arguments: [["check", "rules", "prometheus-alerts.yml"], ["test", "rules", "prometheus-alerts-test.yml"]])
  func promtool(_ arguments: [String]) async throws {
    // It throws when something is wrong, with what the program said.
    _ = try await Promtool.run(arguments)
  }
}

/// The dashboard and the alerts of `deploy/`, and the names that their queries use.
enum MonitoringFiles {
  /// An alert or a recording rule.
  struct Rule: Decodable {
    let alert: String?
    let record: String?
    let expr: String
    let `for`: String?
    let labels: [String: String]?
    let annotations: [String: String]?
  }

  private struct RuleFile: Decodable {
    struct Group: Decodable {
      let rules: [Rule]
    }

    let groups: [Group]
  }

  static let folder = Repository.file("deploy")

  static func text(_ name: String) throws -> String {
    try String(contentsOf: folder.appending(path: name), encoding: .utf8)
  }

  static func rules() throws -> [Rule] {
    try YAMLDecoder().decode(RuleFile.self, from: text("prometheus-alerts.yml")).groups.flatMap(\.rules)
  }

  /// Every query of the dashboard.
  static func dashboardQueries() throws -> [String] {
    queries(in: try JSONSerialization.jsonObject(with: Data(text("grafana-dashboard.json").utf8)))
  }

  private static func queries(in value: Any) -> [String] {
    if let list = value as? [Any] { return list.flatMap(queries) }
    guard let object = value as? [String: Any] else { return [] }
    return object.flatMap { name, value in
      if name == "expr", let query = value as? String { return [query] }
      return queries(in: value)
    }
  }
}

/// What a query asks for, as far as names go: PromQL is not understood further.
struct QueryNames {
  /// Each name that is used, with the labels that its selectors match.
  private(set) var selected: [String: Set<String>] = [:]
  /// Labels that it groups or joins by.
  let grouped: Set<String>

  init(_ query: String) {
    for match in query.matches(of: /\b((?:tacet[_:]|process_)[\w:]+)(?:\{([^}]*)\})?/) {
      let matchers = (match.2 ?? "").matches(of: /(\w+)\s*(?:=~|!~|!=|=)\s*"/).map { String($0.1) }
      selected[String(match.1), default: []].formUnion(matchers)
    }
    let lists = query.matches(of: /\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/)
    grouped = Set(
      lists.flatMap { $0.1.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }.filter {
        !$0.isEmpty
      })
  }
}

/// Prometheus' own checks, where they are installed.
enum Promtool {
  static let isInstalled = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .contains { FileManager.default.isExecutableFile(atPath: "\($0)/promtool") }

  /// Runs it in `deploy/`; what it printed.
  static func run(_ arguments: [String], input: String = "") async throws -> String {
    let file = FileManager.default.temporaryDirectory.appending(path: "promtool-\(UUID().uuidString)")
    try input.write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    let shell = ["/bin/sh", "-c", #"cd "$1" && input=$2 && shift 2 && exec promtool "$@" <"$input""#, "promtool"]
    let command = shell + [MonitoringFiles.folder.path, file.path] + arguments
    return try await onOwnThread { try TestProcesses.run(command) }
  }
}
