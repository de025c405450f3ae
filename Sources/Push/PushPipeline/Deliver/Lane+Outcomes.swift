internal import FoundationEssentials
internal import PushRules

// The ends of pushes. Each method here ends one that was admitted, and says whether more waiting pushes may go now.
extension Lane {
  /// Takes the end of a push.
  /// - Parameter user: the device's owner; nil for an unknown one.
  func conclude(
    _ attempt: DeliveryAttempt, to device: String, of user: HostID? = nil, now: UInt64, draw: Double
  ) -> (verdict: DeviceVerdict, hasMoreRoom: Bool) {
    let before = breaker.openFault
    let verdict = verdict(on: attempt, to: device, of: user, now: now, draw: draw)
    return finish(verdict, isFault: attempt.fault != nil, since: before)
  }

  private func finish(
    _ verdict: DeviceVerdict, isFault: Bool = false, since before: LaneFault?
  ) -> (verdict: DeviceVerdict, hasMoreRoom: Bool) {
    let hasMoreRoom = end(isFault: isFault, since: before)
    if case .waiting = verdict { isWaitedFor = true }
    return (verdict, hasMoreRoom)
  }

  /// Takes the end of a push whose token is not of this environment, independent of the other environment's answer.
  func concludeElsewhere(now: UInt64, draw: Double) -> Bool {
    let before = breaker.openFault
    breaker.answered(now: now, draw: draw)
    return end(since: before)
  }

  /// Takes the end of a push whose token was refused after the lane had shut, or while as many trials as allowed were under
  /// way. Its next attempt makes the trial; a crowd of trials would only be refused in the other environment too.
  func putOff(_ attempt: DeliveryAttempt, now: UInt64, draw: Double) -> (verdict: DeviceVerdict, hasMoreRoom: Bool) {
    let before = breaker.openFault
    breaker.answered(now: now, draw: draw)
    hasTurnedAwayPaused = hasTurnedAwayPaused || isPaused
    let verdict = DeviceVerdict.waiting(
      lane: route.name, reason: attempt.ledgerReason, breaker.isClosed ? .brief : .long)
    return finish(verdict, since: before)
  }

  /// Takes the end of a push whose token was refused, without an answer from the other environment. That says nothing about
  /// the token. Where all tokens are refused the route is stopped all the same, or every one of them would be sent to.
  func concludeUnresolved(
    _ attempt: DeliveryAttempt, because reason: String?, of user: HostID, now: UInt64, draw: Double
  ) -> (verdict: DeviceVerdict, hasMoreRoom: Bool) {
    let before = breaker.openFault
    breaker.answered(now: now, draw: draw)
    var verdict = DeviceVerdict.postponed(reason: reason, minimum: PushDisposition.tooManyWait)
    if !breaker.isClosed || suspicion.refused(of: user) == .misconfigured {
      verdict = stop(for: attempt.ledgerReason, now: now, draw: draw)
    }
    return finish(verdict, since: before)
  }

  /// Takes the end of a trial: a push whose token is registered for the other environment. Its refusal says nothing about
  /// this lane's tokens, and a credential for the other environment alone is not a fault.
  func concludeTrial(_ attempt: DeliveryAttempt, now: UInt64, draw: Double) -> Bool {
    let before = breaker.openFault
    let fault = attempt.laneFault
    switch attempt.disposition {
    case .accepted, .dropToken: prove()
    case _ where attempt.otherEnvironment == .ownsCredential:
      refusesTrials = true
      // The connection works; pushes of the lane's own tokens find out whether the settings do.
      breaker.accepted()
    default:
      if let fault { breaker.failed(fault, now: now, draw: draw) } else { breaker.answered(now: now, draw: draw) }
    }
    return end(isFault: fault != nil, since: before)
  }

  private func end(isFault: Bool = false, since before: LaneFault?) -> Bool {
    inFlight = max(0, inFlight - 1)
    report(since: before)
    if breaker.isClosed { isWaitedFor = false }
    if before != nil, breaker.isClosed {
      slowStart.begin()
      return true
    }
    if isFault { return false }
    let (isPauseOver, isRoomBack) = (endsPause(), endsFullness())
    return breaker.isClosed && slowStart.answered() || isPauseOver || isRoomBack
  }

  private func verdict(
    on attempt: DeliveryAttempt, to device: String, of user: HostID?, now: UInt64, draw: Double
  ) -> DeviceVerdict {
    if let fault = attempt.laneFault {
      if attempt.otherEnvironment == .ownsCredential { refusesTrials = true }
      return fail(fault, to: device, now: now, draw: draw)
    }
    switch attempt.disposition {
    case .accepted:
      prove()
      quarantine.accepted(device)
      return .accepted
    case .dropToken(let milliseconds):
      prove()
      return .dead(reason: attempt.ledgerReason, sinceMilliseconds: milliseconds)
    case .suspectToken:
      return judge(attempt, to: device, of: user ?? HostID(UUID()), now: now, draw: draw)
    case .retryLater(let minimum):
      answered(now: now, draw: draw)
      return .postponed(reason: attempt.ledgerReason, minimum: max(minimum, attempt.askedWait))
    default:
      // The push's own fault: those of the lane were handled first.
      answered(now: now, draw: draw)
      return .refused(reason: attempt.ledgerReason)
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

  /// A token was refused without proof. While the route's settings are in doubt, no token is.
  private func judge(
    _ attempt: DeliveryAttempt, to device: String, of user: HostID, now: UInt64, draw: Double
  ) -> DeviceVerdict {
    let reason = attempt.ledgerReason
    breaker.answered(now: now, draw: draw)
    guard breaker.isClosed else { return .waiting(lane: route.name, reason: reason, .long) }
    switch suspicion.refused(of: user) {
    case .badToken where attempt.repeatsPush, .unexplained where attempt.repeatsPush:
      return .postponed(reason: reason, minimum: attempt.askedWait)
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

  /// On a route without an accepted push the first refusal of the settings counts.
  private func fail(_ fault: LaneFault, to device: String, now: UInt64, draw: Double) -> DeviceVerdict {
    if fault.cause == .configuration, !suspicion.isProven {
      breaker.stop(fault, now: now, draw: draw)
    } else {
      breaker.failed(fault, device: fault.cause == .service ? device : nil, now: now, draw: draw)
    }
    // Other pushes pass, so this one waits by itself, longer from time to time.
    if fault.cause == .service, breaker.isClosed { return .postponed(reason: fault.reason, minimum: fault.askedWait) }
    return .waiting(lane: route.name, reason: fault.reason, .brief)
  }
}

extension DeliveryAttempt {
  /// The fault of the lane that the attempt shows; nil when it concerns the push or its device alone.
  var laneFault: LaneFault? { fault.map { LaneFault(cause: $0, reason: ledgerReason, askedWait: askedWait) } }
}
