internal import DequeModule
internal import Glibc
package import Reactors

/// A client's HTTP/2 connection over TLS with concurrent requests. The outcome of a request says whether it may be sent again.
/// Belongs to one reactor. Lives until either side closes it, even without a reference to it, and never reconnects. The
/// requests of a tick leave in few TLS records at the tick's end.
package final class HTTP2Connection {
  package internal(set) var state = HTTP2ConnectionState.ready
  package weak var observer: (any HTTP2ConnectionObserver)?

  /// Requests of one tick after which full TLS records leave before its end. With bodies of 250 bytes, as many fill a record.
  private static let burstRequests = 32

  let configuration: HTTP2ClientConfiguration
  let authority: [UInt8]
  let session: Session
  let link: Link

  /// Requests without a stream, oldest first.
  var waiting = Deque<ClientStream>()
  var streams: [Int32: ClientStream] = [:]
  var serverStreamsMax: Int
  var hasServerSettings = false
  var goAway: HTTP2GoAway?
  /// Whether the observer has to be told of the state: callbacks change it without a reactor.
  var stateIsUntold = false
  var capacityIsUntold = false
  var deadlineTimer: TimerToken?
  /// When `deadlineTimer` fires, in monotonic nanoseconds.
  var deadlineCheck = UInt64.max
  var liveness: Liveness
  var livenessTimer: TimerToken?
  /// When `livenessTimer` fires, in monotonic nanoseconds.
  var livenessCheck = UInt64.max

  init(over stream: TLSStream, authority: String, configuration: HTTP2ClientConfiguration) {
    self.configuration = configuration
    self.authority = Array(authority.utf8)
    session = .client(
      limits: Session.Limits(
        fieldsBytesMax: configuration.responseFieldsBytesMax, bodyBytesMax: configuration.responseBodyBytesMax))
    link = Link(stream, session)
    serverStreamsMax = configuration.initialStreamsMax
    liveness = Liveness(configuration, now: Reactor.now)
    session.delegate = self
  }

  package var streamsMax: Int { min(serverStreamsMax, configuration.streamsMax) }

  /// Whether the answer to a PING is late: the connection may be dead, so prefer another one.
  package var isSuspect: Bool { liveness.isSuspect }

  /// Requests on the wire, including cancelled requests whose streams the server has not closed.
  package var openStreams: Int { streams.count }

  package var waitingRequests: Int { waiting.count }

  /// Sends a request and waits for its outcome. Failures are outcomes.
  /// Cancelling the task does not end the wait.
  /// - Parameter limit: the time from now to the response, including the wait for a stream.
  package func send(
    _ request: HTTP2Request, within limit: Duration, on reactor: isolated Reactor
  ) async -> HTTP2Outcome {
    await send(request, until: Reactor.now &+ limit.clampedNanoseconds, on: reactor)
  }

  /// - Parameter deadline: in monotonic nanoseconds, as ``Reactor/now``. The request is not sent after it.
  /// Always inlined: an asynchronous call looks up the task's executor twice, under a lock.
  @inlinable @inline(__always)
  package func send(
    _ request: HTTP2Request, until deadline: UInt64, on reactor: isolated Reactor
  ) async -> HTTP2Outcome {
    await withUnsafeContinuation { send(request, until: deadline, resuming: $0, on: reactor) }
  }

  /// - Parameter waiter: resumed once with the outcome, immediately if the connection refuses the request.
  package func send(
    _ request: HTTP2Request, until deadline: UInt64, resuming waiter: UnsafeContinuation<HTTP2Outcome, Never>,
    on reactor: isolated Reactor
  ) {
    if !waiting.isEmpty, waiting.count.isMultiple(of: Self.burstRequests) {
      link.flushFullRecords(on: reactor)
    }
    if let refusal { return waiter.resume(returning: .notProcessed(refusal)) }
    waiting.append(ClientStream(request, deadline: deadline, waiter))
    checkDeadlines(by: deadline, on: reactor)
    link.flushAtTickEnd(on: reactor)
  }

  /// Refuses new requests, and closes after the last answer. Requests that wait for a stream are `notProcessed`.
  package func drain(on reactor: isolated Reactor) {
    guard state == .ready else { return }
    beginDraining(.requested)
    tellState(on: reactor)
    closeIfDrained(on: reactor)
  }

  /// Closes now. Requests on the wire are `unknown`, the others `notProcessed`.
  package func close(on reactor: isolated Reactor) { end(.closedLocally, on: reactor) }

  private var refusal: HTTP2Unprocessed? {
    switch state {
    case .ready: waiting.count < configuration.waitingRequestsMax ? nil : .queueFull
    case .draining(.goAway(let goAway)): .goAway(goAway)
    case .draining, .closed: .notSent
    }
  }
}

