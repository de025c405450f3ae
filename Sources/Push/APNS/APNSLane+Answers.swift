internal import APNSCore
internal import HTTP2
internal import Logging
internal import Reactors

/// What the answers to pushes say about the connection and the lane.
extension APNSLane {
  func note(_ attempt: PushAttempt, over link: APNSLink, on reactor: isolated Reactor) {
    if case .answered(let answer) = attempt { note(answer, attempt.disposition, over: link, on: reactor) }
    // An orderly GOAWAY hands many back at once and is no outage; a failed connect is counted where it fails.
    if case .failed(.notProcessed) = attempt { return }
    guard attempt.provesLane else { return slowStart.failed() }
    slowStart.succeeded()
    guard !link.isOpenedUp || refusal != nil || configurationFault != nil else { return }
    link.isOpenedUp = true
    backoff.succeeded()
    configurationFault = nil
    refusal = nil
  }

  /// Compares the clocks: by the first answer of each connection, and by those that may have to do with the time.
  func noteDate(of response: HTTP2Response, over link: APNSLink) {
    guard link.answers == 0 || response.status == 403 else { return }
    clock = response.fields["date"].flatMap { ClockDifference(date: $0, now: ClockDifference.wallSeconds) }
    guard let clock, clock.isNotable, link.answers == 0 else { return }
    logger.warning("this machine's clock is wrong, or that of APNs", metadata: ["difference": "\(clock.words)"])
  }

  private func note(
    _ answer: PushAnswer, _ disposition: PushDisposition, over link: APNSLink, on reactor: isolated Reactor
  ) {
    link.answers += 1
    if link.answers == ConnectBudget.answersForRefund { budget.refund() }
    if disposition != .reconnect { link.hasAnswered = true }
    if disposition == .fixCredentials || disposition == .refreshProviderToken { noteRefusal(answer, over: link) }
    // The new connection sees one token only. One that has always shown the same would get the same answer anew.
    if answer.reason == "TooManyProviderTokenUpdates", link.token.hasChanged { replace(link, on: reactor) }
  }

  private func noteRefusal(_ answer: PushAnswer, over link: APNSLink) {
    let refusal = LaneRefusal(answer, tokenAge: link.token.token.age, clock: clock)
    let isNews = refusal.reason != self.refusal?.reason
    self.refusal = refusal
    if isNews { logger.error("APNs refuses pushes", metadata: ["reason": "\(refusal.words)"]) }
  }
}
