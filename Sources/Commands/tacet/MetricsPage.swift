import HTTP1
import HTTPTypes
import Postgres
import PrometheusMetrics
import PushPipeline
import PushRules
import PushStore
import Reactors

/// What `/metrics` shows: what was counted, and what is read at each scrape.
struct MetricsPage: Sendable {
  let registry: PrometheusRegistry
  let parts: ServiceParts
  let meter: HTTPServiceMeter

  /// The page as text. Takes as long as its slowest part, the database, which has two seconds at the most.
  func text() async -> String {
    var figures: [ReactorFigures] = []
    for worker in parts.workers.all { figures.append(await worker.perform { $0.figures(on: $1) }) }
    figures[0].sessions += await parts.pipeline.perform { worker, _ in worker.load }
    if let campaigns = parts.campaigns {
      figures[figures.count - 1].sessions += await campaigns.perform { duty, _ in duty.load }
    }
    let pipeline = await parts.pipeline.perform { await $0.figures(on: $1) }
    let read = ReactorFigures.families(of: figures) + pipeline.families
    let others = HTTPServiceFigures.families(of: await meter.read()) + ProcessFigures.current().families
    return ExpositionText.make(registry.collect() + read + others + [Self.buildInformation])
  }

  private static var buildInformation: MetricFamily {
    MetricFamily(
      "tacet_build_info", "Always 1; the labels say what runs.", .gauge,
      [(["version": BuildInformation.version], .integer(1))])
  }
}

extension MetricFamily {
  /// A family with these series.
  init(_ name: String, _ help: String, _ kind: Kind, _ series: [(MetricLabels, Value)]) {
    self.init(name, help, kind)
    for (labels, value) in series { add(value, labels) }
  }

  static func counter(_ name: String, _ help: String, _ value: Int) -> MetricFamily {
    MetricFamily(name, help, .counter, .integer(Int64(value)))
  }

  static func gauge(_ name: String, _ help: String, _ value: Int) -> MetricFamily {
    MetricFamily(name, help, .gauge, .integer(Int64(value)))
  }

  /// 0 where there is no time.
  static func gauge(_ name: String, _ help: String, _ time: Duration?) -> MetricFamily {
    MetricFamily(name, help, .gauge, .number(time.map { $0 / .seconds(1) } ?? 0))
  }

  static func gauge(_ name: String, _ help: String, by label: String, _ values: [String: Int]) -> MetricFamily {
    MetricFamily(name, help, .gauge, values.map { (MetricLabels([(label, $0)]), .integer(Int64($1))) })
  }
}

/// The families that are counted where things happen, each with its help and bounds. What is read at a scrape is described
/// where it is read.
enum MetricsCatalogue {
  static let counted = [
    MetricDescription(
      "tacet_outcomes_total", "Recorded outcomes of recipients; a plain success has the reason none.", .counter,
      seriesMax: 256),
    MetricDescription(
      "tacet_push_latency_seconds",
      """
      From an event's commit until it was claimed, decided and first accepted by APNs, for each recipient of a new event.
      """,
      bounds: HistogramBounds.fine),
    MetricDescription(
      "tacet_messages_discarded_total",
      "Messages that were older than MESSAGE_TTL_SECONDS when they were inserted: nobody is told of them.", .counter),
    MetricDescription(
      "tacet_releases_queued_total",
      "Releases of holds that a host's transaction left to the service, because its snapshot was too old.", .counter),
    MetricDescription(
      "tacet_apns_answers_total",
      "Requests to APNs that have ended; without an answer the status is none and the reason says why.", .counter,
      seriesMax: 256),
    MetricDescription(
      "tacet_push_answers_total",
      "Attempts over channels beside APNs that have ended; without an answer the status is none and the reason says why.",
      .counter, seriesMax: 256),
    MetricDescription(
      "tacet_campaign_occasions_total",
      "Occasions of campaigns that were due, by what became of them; a queued push has the status sent and the reason none.",
      .counter, seriesMax: 768),
    MetricDescription(
      "tacet_campaign_enrolment_failures_total",
      "Hours of a campaign in a zone that could not be served, and audiences that could not be read, each try.",
      .counter,
      seriesMax: 64),
    MetricDescription(
      "tacet_slot_codes_total", "What happened to slots of campaigns, such as fetches of content, by code.", .counter,
      seriesMax: 512),
    MetricDescription(
      "tacet_host_events_total", "Attempts at events for the host, by what has become of the event.", .counter,
      seriesMax: 64),
    MetricDescription(
      "tacet_http_request_duration_seconds", "From a request's head to its answer.", bounds: HistogramBounds.usual),
  ]
}

