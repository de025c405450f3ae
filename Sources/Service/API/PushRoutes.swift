package import Campaigns
package import Channels
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
  ///   - registrations: of the channels that are set up.
  ///   - metrics: the text of `/metrics`; nil when it is served elsewhere.
  package static func make(
    services: PerReactor<PushServices>, authentication: WebhookAuthentication, callers: CallerAuthentication,
    webhookWait: Duration, devicesPerUserMax: Int, registrations: [TargetRegistration] = [],
    metrics: MetricsText?, logger: Logger
  ) -> HTTPRoutes {
    var group = RouteGroup(services: services, callers: callers, workers: authentication.workerTokens, logger: logger)
    let webhook = EventWebhook(
      authentication: authentication, failures: FailureGate(for: "webhook secret or signature", logger: logger),
      services: services, standardWait: webhookWait, logger: logger)
    group.add { routes in
      webhook.add(to: &routes)
      OperatorRoutes.add(to: &routes, services)
      ClientFileRoutes.add(to: &routes)
      if let metrics { addMetrics(to: &routes, metrics) }
    }
    DeviceRoutes.add(to: &group, devicesMax: devicesPerUserMax)
    TargetRoutes.add(to: &group, registrations, targetsMax: devicesPerUserMax)
    for registration in registrations {
      if let worker = registration.worker { WorkerRoutes.add(to: &group, of: registration.channel, worker) }
    }
    ActivityRoutes.add(to: &group)
    PreferenceRoutes.add(to: &group)
    PushSubmissionRoute.add(to: &group, wait: webhookWait)
    PushTriggerRoute.add(to: &group, wait: webhookWait)
    ExplainRoute.add(to: &group)
    SlotRoutes.add(to: &group)
    ReportRoutes.add(to: &group)
    LiveActivityRoutes.add(to: &group)
    return group.routes
  }

  package static func addMetrics(to routes: inout HTTPRoutes, _ metrics: @escaping MetricsText) {
    routes.add(.get, "/metrics", bodyBytesMax: RouteGroup.bodyBytesMax) { _, reactor in
      HTTPServerResponse(
        status: .ok, fields: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
        body: Array(await metrics(reactor).utf8))
    }
  }
}

/// What the handlers of one reactor use. Callers, operators and counts have the same database over separate pools.
package struct PushServices {
  /// For what apps, webhooks and other servers ask: over sessions that the pipeline does not use, so neither waits for the other.
  package let callers: PushDatabase
  /// For operators' queries: claims do not wait behind them.
  package let operators: PushDatabase
  /// For counts of all users, over a pool of one session: they may take longer than an operator's query, one at a time.
  package let counts: PushDatabase
  /// The pipeline to wake, and whose records to wait for.
  package let pipeline: PipelineHandle
  package let presence: PresenceWriter
  package let activity: ActivityWriter
  /// Whether the user's other devices learn of reads.
  let isReadSyncEnabled: Bool
  /// Makes the campaigns look at the users who are enrolled; nil where campaigns are switched off. Any reactor may call it.
  let wakeCampaigns: (() -> Void)?
  /// Answers what apps ask of slots; nil where that is switched off.
  package let slots: SlotScheduler?
  /// Whether the process can do its work; asked by `/readyz`.
  let readiness: () async -> [ReadinessCheck]
  private let logger: Logger

  var idTypes: IDTypes { callers.idTypes }

  package init(
    callers: PushDatabase, operators: PushDatabase, counts: PushDatabase, pipeline: PipelineHandle,
    isReadSyncEnabled: Bool = true, wakeCampaigns: (() -> Void)? = nil, slots: SlotScheduler? = nil, logger: Logger,
    readiness: @escaping () async -> [ReadinessCheck]
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
    self.logger = logger
  }

  var slotScheduler: SlotScheduler {
    get throws(ProblemDetails) {
      guard let slots else { throw ProblemDetails(.notFound, detail: "This operation is off.") }
      return slots
    }
  }

  /// Renders what is to come for a user of whom something has changed. A failure is logged: the change is stored, and the
  /// process that pushes slots renders again.
  func tellSlots(of user: HostID, on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      try await slots?.userChanged(user, on: reactor)
    } catch {
      logger.warning("a user's slots were not rendered anew", metadata: ["error": "\(error)"])
    }
  }

  /// Waits for an event's outcome.
  ///
  /// The process's pipeline says when it has recorded the event. Another process may have it: the ledger is also asked, after 2 ms, 4 ms and so on, at most every quarter of a second.
  func outcome(
    of subject: PushSubject, within limit: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> EventStatus {
    let deadline = Reactor.now &+ limit.clampedNanoseconds
    var step = Duration.milliseconds(2)
    while true {
      let now = Reactor.now
      guard now < deadline else { return .pending }
      let wait = min(step, .nanoseconds(Int64(deadline - now)))
      await pipeline.waitForRecord(of: subject, wait)
      let status = try await callers.status(of: subject, on: reactor)
      if status != .pending { return status }
      step = min(step * 2, .milliseconds(250))
    }
  }

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

/// `GET /clients/{file}`: the modules and the service worker that browsers load.
enum ClientFileRoutes {
  /// Browsers look at a worker's script again whatever this says, and at modules after five minutes.
  private static let lifetime = "max-age=300"

  static let files = EmbeddedFiles.all.filter { $0.name.hasSuffix(".js") || $0.name.hasSuffix(".ts") }

  static func add(to routes: inout HTTPRoutes) {
    let files = Dictionary(
      uniqueKeysWithValues: Self.files.map { ($0.name, response(of: $0.name, Array($0.text.utf8))) })
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

  private static func response(of name: String, _ body: [UInt8]) -> (tag: String, response: HTTPServerResponse) {
    let tag = "\"\(SHA256.hash(body).hexadecimal(bytes: 16))\""
    // Browsers load no module of another type. A worker may serve the whole site, wherever its script is.
    let fields: HTTPFields = [
      .contentType: "text/\(name.hasSuffix(".ts") ? "plain" : "javascript"); charset=utf-8", .eTag: tag,
      .cacheControl: lifetime, .serviceWorkerAllowed: "/",
    ]
    return (tag, HTTPServerResponse(status: .ok, fields: fields, body: body))
  }
}

extension HTTPField.Name {
  fileprivate static let serviceWorkerAllowed = Self("Service-Worker-Allowed")!
}
