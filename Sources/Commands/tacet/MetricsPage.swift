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
  let workers: PerReactor<ReactorWorker>
  let meter: HTTPServiceMeter

  /// The page as text. Takes as long as its slowest part, the database, which has two seconds at the most.
  func text() async -> String {
    var figures: [ReactorFigures] = []
    for worker in workers.all { figures.append(await worker.perform { $0.figures(on: $1) }) }
    let process = await workers.all[0].perform { await $0.processWideFigures(on: $1) }
    return ExpositionText.make(
      registry.collect() + ReactorFigures.families(of: figures) + (process?.families ?? [])
        + HTTPServiceFigures.families(of: await meter.read()) + ProcessFigures.current().families
        + [Self.buildInformation])
  }

  private static var buildInformation: MetricFamily {
    var family = MetricFamily("tacet_build_info", "Always 1; the labels say what runs.", .gauge)
    family.add(.integer(1), ["version": BuildInformation.version])
    return family
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
      "Attempts over Web Push and FCM that have ended; without an answer the status is none and the reason says why.",
      .counter, seriesMax: 256),
    MetricDescription(
      "tacet_campaign_decisions_total",
      "Users whom campaigns looked at; a push that was queued has the decision committed and the reason none.",
      .counter, seriesMax: 256),
    MetricDescription(
      "tacet_campaign_slot_failures_total", "Hours of a campaign in a zone that could not be served, each try.",
      .counter,
      seriesMax: 64),
    MetricDescription(
      "tacet_slot_rows_total", "Rows of slots that were due, by what became of them.", .counter, seriesMax: 512),
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
  /// The label of answers to requests that were for no route.
  private static let none = "none"

  /// The figures of the HTTP service. Labels have few values: reasons, routes as patterns, and the statuses that were
  /// answered.
  static func families(of figures: HTTPServiceFigures) -> [MetricFamily] {
    [
      MetricFamily(
        "tacet_http_connections_accepted_total", "HTTP connections let in.", .counter,
        .integer(Int64(figures.accepted))),
      MetricFamily("tacet_http_connections_open", "HTTP connections open.", .gauge, .integer(Int64(figures.open))),
      MetricFamily(
        "tacet_http_tls_handshake_failures_total", "TLS handshakes that failed.", .counter,
        .integer(Int64(figures.failedHandshakes))),
      turnedAway(figures), responses(figures),
    ]
  }

  private static func turnedAway(_ figures: HTTPServiceFigures) -> MetricFamily {
    var family = MetricFamily(
      "tacet_http_connections_turned_away_total", "HTTP connections not let in, by reason.", .counter)
    for reason in TurnAway.allCases {
      family.add(.integer(Int64(figures.turnedAway[reason] ?? 0)), ["reason": reason.rawValue])
    }
    return family
  }

  private static func responses(_ figures: HTTPServiceFigures) -> MetricFamily {
    var family = MetricFamily(
      "tacet_http_responses_total", "HTTP answers, refusals among them, by the route's pattern.", .counter)
    for (answer, count) in figures.answers {
      let labels: MetricLabels = [
        "method": answer.operation?.method.rawValue ?? none, "route": answer.operation?.pattern ?? none,
        "status": "\(answer.status)",
      ]
      family.add(.integer(Int64(count)), labels)
    }
    return family
  }
}

/// What one reactor has done so far, and what it does now.
struct ReactorFigures: Sendable {
  let reactor: String
  let ticks: Int
  let jobsFromOtherThreads: Int
  let wakeUps: Int
  let database: PostgresPool.Counters
  let sessions: PostgresPool.Usage
  /// How long claims have not worked.
  let claimAge: Duration
  let apnsConnectionsOpened: Int
  let apns: [APNSEnvironment: APNSFigures]
  let routes: [RouteState]
  let others: [OtherRouteState]
}

/// How one reactor fares with the pushes of a route of another channel than APNs.
struct OtherRouteState: Sendable {
  let name: String
  /// Why pushes wait in the database, or would; nil when they go.
  let fault: String?
  /// Whether pushes wait for it.
  let isNeeded: Bool
}

/// A reactor's connections to one environment of APNs, over all clients.
struct APNSFigures: Sendable {
  var connections = 0
  var pushesInFlight = 0
  var pushesWaiting = 0
}

extension ReactorFigures {
  static func families(of figures: [ReactorFigures]) -> [MetricFamily] {
    [
      counter("tacet_reactor_ticks_total", "Turns of the event loop.", figures, \.ticks),
      counter(
        "tacet_reactor_jobs_from_other_threads_total", "Jobs that came from another thread.", figures,
        \.jobsFromOtherThreads),
      counter("tacet_reactor_wake_ups_total", "Times another thread ended a sleep.", figures, \.wakeUps),
      counter("tacet_database_round_trips_total", "Statements answered.", figures, \.database.roundTrips),
      counter("tacet_database_reconnects_total", "Sessions opened again.", figures, \.database.reconnects),
      counter("tacet_apns_connections_opened_total", "Connections to APNs.", figures, \.apnsConnectionsOpened),
      sessions(figures),
      claimAges(figures),
      MetricFamily(
        "tacet_database_waiting", "Callers that wait for a session.", .gauge,
        .integer(figures.sum(\.sessions.waiting))),
    ] + apns(figures) + routes(figures) + otherRoutes(figures)
  }

