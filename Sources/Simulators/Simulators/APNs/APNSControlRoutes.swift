internal import HTTP1
internal import HTTPTypes
internal import Reactors

struct APNSControlRoutes: Sendable {
  let desk: ControlDesk

  func table() -> HTTPRoutes {
    var routes = HTTPRoutes()
    addDevices(to: &routes)
    addPushes(to: &routes)
    addActivities(to: &routes)
    addServer(to: &routes)
    addFaults(to: &routes)
    return routes
  }
}

extension APNSControlRoutes {
  /// The most devices shown. The response has their total.
  private static let devicesShownMax = 10_000

  private func addDevices(to routes: inout HTTPRoutes) {
    let (desk, service) = (desk, desk.service)
    routes.show("/tokens") { _ in
      let devices = service.withRegistry { $0.devices }
      let shown = devices.sorted { $0.key < $1.key }.prefix(Self.devicesShownMax)
      return ["tokens": shown.map { APNSDeviceDocument($0.value, token: $0.key) }, "total": devices.count]
        as JSONMembers
    }
    routes.add(.put, "/tokens/{token}") { request, _ in
      try desk.register(APNSDeviceDocument.read(request.body), token: request.parameter("token"))
      return ControlAnswer.done
    }
    routes.add(.delete, "/tokens/{token}") { request, _ in
      guard service.removeToken(request.parameter("token")) else { throw ProblemDetails(.notFound) }
      return ControlAnswer.done
    }
  }

  private func addServer(to routes: inout HTTPRoutes) {
    let (desk, service, connections) = (desk, desk.service, desk.connections)
    routes.show("/healthz") { _ in
      ["status": "ok", "pushes": service.withLog { $0.total }, "connections": connections.open.count] as JSONMembers
    }
    routes.show("/connections") { _ in
      [
        "opened": connections.openedCount, "refused": connections.refusedCount, "open": connections.open,
      ] as JSONMembers
    }
    routes.take("/keys") { (key: KeyDocument) in try desk.register(key) }
    routes.take("/bundles") { (bundle: BundleDocument) in desk.register(bundle) }
    routes.take("/certificates") { (certificate: CertificateDocument) in try desk.register(certificate) }
    routes.take("/clock") { (clock: ClockDocument) in try desk.move(clock) }
    routes.show("/conduct") { _ in APNSConductDocument(service.conduct, service.withRegistry { $0.tokenRate }) }
    routes.take("/conduct") { (conduct: APNSConductDocument) in try desk.change(conduct) }
  }
}

extension APNSControlRoutes {
  private func addPushes(to routes: inout HTTPRoutes) {
    let service = desk.service
    routes.show("/pushes") { request in
      var query = PushQuery()
      query.after = try request.queryNumber("after") ?? 0
      query.limit = try request.queryNumber("limit") ?? PushQuery.limitDefault
      query.token = request.head.queryValue("token")
      query.collapseID = request.head.queryValue("collapse_id")
      query.identifier = request.head.queryValue("apns_id")
      let page = service.withLog { [query] in $0.records(query) }
      return ["pushes": page.records, "next": page.next] as JSONMembers
    }
    routes.forget("/pushes") { service.withLog { $0.removeAll() } }
    routes.await(
      "pushes", total: { service.withLog { $0.total } },
      totals: {
        let (total, outcomes) = service.withLog { ($0.total, $0.outcomes) }
        return ["total": total, "outcomes": outcomes, "unprocessed": service.unprocessed] as JSONMembers
      }
    ) { await service.waitForPushes($0, within: $1, on: $2) }
    routes.show("/screen") { _ in ["lines": service.withLog { $0.screen.visible }] }
    routes.show("/lint") { _ in
      let lint = service.lint
      let counts = Dictionary(uniqueKeysWithValues: lint.counts.map { ($0.key.rawValue, $0.value) })
      return ["counts": counts, "findings": lint.entries] as JSONMembers
    }
  }

