internal import HTTP2
internal import Logging
internal import Reactors

// How many connections there are, and when they are opened.
extension APNSConnections {
  /// Opens connections until there are as many as wanted, unless that is under way.
  func connect(on reactor: isolated Reactor) {
    guard needsConnection, !isConnecting else { return }
    isConnecting = true
    reactor.start { await self.keepConnecting(on: reactor) }
  }

  /// Opens another connection when the streams of the present ones stay in use.
  func connectIfBusy(on reactor: isolated Reactor) {
    var (inFlight, streams) = (0, 0)
    for link in links where link.isUsable {
      inFlight += link.inFlight
      if link.isOpenedUp, link.streams > 1 { streams += link.streams }
    }
    let isMoreWanted = demand.wantsMore(
      inFlight: inFlight, streams: streams, connections: links.count, now: Reactor.now)
    if isMoreWanted { connect(on: reactor) }
  }

  /// Closes connections beyond the wanted number, because suspect ones are trusted again: the youngest without pushes, or
  /// else the youngest.
  func closeSurplus(on reactor: isolated Reactor) {
    while usableLinks > demand.wanted {
      let idle = links.lastIndex { $0.isUsable && $0.inFlight == 0 }
      guard let index = idle ?? links.lastIndex(where: \.isUsable) else { return }
      closeLink(at: index, on: reactor)
    }
  }

  private func closeLink(at index: Int, on reactor: isolated Reactor) {
    let link = links.remove(at: index)
    link.connection.drain(on: reactor)
    logger.info(
      "closed a connection to APNs",
      metadata: ["connection": "\(link.number)", "connections": "\(links.count)"])
  }

  private var needsConnection: Bool { !isClosed && !isResting && usableLinks < demand.wanted }

  private func keepConnecting(on reactor: isolated Reactor) async {
    while needsConnection {
      let wait = max(backoff.wait(draw: .random(in: 0..<1)), budget.wait(now: Reactor.now))
      if wait > .zero, await reconsider.wait(for: wait, on: reactor) { continue }
      guard needsConnection else { break }
      await connectOnce(on: reactor)
    }
    isConnecting = false
  }

  private func connectOnce(on reactor: isolated Reactor) async {
    budget.spend(now: Reactor.now)
    do {
      let connection = try await HTTP2Connection.connect(
        host: endpoint.host, port: endpoint.port, context: context, configuration: configuration.http2, observer: self,
        within: configuration.connectLimit, on: reactor)
      guard !isClosed else { return connection.drain(on: reactor) }
      connectionsOpened += 1
      add(APNSLink(connection, number: connectionsOpened, token: tokens.current), on: reactor)
    } catch {
      connectFailed(error)
    }
  }

  private func add(_ link: APNSLink, on reactor: isolated Reactor) {
    lastFailure = nil
    links.append(link)
    logger.info(
      "connected to APNs", metadata: ["connection": "\(link.number)", "connections": "\(links.count)"])
    if links.count > 1, shrinkTimer == nil {
      shrinkTimer = reactor.schedule(after: configuration.shrinkAfter, self)
    }
    // A connection can end before it is listed here.
    connection(link.connection, changedTo: link.connection.state, on: reactor)
    // Another may have recovered meanwhile.
    closeSurplus(on: reactor)
    admitWaiters(on: reactor)
  }

  /// While another connection works, the pool settles for what it has.
  private func connectFailed(_ error: any Error) {
    backoff.failed()
    let words = "cannot connect to \(endpoint.host), port \(endpoint.port): \(error)"
    if usableLinks > 0 {
      demand.settle(for: usableLinks)
      logger.warning("no further connection to APNs", metadata: ["reason": "\(words)"])
    } else {
      slowStart.restart()
      lastFailure = words
      logger.error("cannot connect to APNs", metadata: ["reason": "\(words)"])
    }
  }
}

extension APNSConnections: TimerHandler {
  /// A period without need for the youngest connection closes it.
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    shrinkTimer = nil
    guard links.count > 1 else { return }
    let others = links.dropLast().reduce(0) { $0 + $1.streams }
    let inFlight = links.reduce(0) { $0 + $1.inFlight }
    if demand.endPeriod(inFlight: inFlight, otherStreams: others) {
      closeLink(at: links.count - 1, on: reactor)
      demand.settle(for: links.count)
    }
    if links.count > 1 { shrinkTimer = reactor.schedule(after: configuration.shrinkAfter, self) }
  }
}