extension HTTPServiceFigures {
  /// The figures of the HTTP service. Labels have few values: reasons, routes as patterns (none for requests that were for no
  /// route), and the statuses that were answered.
  static func families(of figures: HTTPServiceFigures) -> [MetricFamily] {
    [
      .counter("tacet_http_connections_accepted_total", "HTTP connections let in.", figures.accepted),
      .gauge("tacet_http_connections_open", "HTTP connections open.", figures.open),
      .counter("tacet_http_tls_handshake_failures_total", "TLS handshakes that failed.", figures.failedHandshakes),
      MetricFamily(
        "tacet_http_connections_turned_away_total", "HTTP connections not let in, by reason.", .counter,
        TurnAway.allCases.map { (["reason": $0.rawValue], .integer(Int64(figures.turnedAway[$0] ?? 0))) }),
      MetricFamily(
        "tacet_http_responses_total", "HTTP answers, refusals among them, by the route's pattern.", .counter,
        figures.answers.map { answer, count in
          let labels: MetricLabels = [
            "method": answer.operation?.method.rawValue ?? "none", "route": answer.operation?.pattern ?? "none",
            "status": "\(answer.status)",
          ]
          return (labels, .integer(Int64(count)))
        }),
    ]
  }
}

/// What one reactor has done so far, and what it does now.
struct ReactorFigures: Sendable {
  let reactor: String
  let ticks: Int
  let jobsFromOtherThreads: Int
  let wakeUps: Int
  var sessions: SessionLoad
}

/// What pools of sessions have done, and what they do now.
struct SessionLoad: Sendable {
  let counters: PostgresPool.Counters
  let usage: PostgresPool.Usage

  static func += (sum: inout SessionLoad, other: SessionLoad) {
    sum = SessionLoad(counters: sum.counters + other.counters, usage: sum.usage + other.usage)
  }
}

/// How the pushes of a route of another channel than APNs fare.
struct OtherRouteState: Sendable {
  let name: String
  /// Why pushes wait in the database, or would; nil when they go.
  let fault: String?
  /// Whether pushes wait for it.
  let isNeeded: Bool
}

/// The connections to one environment of APNs, over all clients.
struct APNSFigures: Sendable {
  var connections = 0
  var pushesInFlight = 0
  var pushesWaiting = 0
}

extension SessionLoad {
  init(of pool: PostgresPool) { self.init(counters: pool.counters, usage: pool.usage) }
}

extension ReactorFigures {
  static func families(of figures: [ReactorFigures]) -> [MetricFamily] {
    [
      counter("tacet_reactor_ticks_total", "Turns of the event loop.", figures, \.ticks),
      counter(
        "tacet_reactor_jobs_from_other_threads_total", "Jobs that came from another thread.", figures,
        \.jobsFromOtherThreads),
      counter("tacet_reactor_wake_ups_total", "Times another thread ended a sleep.", figures, \.wakeUps),
      counter("tacet_database_round_trips_total", "Statements answered.", figures, \.sessions.counters.roundTrips),
      counter("tacet_database_reconnects_total", "Sessions opened again.", figures, \.sessions.counters.reconnects),
      .gauge(
        "tacet_database_sessions", "Sessions with the database, by what they do.", by: "state",
        [
          "idle": figures.sum(\.sessions.usage.idle), "in_use": figures.sum(\.sessions.usage.inUse),
          "closed": figures.sum(\.sessions.usage.closed),
        ]),
      .gauge("tacet_database_waiting", "Callers that wait for a session.", figures.sum(\.sessions.usage.waiting)),
    ]
  }