package enum HTTP2ConnectionState: Equatable, Sendable {
  case ready
  /// The connection takes no requests. Those on the wire may still be answered, and the last answer closes the connection.
  case draining(HTTP2DrainReason)
  /// The connection has ended, and every request has its outcome.
  case closed(HTTP2Error)
}

package enum HTTP2DrainReason: Equatable, Sendable {
  case goAway(HTTP2GoAway)
  case streamIDsExhausted
  case requested
}

package protocol HTTP2ConnectionObserver: AnyObject {
  /// The state has changed, or a second GOAWAY says more than the first.
  func connection(
    _ connection: HTTP2Connection, changedTo state: HTTP2ConnectionState, on reactor: isolated Reactor)

  /// The server's limit of streams (``HTTP2Connection/streamsMax``) or ``HTTP2Connection/isSuspect`` has changed.
  func connectionCapacityChanged(_ connection: HTTP2Connection, on reactor: isolated Reactor)
}

extension HTTP2ConnectionObserver {
  package func connectionCapacityChanged(_ connection: HTTP2Connection, on reactor: isolated Reactor) {}
}

extension HTTP2Connection {
  /// Connects, secures the connection and starts HTTP/2.
  ///
  /// Looks the name up each time, and tries its addresses in turn. Each has an equal share of the time that is left.
  /// - Parameters:
  ///   - host: a name or a numeric address. The certificate must be for it.
  ///   - context: a client's context with the protocol `h2`.
  ///   - limit: the time for the whole connect.
  /// - Throws: ``ResolutionError``, ``SystemError`` or ``TLSError``: of the last address, if there are several.
  package static func connect(
    host: String, port: UInt16, context: TLSContext,
    configuration: HTTP2ClientConfiguration = HTTP2ClientConfiguration(),
    observer: (any HTTP2ConnectionObserver)? = nil, within limit: Duration, on reactor: isolated Reactor
  ) async throws -> HTTP2Connection {
    let start = Reactor.now
    var addresses = try await lookUp(host, port: port, within: limit, on: reactor)[...]
    while let address = addresses.popFirst() {
      let share = (limit - .nanoseconds(Reactor.now - start)) / (addresses.count + 1)
      do {
        let stream = try await secure(address, host: host, context: context, within: share, on: reactor)
        return try open(over: stream, host: host, port: port, configuration, observer, on: reactor)
      } catch  where !addresses.isEmpty {
        continue
      }
    }
    throw SystemError(operation: "resolve \(host)", code: EADDRNOTAVAIL)
  }

  private static func secure(
    _ address: SocketAddress, host: String, context: TLSContext, within limit: Duration, on reactor: isolated Reactor
  ) async throws -> TLSStream {
    precondition(context.protocols.contains("h2"), "HTTP/2 over TLS needs ALPN h2 (RFC 9113 §3.2)")
    let start = Reactor.now
    let socket = try await Socket.connect(to: address, within: limit, on: reactor)
    let rest = limit - .nanoseconds(Reactor.now - start)
    return try await TLSStream.connect(over: socket, host: host, context: context, within: rest, on: reactor)
  }

  private static func open(
    over stream: TLSStream, host: String, port: UInt16, _ configuration: HTTP2ClientConfiguration,
    _ observer: (any HTTP2ConnectionObserver)?, on reactor: isolated Reactor
  ) throws -> HTTP2Connection {
    let connection = HTTP2Connection(
      over: stream, authority: authority(host: host, port: port), configuration: configuration)
    connection.observer = observer
    connection.introduce()
    try connection.link.start(for: connection, on: reactor)
    connection.checkLiveness(on: reactor)
    return connection
  }

  /// Waits for the resolver at most until the limit, because a hanging resolver must not hold up the caller.
  private static func lookUp(
    _ host: String, port: UInt16, within limit: Duration, on reactor: isolated Reactor
  ) async throws -> [SocketAddress] {
    if let address = SocketAddress(numericHost: host, port: port) { return [address] }
    let signal = Signal()
    var answer: Result<[SocketAddress], ResolutionError>?
    reactor.start {
      answer = await Result(awaiting: { () async throws(ResolutionError) in
        try await Resolver.addresses(of: host, port: port)
      })
      signal.signal(on: reactor)
    }
    _ = await signal.wait(for: limit, on: reactor)
    guard let answer else { throw SystemError(operation: "resolve \(host)", code: ETIMEDOUT) }
    return try answer.get()
  }

