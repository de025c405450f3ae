internal import APNSCore

/// What becomes of a push to one device.
enum DeviceVerdict: Equatable, Sendable {
  /// Whether a push that waits for its lane steps back first, so that others probe it too.
  enum StepBack: Comparable, Sendable {
    /// It was not even tried: due as soon as the lane is back.
    case none
    /// For some seconds: which push probes does not matter.
    case brief
    /// For longer from time to time: this push may be the wrong one to probe with.
    case long
  }

  /// APNs took it.
  case accepted
  /// APNs took it in the environment that the token's registration does not name.
  case acceptedElsewhere(APNSEnvironment)
  /// The token is to be dropped, unless it was registered after this moment in milliseconds since 1970; after the claim
  /// when there is none.
  case dead(reason: String?, sinceMilliseconds: Int64?)
  /// It cannot be sent.
  case refused(reason: String?)
  /// It is tried again on its own, after this time at the least.
  case postponed(reason: String?, minimum: Duration)
  /// It waits for a lane.
  case waiting(lane: String, reason: String?, StepBack)

  /// The same, but that a token is kept which would be dropped.
  var sparingToken: DeviceVerdict {
    if case .dead(let reason, _) = self { .refused(reason: reason) } else { self }
  }
}
