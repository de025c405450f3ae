import Channels
import Foundation
import HTTP1
import Logging
import Operations
import Postgres
import PushPipeline
import PushRules
import PushStore
import Reactors
import TestIDs
import TestPostgres
import Testing

@testable import API

/// The pages in front of a database, with a pipeline that does nothing.
final class PageRig: Sendable {
  static let serviceKey = "service key of the tests"

  let server: TestPostgres
  let database: String
  let port: UInt16
  let group: ReactorGroup

  private init(server: TestPostgres, database: String, port: UInt16, group: ReactorGroup) {
    self.server = server
    self.database = database
    self.port = port
    self.group = group
  }

  /// What lives on the reactor.
  final class Parts {
    let pool: PostgresPool
    let services: PushServices

    init(_ conninfo: String, _ readiness: [ReadinessCheck], on reactor: isolated Reactor) throws {
      var configuration = PostgresConfiguration(conninfo: conninfo)
      configuration.chosenTypes = IDTypes.tested.postgresTypes
      configuration.settings = PushDatabase.sessionSettings
      pool = PostgresPool(configuration, size: 2, acquireLimit: .seconds(2), logger: quiet)
      pool.start(on: reactor)
      let store = PushDatabase(pool: pool)
      let app = try BundleIdentifier("com.example.app")
      let pipeline = DeliveryPipeline(
        store: store,
        deliverers: [
          APNSDeliverer(
            NoChannel(), places: APNSPlaces(defaultRoute: PushRoute(app: app, environment: .production)))
        ],
        configuration: PipelineConfiguration(policy: SuppressionPolicy()), logger: quiet)
      services = PushServices(
        callers: store, operators: store, counts: store, pipeline: pipeline, logger: quiet, readiness: { readiness })
    }
  }

  /// Runs a test's body against the pages.
  static func run(
    keys: [String] = [serviceKey], isTLS: Bool = false, routes: [RouteCondition] = [],
    explanations: [EventExplanation] = [], readiness: [ReadinessCheck] = [],
    _ body: @Sendable (PageRig) async throws -> Void
  ) async throws {
    let server = try await TestPostgres.shared
    let conninfo = try await server.makeMigratedDatabase()
    let group = try ReactorGroup(count: 1)
    let result: Result<Void, any Error>
    do {
      let parts = try await PerReactor(group.reactors) { _, reactor in try Parts(conninfo, readiness, on: reactor) }
      let services = try await PerReactor(group.reactors) { _, reactor in parts.value(on: reactor).services }
      var table = HTTPRoutes()
      DashboardRoutes.add(
        to: &table, services: services, serviceKeys: keys, isTLS: isTLS,
        routes: { routes },
        explanations: { subject, _, _ in
          explanations.filter { $0.subjectID == subject.text }
        }, logger: quiet)
      let address = try #require(SocketAddress(numericHost: "127.0.0.1", port: 0))
      let http = try await HTTPService.start(table, on: address, reactors: group.reactors, logger: quiet)
      let name = String(conninfo.split(separator: "dbname=").last ?? "")
      result = await Result {
        try await body(PageRig(server: server, database: name, port: http.address.port, group: group))
      }
      _ = await http.drain(within: .seconds(5))
      await parts.all[0].perform { await $0.pool.close(on: $1) }
    } catch {
      result = .failure(error)
    }
    await group.stop()
    try result.get()
  }

  /// Asks as a browser does that has this cookie.
  func get(_ path: String, cookie: String? = nil) async throws -> PageAnswer {
    try await PageAnswer.ask("GET", path, ["Cookie": cookie].compactMapValues { $0 }, "", port: port)
  }

  /// Sends a form; by default from a page of ours.
  func post(
    _ path: String, _ form: String, cookie: String? = nil, fields: [String: String]? = nil
  ) async throws -> PageAnswer {
    var fields = fields ?? ["Sec-Fetch-Site": "same-origin"]
    fields["Content-Type"] = "application/x-www-form-urlencoded"
    fields["Cookie"] = cookie
    return try await PageAnswer.ask("POST", path, fields, form, port: port)
  }

  /// Logs in; the cookie to show from then on.
  func logIn() async throws -> String {
    let answer = try await post("/dashboard/login", "key=service+key+of+the+tests")
    let cookie = try #require(answer.fields["set-cookie"])
    return String(cookie.prefix { $0 != ";" })
  }

  /// Runs SQL in the database; what it printed.
  @discardableResult
  func sql(_ text: String) async throws -> String {
    try await server.psql(text, database: database).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }

extension Result where Failure == any Error {
  fileprivate init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}

/// Nothing is sent in these tests.
private final class NoChannel: PushChannel {
  func send(
    _ request: PushRequest, over route: PushRoute, until deadline: UInt64, permit: PushPermit?,
    on reactor: isolated Reactor
  ) async -> PushAttempt {
    preconditionFailure("nothing is sent in these tests")
  }
}
