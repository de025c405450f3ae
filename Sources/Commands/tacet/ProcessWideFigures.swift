import PrometheusMetrics
import PushStore

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