  private func addFaults(to routes: inout HTTPRoutes) {
    let (desk, service) = (desk, desk.service)
    routes.add(.post, "/faults") { request, reactor in
      let struck = try desk.arrange(APNSFaultDocument.read(request.body), on: reactor)
      return try struck.map { try ControlAnswer.json(["connections": $0]) } ?? ControlAnswer.done
    }
    routes.show("/faults") { _ in
      [
        "waiting": service.withFaults { $0.map { APNSFaultDocument($0) } }, "met": service.metFaults,
      ] as JSONMembers
    }
    routes.forget("/faults") {
      service.withFaults { $0 = [] }
      service.forgetMetFaults()
    }
  }
}

extension APNSControlRoutes {
  /// A megabyte with ordinary states. A script that wants more says so.
  private static let activitiesShownDefault = 100

  private func addActivities(to routes: inout HTTPRoutes) {
    let service = desk.service
    routes.show("/activities") { request in try Self.activities(request, of: service) }
    routes.forget("/activities") { service.forgetActivities() }
    routes.add(.delete, "/activities/{activity}") { request, _ in
      guard service.dismissActivity(request.parameter("activity")) else { throw ProblemDetails(.notFound) }
      return ControlAnswer.done
    }
    routes.add(.post, "/activities/{activity}/token") { request, _ in
      let wanted = request.body.isEmpty ? nil : try RenewalDocument.read(request.body).token
      if let wanted, !APNSInquiry.isDeviceToken(wanted) {
        throw ProblemDetails.unfit("a device token is an even number of hexadecimal digits")
      }
      guard let token = service.renewToken(of: request.parameter("activity"), to: wanted) else {
        throw ProblemDetails(.notFound, detail: "no such activity runs")
      }
      return try ControlAnswer.json(["token": token])
    }
  }

  /// The newest that match, oldest first, each with its newest pushes.
  private static func activities(_ request: HTTPServerRequest, of service: SimulatedService) throws -> JSONMembers {
    let (device, activity) = (request.head.queryValue("device"), request.head.queryValue("activity"))
    let limit = min(try request.queryNumber("limit") ?? activitiesShownDefault, ActivityBook.activitiesMax)
    let history = min(try request.queryNumber("history") ?? .max, ActivityHistory.entriesMax)
    let (all, drops) = service.withActivities { ($0.all, $0.drops) }
    let now = service.clock.now
    let shown = all.filter { (device ?? $0.device) == $0.device && (activity ?? $0.identifier) == $0.identifier }
    return [
      "activities": shown.suffix(limit).map { $0.members(at: now, history: history) }, "total": shown.count,
      "dropped": drops.counts.byWord, "drops": drops.entries,
    ]
  }
}

/// A new update token of an activity.
struct RenewalDocument: ControlDocument {
  /// Nil for a random one.
  var token: String?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case token
  }
}

extension SimulatedActivity {
  /// What its device shows.
  /// - Parameter history: the most pushes listed; the newest are.
  func members(at now: WallInstant, history most: Int) -> JSONMembers {
    [
      "activity": identifier, "device": device, "environment": owner.environment, "bundle_id": owner.bundle,
      "attributes_type": attributesType, "attributes": attributes, "token": token, "state": state,
      "started_ms": startedAt.milliseconds, "stale": isStale(at: now), "ended": endedAt(now) != nil,
      "dismissed": isDismissed(at: now), "ended_ms": endedAt(now)?.milliseconds,
      "dismissed_ms": dismissedAt(now)?.milliseconds, "last_timestamp": lastTimestamp, "stale_date": staleDate,
      "relevance_score": relevanceScore, "alerts": alerts, "last_alert": lastAlert, "applied_count": history.count,
      "applied": Array(history.entries.suffix(most)), "dropped": dropped.byWord,
    ]
  }
}

extension [ActivityDrop: Int] {
  /// With the words of the control endpoint.
  var byWord: [String: Int] {
    Dictionary<String, Int>(uniqueKeysWithValues: map { ($0.key.rawValue, $0.value) })
  }
}
