internal import DequeModule
internal import Reactors

// A request waits, is on the wire, and is done.
extension HTTP2Connection: LinkOwner {
  func linkWillWrite(on reactor: isolated Reactor) {
    guard state == .ready, !waiting.isEmpty else { return }
    let now = Reactor.now
    let wasIdle = streams.isEmpty
    while streams.count < streamsMax, let stream = waiting.popFirst() {
      // After a standstill more timers are due than fire in a tick, and the deadline timer may not have fired yet.
      guard now < stream.deadline else {
        stream.finish(.notProcessed(.deadline))
        continue
      }
      guard session.nextStreamID <= UInt32(configuration.streamIDMax), put(stream) else {
        stream.finish(.notProcessed(.notSent))
        beginDraining(.streamIDsExhausted)
        tellState(on: reactor)
        return closeIfDrained(on: reactor)
      }
    }
    if wasIdle && !streams.isEmpty {
      liveness.becameBusy(now: now)
      checkLiveness(on: reactor)
    }
  }

  func linkDidRead(on reactor: isolated Reactor) {
    if liveness.isSuspect { capacityIsUntold = true }
    liveness.heard(now: Reactor.now)
    tellState(on: reactor)
    tellCapacity(on: reactor)
    closeIfDrained(on: reactor)
  }

  func linkEnded(_ error: HTTP2Error, on reactor: isolated Reactor) {
    end(error, on: reactor)
  }

  private func put(_ stream: ClientStream) -> Bool {
    guard session.submit(stream.request, authority: authority, as: stream) else { return false }
    streams[stream.id] = stream
    return true
  }
}

// nghttp2's reports. They come without a reactor, but resuming a request's task only queues it.
extension HTTP2Connection: SessionDelegate {
  func streamOpened(_ id: Int32) -> MessageStream? { nil }

  /// A complete response counts even if the server then resets the stream because it does not need the rest of the request.
  func messageCompleted(_ stream: MessageStream) {
    guard let stream = stream as? ClientStream, stream.isHeadComplete else { return }
    stream.finish(.response(HTTP2Response(status: stream.status, fields: stream.fields, body: stream.body)))
  }

  func streamClosed(_ stream: MessageStream, code: HTTP2ErrorCode) {
    guard let stream = streams.removeValue(forKey: stream.id), !stream.isFinished else { return }
    stream.finish(outcome(of: stream, closedWith: code))
  }

  func messageTooLarge(_ stream: MessageStream) {
    guard let stream = streams[stream.id], !stream.isFinished else { return }
    stream.finish(.unknown(.responseTooLarge))
    session.reset(stream.id, .cancel)
  }

  func requestNotSent(id: Int32, willClose: Bool) {
    streams[id]?.finish(.notProcessed(goAway.map { .goAway($0) } ?? .notSent))
    if !willClose { streams[id] = nil }
  }

  func settingsReceived(streamsMax: Int?) {
    capacityIsUntold = true
    if let streamsMax {
      serverStreamsMax = streamsMax
    } else if !hasServerSettings {
      serverStreamsMax = Int.max  // Without the setting there is no limit (RFC 9113 §6.5.2).
    }
    hasServerSettings = true
  }

  func goAwayReceived(_ goAway: HTTP2GoAway) {
    self.goAway = goAway
    beginDraining(.goAway(goAway))
  }

  /// A refusal after the server has begun to answer proves nothing.
  private func outcome(of stream: ClientStream, closedWith code: HTTP2ErrorCode) -> HTTP2Outcome {
    guard stream.isHanded else { return .notProcessed(.notSent) }
    guard code == .refusedStream, stream.status == 0 else { return .unknown(.reset(code)) }
    if let goAway, stream.id > goAway.lastStreamID { return .notProcessed(.goAway(goAway)) }
    return .notProcessed(.refused)
  }
}

// Draining and the end.
extension HTTP2Connection {
  /// Finishes the waiting requests, so that they can go to another connection at once.
  func beginDraining(_ reason: HTTP2DrainReason) {
    if case .closed = state { return }
    state = .draining(reason)
    stateIsUntold = true
    while let stream = waiting.popFirst() { stream.finish(.notProcessed(unprocessed(by: reason))) }
  }

  func tellState(on reactor: isolated Reactor) {
    guard stateIsUntold else { return }
    stateIsUntold = false
    observer?.connection(self, changedTo: state, on: reactor)
  }

  /// Reports a changed capacity, unless the connection takes no requests.
  func tellCapacity(on reactor: isolated Reactor) {
    guard capacityIsUntold else { return }
    capacityIsUntold = false
    if state == .ready { observer?.connectionCapacityChanged(self, on: reactor) }
  }

  func closeIfDrained(on reactor: isolated Reactor) {
    guard case .draining = state, streams.isEmpty else { return }
    end(.drained, on: reactor)
  }

  /// Finishes the open streams, because nghttp2 does not report them when it is deleted.
  func end(_ error: HTTP2Error, on reactor: isolated Reactor) {
    if case .closed = state { return }
    beginDraining(.requested)
    state = .closed(error)
    cancelTimers(on: reactor)
    if error == .closedLocally || error == .drained { session.goAway(.noError) }
    link.close(orderly: error != .unresponsive, on: reactor)
    for stream in streams.values {
      stream.finish(stream.isHanded ? .unknown(.connectionLost(error)) : .notProcessed(.notSent))
    }
    streams.removeAll()
    stateIsUntold = true
    tellState(on: reactor)
  }

  private func unprocessed(by reason: HTTP2DrainReason) -> HTTP2Unprocessed {
    if case .goAway(let goAway) = reason { .goAway(goAway) } else { .notSent }
  }
}
