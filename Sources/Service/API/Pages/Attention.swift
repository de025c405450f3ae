internal import PushStore

/// A fault that a process knows of itself.
struct ProcessFault: Equatable {
  /// As `/readyz` calls it.
  let name: String
  let detail: String?

  /// What the checks of `/readyz` say, except those of routes, which pages show in a separate table. A shadow is among them: a page
  /// that called all well would hide that nothing is sent.
  static func all(_ checks: [ReadinessCheck]) -> [ProcessFault] {
    checks.filter { $0.name == ReadinessCheck.shadow || !$0.isReady && !$0.name.hasPrefix("apns ") }
      .map { ProcessFault(name: $0.name, detail: $0.detail) }
  }
}

/// What the operator should look after, the most urgent first. Without an item, no fault is known.
struct Attention {
  /// Nil when the database did not answer.
  let overview: ServiceOverview?
  let routes: [RouteReport]
  let faults: [ProcessFault]

  var items: [HTML] {
    (overview.map(instances) ?? [Self.noDatabase]) + faults.map(Self.fault)
      + routes.filter(\.needsAttention).map(Self.route) + (overview.map { queues($0.queues) } ?? [])
  }

  private static let noDatabase: HTML = """
    <strong>The database did not answer.</strong> Pushes wait until it does; their figures are missing here.
    """

  private func instances(_ overview: ServiceOverview) -> [HTML] {
    guard overview.instances.isEmpty else { return [] }
    return ["No process of the service has said in the last minute that it lives."]
  }

  private func queues(_ queues: QueueOverview) -> [HTML] {
    var items: [HTML] = []
    if let age = queues.oldestAge, age >= QueueOverview.overdueFrom {
      items.append("The oldest event has been in the inbox for \(Wording.age(age)).")
    }
    items += Self.overdue("held push was to be looked at", queues.nextHold)
    items += Self.overdue("retry was due", queues.nextRetry)
    if queues.parked > 0 {
      items.append("<a href=\"#parked\">\(Wording.count(queues.parked)) set aside</a>: they cannot succeed.")
    }
    return items
  }

  private static func overdue(_ what: String, _ wait: Duration?) -> [HTML] {
    guard let wait, wait <= .zero - QueueOverview.overdueFrom else { return [] }
    return ["The first \(what) \(Wording.age(.zero - wait)) ago."]
  }

  private static func fault(_ fault: ProcessFault) -> HTML {
    "<strong>\(fault.name)</strong>\(fault.detail.map { ": \($0)" } ?? "")"
  }

  private static func route(_ route: RouteReport) -> HTML {
    let waiting: HTML = route.lane.map { "\(Wording.count($0.waiting)) waiting" } ?? "no pushes go"
    let problem: HTML = route.problem.map { ": \($0)" } ?? ""
    return "<strong>\(route.name)</strong>, \(waiting)\(problem)"
  }
}
