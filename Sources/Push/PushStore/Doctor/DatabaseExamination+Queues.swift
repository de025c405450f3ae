public import Postgres
public import Reactors

// What waits.
extension DatabaseExamination {
  /// What waits in the queue tables.
  public func backlog(on reactor: isolated Reactor) async throws(PostgresError) -> ExaminedBacklog {
    let row = try await connection.query(.examineBacklog, on: reactor).one()
    var backlog = ExaminedBacklog()
    backlog.events = try row.decode("events")
    backlog.eventOverdue = try row.duration("event_overdue")
    backlog.deliveryOverdue = try row.duration("delivery_overdue")
    backlog.waiting = try row.decode("waiting")
    backlog.waitingAge = try row.duration("waiting_age")
    backlog.parked = try row.decode("parked")
    return backlog
  }

  /// What has kept dead rows from being cleaned up for longest: of sessions, and of replication slots.
  public func snapshots(on reactor: isolated Reactor) async throws(PostgresError) -> [ExaminedSnapshot] {
    try await rows(.examineSnapshots, on: reactor) { row throws(PostgresError) in
      ExaminedSnapshot(
        name: try row.decode("name"), processID: try row.decode("pid"), age: try row.duration("age_us"),
        transactions: try row.decode("transactions"))
    }
  }

  /// Tokens by app and environment, most first.
  /// - Parameter isDefaultHost: whether they are in the default host's table; otherwise the host's function is asked for
  ///   those of the last recipients.
  public func deviceTokens(
    isDefaultHost: Bool, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [DeviceTokenCount] {
    let call: StatementCall = isDefaultHost ? .examineDeviceTokens : .examineContractTokens
    return try await rows(call, on: reactor) { row throws(PostgresError) in
      DeviceTokenCount(
        app: try row.decode("app"), environment: try row.decode("environment"), tokens: try row.decode("tokens"))
    }
  }

  /// What triggers swallowed during the last day, the newest first.
  public func triggerFailures(on reactor: isolated Reactor) async throws(PostgresError) -> [TriggerFailureCount] {
    try await rows(.examineTriggerFailures, on: reactor) { row throws(PostgresError) in
      TriggerFailureCount(
        sqlState: try row.decode("sqlstate"), kind: try row.decode("kind"), failures: try row.decode("failures"),
        age: .microseconds(try row.decode("age", as: Int64.self)))
    }
  }

  /// Deleted users who are not erased ten minutes later; nil when there is none.
  public func overdueErasures(on reactor: isolated Reactor) async throws(PostgresError) -> ExaminedErasures? {
    let row = try await connection.query(.examineErasures, on: reactor).one()
    guard let age = try row.duration("age") else { return nil }
    return ExaminedErasures(users: try row.decode("users"), age: age)
  }

  /// What the triggers are to post, and whether pg_net posts it.
  /// - Parameter pause: between the two looks at its queue, if anything waits there.
  public func webhook(pausing pause: Duration, on reactor: isolated Reactor) async throws(PostgresError)
    -> ExaminedWebhook
  {
    let row = try await connection.query(.examineWebhook, on: reactor).one()
    var webhook = ExaminedWebhook()
    webhook.isNotifyEnabled = try row.decode("notify_enabled")
    webhook.hasURL = try row.decode("has_url")
    webhook.hasSecret = try row.decode("has_secret")
    webhook.hasFunction = try row.decode("has_function")
    if webhook.hasURL, try row.decode("reads_queue") {
      let first = try await webhookQueue(on: reactor)
      if first.requests > 0 { await reactor.sleep(for: pause) }
      webhook.queue = (first, first.requests > 0 ? try await webhookQueue(on: reactor) : first)
    }
    return webhook
  }

  /// The processes that say that they run, the last one first; nil when this database has no table for that.
  public func instances(on reactor: isolated Reactor) async throws(PostgresError) -> [ExaminedInstance]? {
    let tables = try await connection.query(.examineTables(tableNames: ["tacet.instances"]), on: reactor)
    guard !tables.isEmpty else { return nil }
    return try await rows(.examineInstances, on: reactor) { row throws(PostgresError) in
      ExaminedInstance(
        id: try row.decode("id"), host: try row.decode("host", as: String?.self) ?? "",
        version: try row.decode("version", as: String?.self) ?? "",
        age: .microseconds(try row.decode("age", as: Int64.self)))
    }
  }

  private func webhookQueue(on reactor: isolated Reactor) async throws(PostgresError) -> WebhookQueue {
    let row = try await connection.query(.examineWebhookQueue, on: reactor).one()
    return WebhookQueue(requests: try row.decode("requests"), first: try row.decode("first"))
  }
}
