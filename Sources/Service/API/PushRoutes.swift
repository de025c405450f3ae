package import Campaigns
internal import Cryptography
package import HTTP1
internal import HTTPTypes
package import Logging
package import Operations
internal import Postgres
package import PushPipeline
package import PushRules
package import PushStore
package import Reactors

/// Makes the text of `/metrics`, on the reactor that is asked.
package typealias MetricsText = @Sendable (isolated Reactor) async -> String

/// The operations of `openapi.yaml`.
package enum PushRoutes {
  /// Puts the routes together.
  /// - Parameters:
  ///   - callers: who may call the operations of apps and of other servers.
  ///   - devicesPerUserMax: devices that a user keeps, of each channel.
  ///   - offers: what browsers and Android apps register with.
  ///   - metrics: the text of `/metrics`; nil when it is served elsewhere.
  package static func make(
    services: PerReactor<PushServices>, authentication: WebhookAuthentication, callers: CallerAuthentication,
    webhookWait: Duration, devicesPerUserMax: Int, offers: TargetOffers = TargetOffers(),
    metrics: MetricsText?, logger: Logger
  ) -> HTTPRoutes {
    var group = RouteGroup(callers: callers, workers: authentication.workerTokens, logger: logger)
    let webhook = EventWebhook(
      authentication: authentication, failures: FailureGate(for: "webhook secret or signature", logger: logger),
      services: services, standardWait: webhookWait, logger: logger)
    group.add { routes in
      routes.add(
        .post, "/v1/webhooks/messages", mediaTypes: ["application/json"],
        admission: { request, _ in try webhook.admit(request) { try await webhook.handleMessage($0, on: $1) } })
      routes.add(
        .post, "/v1/webhooks/{kind}", mediaTypes: ["application/json"],
        admission: { request, _ in try webhook.admit(request) { try await webhook.handleEvent($0, on: $1) } })
      addOperation(to: &routes, services)
      ClientFileRoutes.add(to: &routes)
      if let metrics { addMetrics(to: &routes, metrics) }
    }
    DeviceRoutes.add(to: &group, services, devicesMax: devicesPerUserMax)
    TargetRoutes.add(to: &group, services, offers, targetsMax: devicesPerUserMax)
    if let offer = offers.webPush { WorkerRoutes.add(to: &group, services, offer) }
    PresenceRoutes.add(to: &group, services)
    ActivityRoutes.add(to: &group, services)
    ReadRoutes.add(to: &group, services)
    PreferenceRoutes.add(to: &group, services)
    PushSubmissionRoute.add(to: &group, services, wait: webhookWait)
    PushTriggerRoute.add(to: &group, services, wait: webhookWait)
    ExplainRoute.add(to: &group, services)
    ScheduleRoute.add(to: &group, services)
    SlotRoutes.add(to: &group, services)
    ReportRoutes.add(to: &group, services)
    ConfigRoute.add(to: &group, services)
    LiveActivityRoutes.add(to: &group, services)
    LiveActivityAppRoutes.add(to: &group, services)
    return group.routes
  }

  /// The operations for the operator.
  private static func addOperation(
    to routes: inout HTTPRoutes, _ services: PerReactor<PushServices>
  ) {
    let health = HealthRoutes(services: services)
    let openapi = Array(EmbeddedFiles.openapi_yaml.utf8)
    routes.add(
      .get, "/healthz", bodyBytesMax: RouteGroup.bodyBytesMax, isHealthCheck: true,
      immediate: { health.health($0, on: $1) })
    routes.add(
      .get, "/readyz", bodyBytesMax: RouteGroup.bodyBytesMax, isHealthCheck: true,
      immediate: { health.readiness($0, on: $1) })
    routes.add(
      .get, "/openapi.yaml", bodyBytesMax: RouteGroup.bodyBytesMax,
      immediate: { _, _ in
        HTTPServerResponse(
          status: .ok, fields: [.contentType: "application/yaml"], body: openapi)
      })
  }

  package static func addMetrics(to routes: inout HTTPRoutes, _ metrics: @escaping MetricsText) {
    routes.add(.get, "/metrics", bodyBytesMax: RouteGroup.bodyBytesMax) { _, reactor in
      await plain(metrics(reactor), "text/plain; version=0.0.4; charset=utf-8")
    }
  }

  private static func plain(_ text: String, _ mediaType: String) -> HTTPServerResponse {
    HTTPServerResponse(status: .ok, fields: [.contentType: mediaType], body: Array(text.utf8))
  }
}

