internal import APNS
internal import APNSCore
internal import FoundationEssentials

// What became of pushes. Every method here ends one that was admitted, and says whether more of what waits may go now.
extension Lane {
  /// Takes the end of a push.
  /// - Parameter user: whose device it is; nil for somebody of whom nothing else is known.
  func note(
    _ attempt: PushAttempt, to device: String, of user: UUID? = nil, now: UInt64, draw: Double
  ) -> (verdict: DeviceVerdict, hasMoreRoom: Bool) {
    let before = breaker.openFault
    let verdict = verdict(on: attempt, to: device, of: user, now: now, draw: draw)
    return finish(verdict, attempt.finding, since: before)
  }

  private func finish(
    _ verdict: DeviceVerdict, _ finding: PushFinding, since before: LaneFault?
  ) -> (verdict: DeviceVerdict, hasMoreRoom: Bool) {
    let hasMoreRoom = end(finding, since: before)
    if case .waiting = verdict { isWaitedFor = true }
    return (verdict, hasMoreRoom)
  }

  /// Takes the end of a push whose device is none of this environment, whatever became of it in the other.
  func noteElsewhere(now: UInt64, draw: Double) -> Bool {
    let before = breaker.openFault
    breaker.answered(now: now, draw: draw)
    return end(.suspect, since: before)
  }

  /// Takes the end of a push whose token was refused when the lane had shut, or when as many as may be were being asked
  /// about in the other environment. It asks there when it is sent again; a crowd would only be refused there as well.
  func putOff(_ attempt: PushAttempt, now: UInt64, draw: Double) -> (verdict: DeviceVerdict, hasMoreRoom: Bool) {
    let before = breaker.openFault
    breaker.answered(now: now, draw: draw)
    hasTurnedAwayPaused = hasTurnedAwayPaused || isPaused
    let verdict = DeviceVerdict.waiting(
      lane: route.name, reason: attempt.ledgerReason, breaker.isClosed ? .brief : .long)
    return finish(verdict, .suspect, since: before)
  }

  /// Takes the end of a push whose token was refused, and about which the other environment could not be asked. Nothing is
  /// known of the token; but where all are refused the route is stopped all the same, or each would be sent to.
  func noteUnresolved(
    _ attempt: PushAttempt, because reason: String?, of user: UUID, now: UInt64, draw: Double
  ) -> (verdict: DeviceVerdict, hasMoreRoom: Bool) {
    let before = breaker.openFault
    breaker.answered(now: now, draw: draw)
    var verdict = DeviceVerdict.postponed(reason: reason, minimum: PushDisposition.tooManyWait)
    if !breaker.isClosed || suspicion.refused(of: user) == .misconfigured {
      verdict = stop(for: attempt.ledgerReason, now: now, draw: draw)
    }
    return finish(verdict, .suspect, since: before)
  }

  /// Takes the end of a push of the other environment. Its refusal says nothing about this lane's tokens, and a
  /// credential that is for the other environment alone is no fault.
  func noteTrial(_ attempt: PushAttempt, now: UInt64, draw: Double) -> Bool {
    let before = breaker.openFault
    switch attempt.finding {
    case .accepted, .dead: prove()
    case .suspect, .refused, .throttled: breaker.answered(now: now, draw: draw)
    case .fault where attempt.refusesEnvironment:
      refusesTrials = true
      // The connection works; whether the settings do is for pushes of the lane's own to find out.
      breaker.accepted()
    case .fault(let cause):
      breaker.failed(LaneFault(cause, attempt), now: now, draw: draw)
    }
    return end(attempt.finding, since: before)
  }

  private func end(_ finding: PushFinding, since before: LaneFault?) -> Bool {
    inFlight = max(0, inFlight - 1)
    report(since: before)
    if breaker.isClosed { isWaitedFor = false }
    if before != nil, breaker.isClosed {
      slowStart.begin()
      return true
    }
    if case .fault = finding { return false }
    let isPauseOver = endsPause()
    return breaker.isClosed && slowStart.answered() || isPauseOver
  }

  private func verdict(
    on attempt: PushAttempt, to device: String, of user: UUID?, now: UInt64, draw: Double
  ) -> DeviceVerdict {
    switch attempt.finding {
    case .accepted:
      prove()
      quarantine.accepted(device)
      return .accepted
    case .dead(let milliseconds):
      prove()
      return .dead(reason: attempt.ledgerReason, sinceMilliseconds: milliseconds)
    case .suspect:
      return judge(device, of: user ?? UUID(), reason: attempt.ledgerReason, now: now, draw: draw)
    case .refused:
      answered(now: now, draw: draw)
      return .refused(reason: attempt.ledgerReason)
    case .throttled(let minimum):
      answered(now: now, draw: draw)
      return .postponed(reason: attempt.ledgerReason, minimum: minimum)
    case .fault(let cause):
      if attempt.refusesEnvironment { refusesTrials = true }
      return fail(LaneFault(cause, attempt), to: device, now: now, draw: draw)
    }
  }

  private func prove() {
    doubtsInRow = 0
    breaker.accepted()
    suspicion.accepted()
    refusesTrials = false
  }

  private func answered(now: UInt64, draw: Double) {
    breaker.answered(now: now, draw: draw)
    suspicion.answered()
  }

  /// A token was refused without proof. While the route's settings are in doubt no token is.
  private func judge(_ device: String, of user: UUID, reason: String?, now: UInt64, draw: Double) -> DeviceVerdict {
    breaker.answered(now: now, draw: draw)
    guard breaker.isClosed else { return .waiting(lane: route.name, reason: reason, .long) }
    switch suspicion.refused(of: user) {
    case .badToken:
      return .dead(reason: reason, sinceMilliseconds: nil)
    case .unexplained:
      quarantine.add(device, reason: reason, now: now)
      return .refused(reason: reason)
    case .misconfigured:
      return stop(for: reason, now: now, draw: draw)
    }
  }

  private func stop(for reason: String?, now: UInt64, draw: Double) -> DeviceVerdict {
    breaker.stop(LaneFault(cause: .configuration, reason: reason), now: now, draw: draw)
    return .waiting(lane: route.name, reason: reason, .long)
  }

  /// On a route where nothing has been accepted yet the first refusal of the settings is believed.
  private func fail(_ fault: LaneFault, to device: String, now: UInt64, draw: Double) -> DeviceVerdict {
    if fault.cause == .configuration, !suspicion.isProven {
      breaker.stop(fault, now: now, draw: draw)
    } else {
      breaker.failed(fault, device: fault.cause == .service ? device : nil, now: now, draw: draw)
    }
    // Others pass, so this one waits by itself, longer from time to time.
    if fault.cause == .service, breaker.isClosed { return .postponed(reason: fault.reason, minimum: fault.askedWait) }
    return .waiting(lane: route.name, reason: fault.reason, .brief)
  }
}

extension LaneFault {
  fileprivate init(_ cause: Cause, _ attempt: PushAttempt) {
    self.init(cause: cause, reason: attempt.ledgerReason, askedWait: attempt.askedWait)
  }
}
