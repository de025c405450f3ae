internal import PushStore

// Whether what waits moves on, and who works on it.
extension Judgement {
  private static let seeService = "see whether tacet serve runs and what its log and /readyz say"

  static func backlog(_ backlog: ExaminedBacklog) -> [Judgement] {
    [
      inbox(backlog), overdueDeliveries(backlog).named("holds and retries"),
      waiting(backlog).named("waiting for APNs"), parked(backlog).named("parked"),
    ]
  }

  /// A wait for a claim, from ``QueueFigures/overdueFrom`` on.
  private static func late(_ overdue: Duration, _ found: String) -> Judgement {
    Judgement(
      overdue < .seconds(60) ? .warning : .failure, "\(found) for \(FindingWords.duration(overdue))", remedy: seeService
    )
  }

  private static func inbox(_ backlog: ExaminedBacklog) -> Judgement {
    let rows = FindingWords.count(backlog.events, of: ExaminedBacklog.rowsMax, "row", "rows")
    guard let overdue = backlog.eventOverdue else { return .ok("empty") }
    guard overdue >= QueueFigures.overdueFrom else {
      return .ok("\(rows), the oldest could be decided \(FindingWords.duration(overdue)) ago")
    }
    return late(overdue, "\(rows), and the oldest has waited to be decided")
  }

  private static func overdueDeliveries(_ backlog: ExaminedBacklog) -> Judgement {
    guard let overdue = backlog.deliveryOverdue, overdue >= QueueFigures.overdueFrom else {
      return .ok("none is overdue")
    }
    return late(overdue, "the first has been due")
  }

  private static func waiting(_ backlog: ExaminedBacklog) -> Judgement {
    guard let age = backlog.waitingAge, backlog.waiting > 0 else { return .ok("none") }
    let rows = FindingWords.count(backlog.waiting, of: ExaminedBacklog.rowsMax, "push", "pushes")
    let found = "\(rows), the oldest for \(FindingWords.duration(age))"
    // What is older waits for more than a passing fault.
    guard age >= .seconds(60) else { return .ok(found) }
    return .warning(found, remedy: "see what the apns checks and /readyz say; they go when APNs takes pushes again")
  }

  private static func parked(_ backlog: ExaminedBacklog) -> Judgement {
    guard backlog.parked > 0 else { return .ok("none") }
    return .warning(
      FindingWords.count(backlog.parked, of: ExaminedBacklog.rowsMax, "row", "rows"),
      remedy: "read the reasons in tacet.parked, mend them, then tacet.replay(subject_id)")
  }

  /// Whether something keeps dead rows of the queue from being cleaned up: looks at the queue then read all of them.
  static func snapshots(_ snapshots: [ExaminedSnapshot]) -> [Judgement] {
    snapshots.compactMap(snapshot).or("none is old, as far as this role may see")
  }

  private static func snapshot(_ snapshot: ExaminedSnapshot) -> Judgement? {
    guard let age = snapshot.age else {
      guard snapshot.transactions >= 100_000 else { return nil }
      return .warning(
        "replication slot \(snapshot.name) keeps rows from \(snapshot.transactions) transactions ago",
        remedy: "see whether its standby lives; drop the slot if nobody comes back for it")
    }
    // From here on a transaction is long. At 300 messages a second it keeps 90,000 dead rows.
    guard age >= .seconds(300) else { return nil }
    let session = snapshot.processID.map { "session \($0) (\(snapshot.name.isEmpty ? "unnamed" : snapshot.name))" }
    return .warning(
      "\(session ?? snapshot.name) has kept dead rows for \(FindingWords.duration(age))",
      remedy: "end the transaction, and set idle_in_transaction_session_timeout for the host's roles")
  }

  /// Whether triggers of ours had to swallow errors lately.
  static func triggerFailures(_ failures: [TriggerFailureCount]) -> [Judgement] {
    failures.map {
      .warning(
        "\($0.failures) during the last day with SQLSTATE \($0.sqlState), kind \($0.kind), the last \(FindingWords.duration($0.age)) ago",
        remedy:
          "read their texts in tacet.trigger_failures; events whose ids are there are enqueued within ten seconds, others need a webhook"
      )
    }.or("none during the last day")
  }

  /// Whether what is known of deleted users goes.
  /// - Parameter overdue: those of more than ten minutes ago; nil without one.
  static func erasures(_ overdue: ExaminedErasures?) -> Judgement {
    guard let overdue else { return .ok("none is overdue") }
    let users = FindingWords.count(overdue.users, of: ExaminedBacklog.rowsMax, "deleted user", "deleted users")
    // The service erases within ten seconds; passes over what was locked then take minutes.
    return Judgement(
      overdue.age < .seconds(3600) ? .warning : .failure,
      "rows of \(users) are still kept, the first deleted \(FindingWords.duration(overdue.age)) ago",
      remedy: "see whether tacet serve runs, and in pg_stat_activity whether an old transaction locks their rows")
  }

  /// Whether the server still has the time zones that users may live in.
  static func zones(lost: [LostZone]) -> Judgement {
    guard let example = lost.first(where: { $0.standIn == nil }) ?? lost.first else {
      return .ok("the server knows all that it has known")
    }
    let count = lost.count == 1 ? "1 zone" : "\(lost.count) zones"
    return .warning(
      "the server no longer knows \(count), such as \(example.name), whose users have the times of \(example.standIn ?? "UTC")",
      remedy: "install the server's time zone data again (on Debian tzdata-legacy), then run tacet migrate")
  }

