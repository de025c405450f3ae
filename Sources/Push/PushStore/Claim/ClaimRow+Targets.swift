internal import Postgres
internal import PushRules

// Where the pushes of a claimed event go.
extension ClaimRow {
  /// The targets that the event names, or else the recipient's.
  func targets(of event: PushEvent) throws(PostgresError) -> [PushTarget] {
    if let targets = event.content?.targets { return targets }
    let addresses: [String]? = try read(.addresses)
    let channels: [String]? = try read(.channels)
    let environments: [String]? = try read(.environments)
    let apps: [String]? = try read(.apps)
    let keys: [String]? = try read(.keys)
    guard let addresses, let channels, let environments, let apps, let keys else { return [] }
    let counts = [channels, environments, apps, keys].map(\.count)
    return (0..<(counts.min() ?? 0)).prefix(addresses.count).map { index in
      PushTarget(
        DeliveryChannel(rawValue: channels[index]), address: addresses[index],
        environment: environments[index].nonEmpty, app: apps[index].nonEmpty, keys: keys[index].nonEmpty)
    }
  }
}

extension String {
  /// Arrays of text hold an empty one for a null.
  fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
