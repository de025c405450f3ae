internal import HTTP2
internal import Logging
internal import Reactors

// What follows when a connection ends, or can take another number of pushes.
extension APNSConnections: HTTP2ConnectionObserver {
  func connection(
    _ connection: HTTP2Connection, changedTo state: HTTP2ConnectionState, on reactor: isolated Reactor
  ) {
    guard state != .ready, let index = links.firstIndex(where: { $0.connection === connection }) else { return }
    let link = links.remove(at: index)
    logger.notice(
      "APNs connection ends", metadata: ["connection": "\(link.number)", "reason": "\(state.words)"])
    pace(afterEndOf: link, isProved: link.hasAnswered || state.provesWork)
    lastFailure = state.words
    act(on: state.notice?.consequence ?? .reconnect, on: reactor)
    reconsider.signal(on: reactor)
    connect(on: reactor)
  }

  func connectionCapacityChanged(_ connection: HTTP2Connection, on reactor: isolated Reactor) {
    if connection.isSuspect {
      let number = links.first { $0.connection === connection }?.number
      logger.warning(
        "APNs connection is silent; pushes take another", metadata: ["connection": "\(number ?? 0)"])
      lastFailure = "APNs does not answer on the connection"
    }
    shortenWaits(on: reactor)
    closeSurplus(on: reactor)
    connect(on: reactor)
    admitWaiters(on: reactor)
  }

  /// Drains a connection that APNs' answers call stuck, and opens another.
  func replace(_ stuck: APNSLink, on reactor: isolated Reactor) {
    guard let index = links.firstIndex(where: { $0 === stuck }) else { return }
    links.remove(at: index)
    pace(afterEndOf: stuck, isProved: stuck.hasAnswered)
    stuck.connection.drain(on: reactor)
    shortenWaits(on: reactor)
    connect(on: reactor)
  }

  private func pace(afterEndOf link: APNSLink, isProved: Bool) {
    if isProved { return backoff.succeeded() }
    backoff.failed()
    slowStart.restart()
  }

  private func act(on consequence: GoAwayNotice.Consequence, on reactor: isolated Reactor) {
    switch consequence {
    case .reconnect: shortenWaits(on: reactor)
    case .reconnectWhenNeeded:
      demand.settle(for: links.count)
      isResting = links.isEmpty && queue.isEmpty
      shortenWaits(on: reactor)
    case .configurationFault(let reason):
      configurationFault = reason
      backoff.refused()
      slowStart.restart()
      isResting = true
      if links.isEmpty { queue.end() }
    }
  }

  /// Pushes that waited for a stream now wait for a connection, for a shorter time.
  private func shortenWaits(on reactor: isolated Reactor) {
    if usableLinks == 0 { queue.shorten(to: connectionDeadline, on: reactor) }
  }
}

extension HTTP2ConnectionState {
  fileprivate var notice: GoAwayNotice? {
    if case .draining(.goAway(let goAway)) = self { GoAwayNotice(goAway) } else { nil }
  }

  fileprivate var words: String {
    switch self {
    case .ready: "connected"
    case .draining(.goAway(let goAway)): "APNs ended the connection: \(GoAwayNotice(goAway).words)"
    case .draining(.streamIDsExhausted): "the connection's stream ids are used up"
    case .draining(.requested): "the connection was closed on this side"
    case .closed(let error): "the connection to APNs was lost: \(error)"
    }
  }

  /// A GOAWAY that names a request says that APNs took it, even if its answer has not been read yet.
  fileprivate var provesWork: Bool {
    guard case .draining(.goAway(let goAway)) = self else { return false }
    return goAway.lastStreamID > 0 && goAway.lastStreamID < .max
  }
}
