internal import APNSCore
internal import Logging

extension Lane {
  /// Says it once when the lane shuts, once when it is clear that only a change will open it, and once when it opens.
  func report(since before: LaneFault?) {
    let fault = breaker.openFault
    guard before != nil || fault != nil else { return }
    let metadata: Logger.Metadata = ["route": "\(route.name)", "reason": "\(fault?.reason ?? "")"]
    switch (before?.cause, fault?.cause) {
    case (_, nil): logger.notice("APNs takes pushes again", metadata: ["route": "\(route.name)"])
    case (.configuration, .configuration): break
    case (_, .configuration):
      logger.error("APNs refuses a route's configuration; its pushes wait in the database", metadata: metadata)
    case (nil, _): logger.error("APNs takes no pushes; they wait in the database", metadata: metadata)
    default: break
    }
  }
}