  private static func counter(
    _ name: String, _ help: String, _ figures: [ReactorFigures], _ value: (ReactorFigures) -> Int
  ) -> MetricFamily {
    MetricFamily(name, help, .counter, figures.map { (["reactor": $0.reactor], .integer(Int64(value($0)))) })
  }
}

extension [ReactorFigures] {
  fileprivate func sum(_ value: (ReactorFigures) -> Int) -> Int { reduce(0) { $0 + value($1) } }
}

/// What is known once in a process: how its pipeline fares, what waits in the database, and whether it notifies.
struct PipelineFigures: Sendable {
  /// How long claims have not worked.
  let claimAge: Duration
  let apnsConnectionsOpened: Int
  let apns: [APNSEnvironment: APNSFigures]
  let routes: [RouteState]
  let others: [OtherRouteState]
  let database: DatabaseFigures
  /// Whether the process leaves the database alone; nil where it polls.
  let isDatabaseAsleep: Bool?
  let listening: ListenStatus.State
  /// How old the provider token of each key is, in the order in which the settings name the keys.
  let tokenAges: [Duration]

  var families: [MetricFamily] {
    var families = [
      MetricFamily(
        "tacet_claim_age_seconds",
        "Since claims last worked: up to about a second, more while the database refuses them.",
        .gauge, .number(claimAge / .seconds(1))),
      .counter("tacet_apns_connections_opened_total", "Connections to APNs.", apnsConnectionsOpened),
      apns("tacet_apns_connections", "Connections to APNs that are open and answer.", \.connections),
      apns("tacet_apns_streams", "Pushes on their way on a connection to APNs.", \.pushesInFlight),
      apns("tacet_apns_waiting", "Pushes that wait for a free stream.", \.pushesWaiting),
      route("tacet_apns_route_open", "1 when pushes go, 0 when they wait in the database.") { $0.fault == nil },
      route("tacet_apns_route_needed", "1 when the route is an app's own or pushes wait for it.", \.isNeeded),
      route("tacet_apns_route_connected", "1 when a connection is open.", \.isConnected),
      MetricFamily(
        "tacet_apns_breakers", "1 for what a route's pushes do: closed when they go, open, or probing.", .gauge,
        routes.flatMap { state in
          BreakerState.allCases.map {
            (MetricLabels(state.route.labels + [("state", $0.rawValue)]), .integer(state.breaker == $0 ? 1 : 0))
          }
        }),
      other("tacet_push_route_open", "1 when pushes over a channel beside APNs go, 0 when they wait.") {
        $0.fault == nil
      },
      other("tacet_push_route_needed", "1 when pushes wait for the route.", \.isNeeded),
      MetricFamily.gauge(
        "tacet_database_up", "1 when the database answers, 0 when it does not.", database.isUp ? 1 : 0),
      // Readers of figures need not learn the identifiers.
      MetricFamily(
        "tacet_apns_provider_token_age_seconds", "How old the provider token is.", .gauge,
        zip(1..., tokenAges).map { (["key": "\($0)"], .number($1 / .seconds(1))) }),
    ]
    if let isDatabaseAsleep {
      families.append(
        .gauge(
          "tacet_database_asleep", "1 while this process asks the database nothing, until something wakes it.",
          isDatabaseAsleep ? 1 : 0))
    }
    if listening != .unused {
      families.append(
        .gauge(
          "tacet_database_listening",
          "1 when notifications of the database arrive, 0 when polling alone finds work.",
          listening == .listening ? 1 : 0))
    }
    return families + (database.queue?.families ?? []) + (database.engagement?.families ?? [])
      + (database.hostEvents?.families ?? [])
  }

  private func apns(_ name: String, _ help: String, _ value: (APNSFigures) -> Int) -> MetricFamily {
    .gauge(
      name, help, by: "environment",
      Dictionary(
        uniqueKeysWithValues: APNSEnvironment.allCases.map { ($0.rawValue, apns[$0].map(value) ?? 0) }))
  }

