internal import PushStore
internal import Reactors
internal import Settings

enum HostEventCheck {
  static let name = "host events"
  static let receiverName = "host events receiver"
  /// A host that is away for longer than a deployment takes.
  static let lateFrom = Duration.seconds(900)
  private static let limit = Duration.seconds(5)

  /// - Parameter isConfigured: whether the settings say where events go.
  static func judge(_ figures: HostEventFigures, isConfigured: Bool) -> CheckFinding {
    guard isConfigured || figures != HostEventFigures() else {
      return CheckFinding(name, .skipped, "none are announced; see tacet.announce")
    }
    let announced = figures.announced.isEmpty ? "none" : figures.announced.joined(separator: ", ")
    let waiting = FindingWords.count(figures.waiting, of: HostEventFigures.rowsMax, "event waits", "events wait")
    let age = figures.oldestAge.map { ", the oldest for \(FindingWords.duration($0))" } ?? ""
    let found = "announced: \(announced); \(waiting)\(age)"
    guard isConfigured else {
      return CheckFinding(
        name, .warning, "\(found), and EVENTS_URL is not set",
        remedy: "set EVENTS_URL and EVENTS_SECRET, or call tacet.announce_nothing")
    }
    if figures.dead > 0 {
      let dead = FindingWords.count(figures.dead, of: HostEventFigures.rowsMax, "is dead", "are dead")
      return CheckFinding(
        name, .warning, "\(found); \(dead)",
        remedy: "see /dashboard/events for the host's answers, then send them again there")
    }
    guard (figures.oldestAge ?? .zero) < lateFrom else {
      return CheckFinding(
        name, .warning, found, remedy: "see on /dashboard/events what the host answers, and whether tacet serve runs")
    }
    return CheckFinding(name, .ok, found)
  }

  static func look(_ settings: EventSettings, on reactor: isolated Reactor) async -> CheckFinding {
    let receiver = HostEventReceiver(HostEventConfiguration(settings), on: reactor)
    defer { receiver.close(on: reactor) }
    return judge(await receiver.probe(within: limit, on: reactor))
  }

  static func judge(_ answer: Result<Int, HostEventFault>) -> CheckFinding {
    switch answer {
    case .success(let status):
      return CheckFinding(receiverName, .ok, "it can be reached, and answers \(status) to a GET without a signature")
    case .failure(let fault):
      return CheckFinding(
        receiverName, .failure, "it cannot be reached: \(fault)",
        remedy: "see whether this host may connect to the one in EVENTS_URL, and whether it runs")
    }
  }
}