  private static func counter(
    _ name: String, _ help: String, _ figures: [ReactorFigures], _ value: KeyPath<ReactorFigures, Int>
  ) -> MetricFamily {
    var family = MetricFamily(name, help, .counter)
    for figure in figures { family.add(.integer(Int64(figure[keyPath: value])), ["reactor": figure.reactor]) }
    return family
  }

  private static func sessions(_ figures: [ReactorFigures]) -> MetricFamily {
    var family = MetricFamily("tacet_database_sessions", "Sessions with the database, by what they do.", .gauge)
    family.add(.integer(figures.sum(\.sessions.idle)), ["state": "idle"])
    family.add(.integer(figures.sum(\.sessions.inUse)), ["state": "in_use"])
    family.add(.integer(figures.sum(\.sessions.closed)), ["state": "closed"])
    return family
  }

  private static func claimAges(_ figures: [ReactorFigures]) -> MetricFamily {
    var family = MetricFamily(
      "tacet_claim_age_seconds",
      "Since claims last worked: up to about a second, more while the database refuses them.",
      .gauge)
    for figure in figures { family.add(.number(figure.claimAge / .seconds(1)), ["reactor": figure.reactor]) }
    return family
  }

  private static func otherRoutes(_ figures: [ReactorFigures]) -> [MetricFamily] {
    func gauge(_ name: String, _ help: String, _ isSo: (OtherRouteState) -> Bool) -> MetricFamily {
      var family = MetricFamily(name, help, .gauge)
      for figure in figures {
        for state in figure.others {
          family.add(.integer(isSo(state) ? 1 : 0), ["route": state.name, "reactor": figure.reactor])
        }
      }
      return family
    }
    return [
      gauge("tacet_push_route_open", "1 when pushes to browsers or Android go, 0 when they wait.") { $0.fault == nil },
      gauge("tacet_push_route_needed", "1 when pushes wait for the route.", \.isNeeded),
    ]
  }

  private static func apns(_ figures: [ReactorFigures]) -> [MetricFamily] {
    func gauge(_ name: String, _ help: String, _ value: KeyPath<APNSFigures, Int>) -> MetricFamily {
      var family = MetricFamily(name, help, .gauge)
      for environment in APNSEnvironment.allCases {
        let sum = figures.reduce(0) { $0 + ($1.apns[environment]?[keyPath: value] ?? 0) }
        family.add(.integer(Int64(sum)), ["environment": environment.rawValue])
      }
      return family
    }
    return [
      gauge("tacet_apns_connections", "Connections to APNs that are open and answer.", \.connections),
      gauge("tacet_apns_streams", "Pushes on their way on a connection to APNs.", \.pushesInFlight),
      gauge("tacet_apns_waiting", "Pushes that wait for a free stream.", \.pushesWaiting),
    ]
  }

  /// A line for each reactor and route: at most four routes for each configured app.
  private static func routes(_ figures: [ReactorFigures]) -> [MetricFamily] {
    func gauge(_ name: String, _ help: String, _ isSo: (RouteState) -> Bool) -> MetricFamily {
      var family = MetricFamily(name, help, .gauge)
      for figure in figures {
        for state in figure.routes {
          family.add(.integer(isSo(state) ? 1 : 0), state.route.labels(and: ("reactor", figure.reactor)))
        }
      }
      return family
    }
    return [
      gauge("tacet_apns_route_open", "1 when pushes go, 0 when they wait in the database.") { $0.fault == nil },
      gauge("tacet_apns_route_needed", "1 when the route is an app's own or pushes wait for it.", \.isNeeded),
      gauge("tacet_apns_route_connected", "1 when a connection is open.", \.isConnected),
      breakers(figures.flatMap(\.routes)),
    ]
  }

  private static func breakers(_ states: [RouteState]) -> MetricFamily {
    var family = MetricFamily(
      "tacet_apns_breakers", "Reactors by whether a route's pushes go: closed, open, or probing.", .gauge)
    for (route, states) in Dictionary(grouping: states, by: \.route) {
      for state in BreakerState.allCases {
        let count = states.count { $0.breaker == state }
        family.add(.integer(Int64(count)), route.labels(and: ("state", state.rawValue)))
      }
    }
    return family
  }
}

extension [ReactorFigures] {
  fileprivate func sum(_ value: KeyPath<ReactorFigures, Int>) -> Int64 {
    Int64(reduce(0) { $0 + $1[keyPath: value] })
  }
}

extension PushRoute {
  fileprivate func labels(and other: (String, String)) -> MetricLabels {
    MetricLabels([("app", app.text), ("environment", environment.rawValue), other])
  }
}