/// What the handlers of one reactor use.
package struct PushServices {
  /// The database, for what apps, webhooks and other servers ask: over sessions that the pipeline does not use, so neither
  /// waits for the other.
  package let callers: PushDatabase

  /// The same database for operators' queries, over a separate pool: claims do not wait behind them.
  package let operators: PushDatabase

  /// The same database for counts of all users, over a pool of one session: they may take longer than an operator's query, one at
  /// a time.
  package let counts: PushDatabase

  package var idTypes: IDTypes { callers.idTypes }

  /// The pipeline to wake, and whose records to wait for.
  package let pipeline: DeliveryPipeline

  package let presence: PresenceWriter

  package let activity: ActivityWriter

  /// Whether the user's other devices learn of reads.
  package let isReadSyncEnabled: Bool

  /// Makes the campaigns look at the users who are enrolled; nil where campaigns are switched off. Any reactor may call it.
  package let wakeCampaigns: (() -> Void)?

  /// Answers what apps ask of slots; nil where that is switched off.
  package let slots: SlotScheduler?

  /// Whether this reactor can do its work; asked by `/readyz`.
  package let readiness: () -> [ReadinessCheck]

  package init(
    callers: PushDatabase, operators: PushDatabase, counts: PushDatabase, pipeline: DeliveryPipeline,
    isReadSyncEnabled: Bool = true,
    wakeCampaigns: (() -> Void)? = nil, slots: SlotScheduler? = nil,
    logger: Logger,
    readiness: @escaping () -> [ReadinessCheck]
  ) {
    self.callers = callers
    self.operators = operators
    self.counts = counts
    self.pipeline = pipeline
    presence = PresenceWriter(store: callers)
    activity = ActivityWriter(store: callers, logger: logger)
    self.isReadSyncEnabled = isReadSyncEnabled
    self.wakeCampaigns = wakeCampaigns
    self.slots = slots
    self.readiness = readiness
  }
}

extension PushServices {
  var slotScheduler: SlotScheduler {
    get throws(ProblemDetails) {
      guard let slots else { throw ProblemDetails(.notFound, detail: "This operation is off.") }
      return slots
    }
  }

  /// Waits for an event's outcome.
  ///
  /// The pipeline of this reactor says when it has recorded the event. Another reactor may have claimed it: the ledger is also
  /// asked, after 2 ms, 4 ms and so on, at most every quarter of a second.
  func outcome(
    of subject: PushSubject, within limit: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> EventStatus {
    let deadline = Reactor.now &+ limit.clampedNanoseconds
    var step = Duration.milliseconds(2)
    while true {
      let now = Reactor.now
      guard now < deadline else { return .pending }
      let wait = min(step, .nanoseconds(Int64(deadline - now)))
      await pipeline.waitForRecord(of: subject, wait, on: reactor)
      let status = try await callers.status(of: subject, on: reactor)
      if status != .pending { return status }
      step = min(step * 2, .milliseconds(250))
    }
  }
}

extension PushServices {
  /// Recipients of one event in an answer, and the recorded claims after which no more are added. Pushes wait while a reactor
  /// puts them into words, and a recipient may have forty claims, so both are bounded. `tacet explain`, which is a separate
  /// process, tells more.
  private static let recipientsExplainedMax = 100
  private static let entriesExplainedMax = 400

  /// Why the pushes of every event with a subject were sent or not, up to the bounds of one answer.
  /// - Parameters:
  ///   - kind: of one event; nil for all with this subject.
  ///   - userID: one recipient; nil for all.
  /// - Throws: `PostgresError`.
  package func explanations(
    ofSubject id: HostID, kind: String? = nil, userID: HostID? = nil, on reactor: isolated Reactor
  ) async throws -> [EventExplanation] {
    try await operators.records(
      ofSubject: id, kind: kind, userID: userID, recipientsMax: Self.recipientsExplainedMax,
      entriesMax: Self.entriesExplainedMax, on: reactor
    ).map(EventExplanation.init)
  }
}

/// The JavaScript modules and the service worker that browsers load from the service.
package enum BrowserClientFiles {
  package struct File: Sendable {
    /// The last part of its address.
    package let name: String
    /// UTF-8.
    package let text: String

    /// The value of Content-Type. Browsers load no module of another type.
    package var mediaType: String {
      name.hasSuffix(".ts") ? "text/plain; charset=utf-8" : "text/javascript; charset=utf-8"
    }
  }

  package static let all = EmbeddedFiles.all.filter { $0.name.hasSuffix(".js") || $0.name.hasSuffix(".ts") }
    .map { File(name: $0.name, text: $0.text) }
}

/// `GET /clients/{file}`: the modules and the service worker that browsers load.
enum ClientFileRoutes {
  /// Browsers look at a worker's script again whatever this says, and at modules after five minutes.
  private static let lifetime = "max-age=300"

  static func add(to routes: inout HTTPRoutes) {
    let files = Dictionary(uniqueKeysWithValues: BrowserClientFiles.all.map { ($0.name, response(of: $0)) })
    routes.add(
      .get, "/clients/{file}", bodyBytesMax: RouteGroup.bodyBytesMax,
      immediate: { request, _ in
        guard let (tag, response) = files[request.parameter("file")] else {
          return ProblemDetails(.notFound, detail: "There is no such file.").response
        }
        guard request.head.fields[.ifNoneMatch] != tag else {
          return HTTPServerResponse(status: .notModified, fields: [.eTag: tag, .cacheControl: lifetime])
        }
        return response
      })
  }

  private static func response(of file: BrowserClientFiles.File) -> (tag: String, response: HTTPServerResponse) {
    let body = Array(file.text.utf8)
    let tag = "\"\(SHA256.hash(body).hexadecimal(bytes: 16))\""
    // A worker may serve the whole site, wherever its script is.
    let fields: HTTPFields = [
      .contentType: file.mediaType, .eTag: tag, .cacheControl: lifetime, .serviceWorkerAllowed: "/",
    ]
    return (tag, HTTPServerResponse(status: .ok, fields: fields, body: body))
  }
}

extension HTTPField.Name {
  fileprivate static let serviceWorkerAllowed = Self("Service-Worker-Allowed")!
}
