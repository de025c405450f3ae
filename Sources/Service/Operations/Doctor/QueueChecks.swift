internal import PushStore

enum BacklogCheck {
  /// From ``QueueOverview/overdueFrom`` on it is a warning.
  static let failureFrom = Duration.seconds(60)
  /// A push for APNs that is older than this waits for more than a passing fault.
  static let waitingFrom = Duration.seconds(60)

  private static let serviceRemedy = "see whether tacet serve runs and what its log and /readyz say"

  static func judge(_ backlog: ExaminedBacklog) -> [CheckFinding] {
    [inbox(backlog), deliveries(backlog), waiting(backlog), parked(backlog)]
  }

  private static func inbox(_ backlog: ExaminedBacklog) -> CheckFinding {
    let rows = FindingWords.count(backlog.events, of: ExaminedBacklog.rowsMax, "row", "rows")
    guard let overdue = backlog.eventOverdue else { return CheckFinding("inbox", .ok, "empty") }
    guard overdue >= QueueOverview.overdueFrom else {
      return CheckFinding("inbox", .ok, "\(rows), the oldest could be claimed \(FindingWords.duration(overdue)) ago")
    }
    return CheckFinding(
      "inbox", overdue < failureFrom ? .warning : .failure,
      "\(rows), and the oldest has waited to be claimed for \(FindingWords.duration(overdue))", remedy: serviceRemedy)
  }

  private static func deliveries(_ backlog: ExaminedBacklog) -> CheckFinding {
    guard let overdue = backlog.deliveryOverdue, overdue >= QueueOverview.overdueFrom else {
      return CheckFinding("holds and retries", .ok, "none is overdue")
    }
    return CheckFinding(
      "holds and retries", overdue < failureFrom ? .warning : .failure,
      "the first has been due for \(FindingWords.duration(overdue))", remedy: serviceRemedy)
  }

  private static func waiting(_ backlog: ExaminedBacklog) -> CheckFinding {
    let rows = FindingWords.count(backlog.waiting, of: ExaminedBacklog.rowsMax, "push", "pushes")
    guard let age = backlog.waitingAge, backlog.waiting > 0 else {
      return CheckFinding("waiting for APNs", .ok, "none")
    }
    guard age >= waitingFrom else {
      return CheckFinding("waiting for APNs", .ok, "\(rows), the oldest for \(FindingWords.duration(age))")
    }
    return CheckFinding(
      "waiting for APNs", .warning, "\(rows), the oldest for \(FindingWords.duration(age))",
      remedy: "see what the apns checks and /readyz say; they go when APNs takes pushes again")
  }

  private static func parked(_ backlog: ExaminedBacklog) -> CheckFinding {
    guard backlog.parked > 0 else { return CheckFinding("parked", .ok, "none") }
    return CheckFinding(
      "parked", .warning, FindingWords.count(backlog.parked, of: ExaminedBacklog.rowsMax, "row", "rows"),
      remedy: "read the reasons in tacet.parked, mend them, then tacet.replay(subject_id)")
  }
}

/// Whether something keeps dead rows of the queue from being cleaned up: looks at the queue then read all of them.
enum SnapshotCheck {
  static let name = "snapshots"

  /// From here on a transaction is long. At 300 messages a second it keeps 90,000 dead rows.
  static let ageFrom = Duration.seconds(300)

  /// From here on a replication slot is behind.
  static let transactionsFrom = 100_000

  static func judge(_ snapshots: [ExaminedSnapshot]) -> [CheckFinding] {
    let found = snapshots.compactMap(judge)
    return found.isEmpty ? [CheckFinding(name, .ok, "none is old, as far as this role may see")] : found
  }

  private static func judge(_ snapshot: ExaminedSnapshot) -> CheckFinding? {
    guard let age = snapshot.age else {
      guard snapshot.transactions >= transactionsFrom else { return nil }
      return CheckFinding(
        name, .warning, "replication slot \(snapshot.name) keeps rows from \(snapshot.transactions) transactions ago",
        remedy: "see whether its standby lives; drop the slot if nobody comes back for it")
    }
    guard age >= ageFrom else { return nil }
    let session = snapshot.processID.map { "session \($0) (\(snapshot.name.isEmpty ? "unnamed" : snapshot.name))" }
    return CheckFinding(
      name, .warning, "\(session ?? snapshot.name) has kept dead rows for \(FindingWords.duration(age))",
      remedy: "end the transaction, and set idle_in_transaction_session_timeout for the host's roles")
  }
}

/// Whether triggers of ours had to swallow errors lately.
enum TriggerFailureCheck {
  static let name = "trigger failures"

  static func judge(_ failures: [TriggerFailureCount]) -> [CheckFinding] {
    guard !failures.isEmpty else { return [CheckFinding(name, .ok, "none during the last day")] }
    return failures.map {
      CheckFinding(
        name, .warning,
        "\($0.failures) during the last day with SQLSTATE \($0.sqlState), kind \($0.kind), the last \(FindingWords.duration($0.age)) ago",
        remedy:
          "read their texts in tacet.trigger_failures; events whose ids are there are enqueued within ten seconds, others need a webhook"
      )
    }
  }
}

/// Whether what is known of deleted users goes.
enum ErasureCheck {
  static let name = "erasures"

  /// The service erases within ten seconds; passes over what was locked then take minutes.
  static let failureFrom = Duration.seconds(3600)

