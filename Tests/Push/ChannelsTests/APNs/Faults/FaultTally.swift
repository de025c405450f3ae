import APNSSimulation

/// What a run looks like from APNs' side.
struct FaultTally: CustomStringConvertible {
  let name: String
  let pushes: Int
  /// Lines on the devices' screens: each push is one, however often it was accepted.
  let shown: Int
  /// Requests that reached the server's judgement, and those that a fault swallowed before it.
  let attempts: Int
  let connections: Int
  /// Pushes that came again under another `apns-id`.
  let renamed: Int

  var lost: Int { pushes - shown }

  init(_ name: String, pushes: Int, of scene: FaultScene) {
    self.name = name
    self.pushes = pushes
    var everything = PushQuery()
    everything.limit = PushQuery.limitMax
    let (records, lines, total) = scene.service.withLog { [everything] log in
      (log.records(everything).records, log.screen.visible.count, log.total)
    }
    shown = lines
    attempts = total + scene.service.unprocessed
    connections = scene.simulator.connections.openedCount
    let identifiers = Dictionary(grouping: records, by: \.collapseID).mapValues { Set($0.map(\.identifier)).count }
    renamed = identifiers.values.count { $0 > 1 }
  }

  var description: String {
    """
    \(name): \(pushes) pushes, \(shown) accepted once on screen, \(attempts) attempts, \(connections) connections, \
    lost \(lost), resent with another apns-id \(renamed)
    """
  }
}
