internal import PushStore

/// Which processes run, as they say themselves in the database.
enum InstanceCheck {
  static let name = "instances"

  static func judge(_ instances: [ExaminedInstance]) -> [CheckFinding] {
    let running = instances.filter { $0.age < ServiceInstance.silentFrom }
    guard !running.isEmpty else {
      let last = instances.first.map { "; \($0.id) on \($0.host) did \(Words.duration($0.age)) ago" } ?? ""
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