  /// - Parameter overdue: those of more than ten minutes ago; nil without one.
  static func judge(_ overdue: ExaminedErasures?) -> CheckFinding {
    guard let overdue else { return CheckFinding(name, .ok, "none is overdue") }
    let users = FindingWords.count(overdue.users, of: ExaminedBacklog.rowsMax, "deleted user", "deleted users")
    return CheckFinding(
      name, overdue.age < failureFrom ? .warning : .failure,
      "rows of \(users) are still kept, the first deleted \(FindingWords.duration(overdue.age)) ago",
      remedy: "see whether tacet serve runs, and in pg_stat_activity whether an old transaction locks their rows")
  }
}

/// Whether the server still has the time zones that users may live in.
enum ZoneCheck {
  static let name = "zones of users"

  static func judge(_ lost: [LostZone]) -> CheckFinding {
    guard let example = lost.first(where: { $0.standIn == nil }) ?? lost.first else {
      return CheckFinding(name, .ok, "the server knows all that it has known")
    }
    let count = lost.count == 1 ? "1 zone" : "\(lost.count) zones"
    return CheckFinding(
      name, .warning,
      "the server no longer knows \(count), such as \(example.name), whose users have the times of \(example.standIn ?? "UTC")",
      remedy: "install the server's time zone data again (on Debian tzdata-legacy), then run tacet migrate")
  }
}

/// Which processes run, as they say themselves in the database.
enum InstanceCheck {
  static let name = "instances"

  /// - Parameter mayIdle: whether processes say nothing while their database sleeps.
  static func judge(_ instances: [ExaminedInstance], mayIdle: Bool = false) -> [CheckFinding] {
    let silentFrom = ServiceInstance.silentFrom + (mayIdle ? DatabaseSleep.longestMax : .zero)
    let running = instances.filter { $0.age < silentFrom }
    guard !running.isEmpty else {
      let last = instances.first.map { "; \($0.id) on \($0.host) did \(FindingWords.duration($0.age)) ago" } ?? ""
      return [
        CheckFinding(
          name, .warning, "no tacet serve says that it runs\(last)", remedy: "start tacet serve, or see why it ended")
      ]
    }
    let names = running.map { "\($0.id) on \($0.host)" }.joined(separator: ", ")
    let versions = Set(running.map(\.version))
    guard versions.count == 1 else {
      return [
        CheckFinding(
          name, .warning, "\(names) run, of several versions: \(versions.sorted().joined(separator: ", "))",
          remedy: "replace the older ones when the deployment is over")
      ]
    }
    return [CheckFinding(name, .ok, "\(names), version \(versions.first ?? "")")]
  }
}

/// Whether the triggers' own webhook goes out.
enum WebhookPostCheck {
  static let name = "pg_net"

  static func judge(_ webhook: ExaminedWebhook, isListened: Bool) -> [CheckFinding] {
    notifications(webhook, isListened: isListened) + [post(webhook)]
  }

  private static func notifications(_ webhook: ExaminedWebhook, isListened: Bool) -> [CheckFinding] {
    guard isListened, !webhook.isNotifyEnabled else { return [] }
    return [
      CheckFinding(
        "notifications", .warning, "switched off in tacet.settings: messages wait for the poll or a webhook",
        remedy: "set tacet.settings.notify_enabled to true, unless the host uses PREPARE TRANSACTION")
    ]
  }

  private static func post(_ webhook: ExaminedWebhook) -> CheckFinding {
    guard webhook.hasURL else {
      return CheckFinding(name, .skipped, "tacet.settings.webhook_url is not set, so triggers post nothing")
    }
    guard webhook.hasSecret else {
      return CheckFinding(
        name, .failure, "webhook_url is set without webhook_secret: triggers post nothing",
        remedy: "set tacet.settings.webhook_secret to the service's WEBHOOK_SECRET")
    }
    guard webhook.hasFunction else {
      return CheckFinding(
        name, .failure, "webhook_url is set, but there is no net.http_post: triggers post nothing",
        remedy: "create extension pg_net, or set webhook_url to null")
    }
    guard let (first, second) = webhook.queue else {
      return CheckFinding(name, .ok, "present; this role may not look into its queue")
    }
    // A queue that moves has another first request at the second look.
    guard first.requests == 0 || first.first != second.first else {
      return CheckFinding(
        name, .failure,
        "\(FindingWords.count(first.requests, of: 1000, "request", "requests")) in its queue, which does not move",
        remedy: "select net.worker_restart(), and see that shared_preload_libraries has pg_net")
    }
    return CheckFinding(name, .ok, first.requests == 0 ? "present, its queue is empty" : "present, its queue moves")
  }
}

/// What wakes a service that leaves its database alone while nothing happens.
enum IdleCheck {
  static let name = "idle"

  private static let longest =
    "IDLE_MODE is webhook, and the service looks by itself after half of MESSAGE_TTL_SECONDS, at most "
    + FindingWords.duration(DatabaseSleep.longestMax)

  static func judge(_ webhook: ExaminedWebhook) -> CheckFinding {
    if webhook.hasURL, webhook.hasSecret, webhook.hasFunction {
      return CheckFinding(name, .ok, "\(longest); the trigger on inserted messages posts a webhook through pg_net")
    }
    if let trigger = webhook.hostTrigger {
      return CheckFinding(name, .ok, "\(longest); the trigger \(trigger) posts a webhook")
    }
    return CheckFinding(
      name, .warning, "\(longest); no trigger is known that posts a webhook, so messages may wait as long",
      remedy:
        "with pg_net, set tacet.settings.webhook_url and webhook_secret; otherwise let the application post to "
        + "/v1/webhooks/messages after each commit of a message, and ignore this")
  }
}