  /// A line for each route: at most four for each configured app.
  private func route(_ name: String, _ help: String, _ isSo: (RouteState) -> Bool) -> MetricFamily {
    MetricFamily(
      name, help, .gauge, routes.map { (MetricLabels($0.route.labels), .integer(isSo($0) ? 1 : 0)) })
  }

  private func other(_ name: String, _ help: String, _ isSo: (OtherRouteState) -> Bool) -> MetricFamily {
    MetricFamily(name, help, .gauge, others.map { (["route": $0.name], .integer(isSo($0) ? 1 : 0)) })
  }
}

extension PushRoute {
  fileprivate var labels: [(String, String)] { [("app", app.text), ("environment", environment.rawValue)] }
}

// The same for every service on one database.

extension QueueFigures {
  var families: [MetricFamily] {
    [
      .gauge(
        "tacet_inbox_events", "Events that nobody has decided, to 50,000 of each state.", by: "state",
        ["fresh": freshEvents, "claimed": claimedEvents]),
      .gauge(
        "tacet_inbox_oldest_event_age_seconds",
        "Since the oldest event of the inbox was committed; 0 when it is empty.", oldestEventAge),
      .gauge(
        "tacet_deliveries", "Pushes that are held, tried again later, or wait for APNs, to 50,000.", by: "state",
        ["held": held, "retryable": retryable, "waiting": waiting.values.reduce(0, +)]),
      .gauge("tacet_deliveries_waiting", "Pushes that wait for APNs, by lane, to 50,000.", by: "lane", waiting),
      .gauge("tacet_parked_work", "Work that was set aside; tacet.parked says why.", parked),
      .gauge("tacet_trigger_failures", "Errors that the triggers swallowed within the last hour.", triggerFailures),
      .gauge("tacet_live_activities_running", "Live Activities that have not ended, to 50,000.", runningActivities),
      .gauge(
        "tacet_database_oldest_snapshot_age_seconds",
        "For how long the oldest transaction has kept dead rows from being cleaned up; 0 when there is none.",
        snapshotAge),
      .gauge(
        "tacet_database_oldest_slot_age_transactions",
        "Transactions since the oldest snapshot of a replication slot; 0 when there is none.", slotAgeTransactions ?? 0),
    ]
  }
}

extension HostEventFigures {
  var families: [MetricFamily] {
    [
      .gauge("tacet_host_events_waiting", "Events that the host has not taken yet, to 50,000.", waiting),
      .gauge(
        "tacet_host_events_oldest_age_seconds", "Since the oldest of them happened; 0 without one.", oldestAge),
      .gauge("tacet_host_events_dead", "Events that the host has not taken for too long, to 50,000.", dead),
      .gauge("tacet_unread_checks", "Pushes that are looked at later, because of push.unread, to 50,000.", checks),
    ]
  }
}

extension EngagementAnalysis {
  /// Of the time of the analysis.
  var families: [MetricFamily] {
    [
      .gauge(
        "tacet_engagement_users", "Users at the newest analysis, by the time since their last activity.", by: "class",
        Dictionary(figures.classes.map { ($0.0, $0.1) }) { $1 }),
      MetricFamily(
        "tacet_engagement_rate", "Active users over all users at the newest analysis; 0 for nobody.", .gauge,
        .number(figures.engagementRate)),
      MetricFamily(
        "tacet_engagement_sessions_per_week", "Sessions of a user, on average, in the week before the newest analysis.",
        .gauge, .number(figures.sessionsPerWeek)),
      MetricFamily(
        "tacet_engagement_session_seconds", "How long a session of that week lasted on average.", .gauge,
        .number(figures.secondsPerSession)),
      MetricFamily(
        "tacet_engagement_analysed_timestamp_seconds", "When engagement was analysed last.", .gauge,
        .number(Double(analysedAt) / 1_000_000)),
    ]
  }
}