/// What is known once in a process: what waits in the database, whether it notifies, and the provider tokens.
struct ProcessWideFigures: Sendable {
  let database: DatabaseFigures
  /// Whether the process leaves the database alone; nil where it polls.
  let isDatabaseAsleep: Bool?
  let listening: ListenStatus.State
  /// How old the provider token of each key is, in the order in which the settings name the keys.
  let tokenAges: [Duration]

  var families: [MetricFamily] {
    [
      MetricFamily(
        "tacet_database_up", "1 when the database answers, 0 when it does not.", .gauge,
        .integer(database.isUp ? 1 : 0)),
      providerTokens,
    ] + sleeping + hearing + (database.queue?.families ?? []) + (database.engagement?.families ?? [])
      + (database.hostEvents?.families ?? [])
  }

  private var providerTokens: MetricFamily {
    var family = MetricFamily("tacet_apns_provider_token_age_seconds", "How old the provider token is.", .gauge)
    // Readers of figures need not learn the identifiers.
    for (place, age) in tokenAges.enumerated() { family.add(.number(age.inSeconds), ["key": "\(place + 1)"]) }
    return family
  }

  /// Empty where the process polls.
  private var sleeping: [MetricFamily] {
    guard let isDatabaseAsleep else { return [] }
    return [
      MetricFamily(
        "tacet_database_asleep", "1 while this process asks the database nothing, until something wakes it.", .gauge,
        .integer(isDatabaseAsleep ? 1 : 0))
    ]
  }

  /// Empty where the process does not listen.
  private var hearing: [MetricFamily] {
    guard listening != .unused else { return [] }
    return [
      MetricFamily(
        "tacet_database_listening", "1 when notifications of the database arrive, 0 when polling alone finds work.",
        .gauge, .integer(listening == .listening ? 1 : 0))
    ]
  }
}

extension QueueFigures {
  /// The same for every service on one database.
  var families: [MetricFamily] {
    [
      Self.gauge(
        "tacet_inbox_events", "Events that nobody has decided, to 50,000 of each state.", "state",
        ["fresh": freshEvents, "claimed": claimedEvents]),
      MetricFamily(
        "tacet_inbox_oldest_event_age_seconds",
        "Since the oldest event of the inbox was committed; 0 when it is empty.",
        .gauge, .number(oldestEventAge?.inSeconds ?? 0)),
      Self.gauge(
        "tacet_deliveries", "Pushes that are held, tried again later, or wait for APNs, to 50,000.", "state",
        ["held": held, "retryable": retryable, "waiting": waiting.values.reduce(0, +)]),
      Self.gauge("tacet_deliveries_waiting", "Pushes that wait for APNs, by lane, to 50,000.", "lane", waiting),
      MetricFamily(
        "tacet_parked_work", "Work that was set aside; tacet.parked says why.", .gauge, .integer(Int64(parked))),
      MetricFamily(
        "tacet_trigger_failures", "Errors that the triggers swallowed within the last hour.", .gauge,
        .integer(Int64(triggerFailures))),
      MetricFamily(
        "tacet_live_activities_running", "Live Activities that have not ended, to 50,000.", .gauge,
        .integer(Int64(runningActivities))),
      MetricFamily(
        "tacet_database_oldest_snapshot_age_seconds",
        "For how long the oldest transaction has kept dead rows from being cleaned up; 0 when there is none.",
        .gauge, .number(snapshotAge?.inSeconds ?? 0)),
      MetricFamily(
        "tacet_database_oldest_slot_age_transactions",
        "Transactions since the oldest snapshot of a replication slot; 0 when there is none.",
        .gauge, .integer(Int64(slotAgeTransactions ?? 0))),
    ]
  }

  private static func gauge(_ name: String, _ help: String, _ label: String, _ values: [String: Int]) -> MetricFamily {
    var family = MetricFamily(name, help, .gauge)
    for (value, count) in values { family.add(.integer(Int64(count)), MetricLabels([(label, value)])) }
    return family
  }
}

extension HostEventFigures {
  /// The same for every service on one database.
  var families: [MetricFamily] {
    [
      MetricFamily(
        "tacet_host_events_waiting", "Events that the host has not taken yet, to 50,000.", .gauge,
        .integer(Int64(waiting))),
      MetricFamily(
        "tacet_host_events_oldest_age_seconds", "Since the oldest of them happened; 0 without one.", .gauge,
        .number(oldestAge?.inSeconds ?? 0)),
      MetricFamily(
        "tacet_host_events_dead", "Events that the host has not taken for too long, to 50,000.", .gauge,
        .integer(Int64(dead))),
      MetricFamily(
        "tacet_unread_checks", "Pushes that are looked at later, because of push.unread, to 50,000.", .gauge,
        .integer(Int64(checks))),
    ]
  }
}

extension Duration {
  fileprivate var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}

extension EngagementAnalysis {
  /// Of the time of the analysis; the same for every service on one database.
  var families: [MetricFamily] {
    [
      users,
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

  private var users: MetricFamily {
    var family = MetricFamily(
      "tacet_engagement_users", "Users at the newest analysis, by the time since their last activity.", .gauge)
    for (name, count) in figures.classes { family.add(.integer(Int64(count)), ["class": name]) }
    return family
  }
}