  /// Which processes run, as they say themselves in the database, and whether every conversation has an owner among them.
  /// - Parameter mayIdle: whether processes say nothing while their database sleeps.
  static func instances(_ instances: [RunningInstance], mayIdle: Bool = false) -> Judgement {
    let silentFrom = ServiceInstance.silentFrom + (mayIdle ? DatabaseSleep.longestMax : .zero)
    let running = instances.filter { $0.age < silentFrom }
    guard !running.isEmpty else {
      let last = instances.first.map { "; \($0.id) on \($0.host) did \(FindingWords.duration($0.age)) ago" } ?? ""
      return .warning("no tacet serve says that it runs\(last)", remedy: "start tacet serve, or see why it ended")
    }
    let shards = OwnedShards.count
    let names = running.map { "\($0.id) on \($0.host) with \($0.shards) of \(shards) shards" }.joined(separator: ", ")
    let unowned = Int(shards) - running.reduce(0) { $0 + $1.shards }
    guard unowned <= 0 || mayIdle else {
      return .warning(
        "\(names); nobody owns the conversations of \(unowned)",
        remedy: "look again in ten seconds; if it stays, see what the logs of these processes and /readyz say")
    }
    let versions = Set(running.map(\.version)).sorted().joined(separator: ", ")
    guard Set(running.map(\.version)).count > 1 else { return .ok("\(names), version \(versions)") }
    return .warning(
      "\(names) run, of several versions: \(versions)", remedy: "replace the older ones when the deployment is over")
  }

  /// Nothing where the triggers notify, or nobody listens.
  static func notifications(_ webhook: ExaminedWebhook, isListened: Bool) -> [Judgement] {
    guard isListened, !webhook.isNotifyEnabled else { return [] }
    return [
      warning(
        "switched off in tacet.settings: messages wait for the poll or a webhook",
        remedy: "set tacet.settings.notify_enabled to true, unless the host uses PREPARE TRANSACTION"
      ).named("notifications")
    ]
  }

  /// Whether the triggers' own webhook goes out.
  static func webhookPosts(_ webhook: ExaminedWebhook) -> Judgement {
    guard webhook.hasURL else { return .skipped("tacet.settings.webhook_url is not set, so triggers post nothing") }
    guard webhook.hasSecret else {
      return .failure(
        "webhook_url is set without webhook_secret: triggers post nothing",
        remedy: "set tacet.settings.webhook_secret to the service's WEBHOOK_SECRET")
    }
    guard webhook.hasFunction else {
      return .failure(
        "webhook_url is set, but there is no net.http_post: triggers post nothing",
        remedy: "create extension pg_net, or set webhook_url to null")
    }
    guard let queue = webhook.queue else {
      return .ok("present; this role may not look into its queue")
    }
    if queue.requests == 0 { return .ok("present, its queue is empty") }
    if webhook.isQueueMoving { return .ok("present, its queue moves") }
    return .failure(
      "\(FindingWords.count(queue.requests, of: 1000, "request", "requests")) in its queue, which does not move",
      remedy: "select net.worker_restart(), and see that shared_preload_libraries has pg_net")
  }

  /// What wakes a service that leaves its database alone while nothing happens.
  static func idle(_ webhook: ExaminedWebhook) -> Judgement {
    let longest =
      "IDLE_MODE is webhook, and the service looks by itself after half of MESSAGE_TTL_SECONDS, at most "
      + FindingWords.duration(DatabaseSleep.longestMax)
    let judgement: Judgement =
      if webhook.hasURL, webhook.hasSecret, webhook.hasFunction {
        .ok("\(longest); the trigger on inserted messages posts a webhook through pg_net")
      } else if let trigger = webhook.hostTrigger {
        .ok("\(longest); the trigger \(trigger) posts a webhook")
      } else {
        .warning(
          "\(longest); no trigger is known that posts a webhook, so messages may wait as long",
          remedy:
            "with pg_net, set tacet.settings.webhook_url and webhook_secret; otherwise let the application post to "
            + "/v1/webhooks/messages after each commit of a message, and ignore this")
      }
    return judgement.named("idle")
  }

  /// Whether the host takes its events.
  /// - Parameter isConfigured: whether the settings say where events go.
  static func hostEvents(_ figures: HostEventFigures, isConfigured: Bool) -> Judgement {
    guard isConfigured || figures != HostEventFigures() else {
      return .skipped("none are announced; see tacet.announce")
    }
    let announced = figures.announced.isEmpty ? "none" : figures.announced.joined(separator: ", ")
    let waiting = FindingWords.count(figures.waiting, of: HostEventFigures.rowsMax, "event waits", "events wait")
    let age = figures.oldestAge.map { ", the oldest for \(FindingWords.duration($0))" } ?? ""
    let found = "announced: \(announced); \(waiting)\(age)"
    guard isConfigured else {
      return .warning(
        "\(found), and EVENTS_URL is not set",
        remedy: "set EVENTS_URL and EVENTS_SECRET, or call tacet.announce('{}')")
    }
    if figures.dead > 0 {
      let dead = FindingWords.count(figures.dead, of: HostEventFigures.rowsMax, "is dead", "are dead")
      return .warning(
        "\(found); \(dead)", remedy: "see /dashboard/events for the host's answers, then send them again there")
    }
    // A host that is away for longer than a deployment takes.
    guard (figures.oldestAge ?? .zero) < .seconds(900) else {
      return .warning(
        found, remedy: "see on /dashboard/events what the host answers, and whether tacet serve runs")
    }
    return .ok(found)
  }
}