  /// Omits the scheme's default port (RFC 9110 §4.2.3).
  private static func authority(host: String, port: UInt16) -> String {
    let host = host.contains(":") ? "[\(host)]" : host
    return port == 443 ? host : "\(host):\(port)"
  }

  /// Submits the first frames: no server push, and a window for the responses of all streams.
  private func introduce() {
    session.submit([.noPush, .fieldsBytesMax(configuration.responseFieldsBytesMax)])
    session.widenConnectionWindow(to: Self.connectionWindowBytes)
    if configuration.firstStreamID > 1 { session.setNextStreamID(configuration.firstStreamID) }
  }

  /// The connection's flow-control window. Each stream keeps the protocol's 65,535 bytes, the usual limit of a response. 8 MiB
  /// are 8 KiB for each of 1,000 streams, so small responses never wait for an update.
  private static let connectionWindowBytes: Int32 = 8 * 1024 * 1024
}

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

  func linkEnded(_ error: HTTP2Error, on reactor: isolated Reactor) { end(error, on: reactor) }

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
    let cause =
      if case .goAway(let goAway) = reason { HTTP2Unprocessed.goAway(goAway) } else { HTTP2Unprocessed.notSent }
    while let stream = waiting.popFirst() { stream.finish(.notProcessed(cause)) }
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
    reactor.cancel(&deadlineTimer)
    reactor.cancel(&livenessTimer)
    if error == .closedLocally || error == .drained { session.goAway(.noError) }
    link.close(orderly: error != .unresponsive, on: reactor)
    for stream in streams.values {
      stream.finish(stream.isHanded ? .unknown(.connectionLost(error)) : .notProcessed(.notSent))
    }
    streams.removeAll()
    stateIsUntold = true
    tellState(on: reactor)
  }

}

// Deadlines and liveness, with two timers for the whole connection.
//
// A timer for each request would cost a heap entry for each. Requests usually have the same time limit, so when one timer at
// the earliest deadline fires, most requests are done. The timer then moves to the oldest that is left.
extension HTTP2Connection: TimerHandler {
  package func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    if timer == deadlineTimer {
      expire(on: reactor)
    } else if timer == livenessTimer {
      livenessTimer = nil
      checkLiveness(on: reactor)
    }
  }

  func checkDeadlines(by deadline: UInt64, on reactor: isolated Reactor) {
    guard deadline < deadlineCheck else { return }
    reactor.cancel(&deadlineTimer)
    deadlineCheck = deadline
    deadlineTimer = reactor.schedule(after: .until(deadline), self)
  }

  private func expire(on reactor: isolated Reactor) {
    let now = Reactor.now
    deadlineTimer = nil
    deadlineCheck = .max
    for stream in waiting where stream.deadline <= now { stream.finish(.notProcessed(.deadline)) }
    waiting.removeAll { $0.isFinished }
    for stream in streams.values where stream.deadline <= now && !stream.isFinished { cancel(stream) }
    let unfinished = streams.values.lazy.filter { !$0.isFinished }
    let next = (waiting.lazy.map(\.deadline).min(), unfinished.map(\.deadline).min())
    checkDeadlines(by: min(next.0 ?? .max, next.1 ?? .max), on: reactor)
    // A cancelled stream closes when its RST_STREAM is written. Only then is there room for waiting requests.
    link.flushNow(on: reactor)
    link.flushAtTickEnd(on: reactor)
  }

  private func cancel(_ stream: ClientStream) {
    stream.finish(stream.isHanded ? .unknown(.deadline) : .notProcessed(.deadline))
    session.reset(stream.id, .cancel)
  }

  /// Acts on silence, and moves the timer if it is too late. An early timer stays: it costs one check, and moving it would cost
  /// every request.
  func checkLiveness(on reactor: isolated Reactor) {
    switch liveness.check(now: Reactor.now, isBusy: !streams.isEmpty) {
    case .check(let time): checkLiveness(at: time, on: reactor)
    case .ping(let time):
      session.ping()
      link.flushAtTickEnd(on: reactor)
      checkLiveness(at: time, on: reactor)
    case .suspect(let time):
      checkLiveness(at: time, on: reactor)
      capacityIsUntold = true
      tellCapacity(on: reactor)
    case .giveUp: end(.unresponsive, on: reactor)
    }
  }

  private func checkLiveness(at time: UInt64, on reactor: isolated Reactor) {
    if let livenessTimer {
      if livenessCheck <= time { return }
      reactor.cancel(livenessTimer)
    }
    livenessCheck = time
    livenessTimer = reactor.schedule(after: .until(time), self)
  }
}
