internal import DequeModule
package import Reactors

/// A client's HTTP/2 connection over TLS with concurrent requests. The outcome of a request says whether it may be sent again.
///
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
  /// Submitted requests by stream id.
  var streams: [Int32: ClientStream] = [:]
  var serverStreamsMax: Int
  var hasServerSettings = false
  var goAway: HTTP2GoAway?
  /// Whether the observer has to be told of the state: callbacks change it without a reactor.
  var stateIsUntold = false
  /// The same for the capacity.
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
  ///
  /// Cancelling the task does not end the wait.
  /// - Parameter limit: the time from now to the response, including the wait for a stream.
  package func send(
    _ request: HTTP2Request, within limit: Duration, on reactor: isolated Reactor
  ) async -> HTTP2Outcome {
    await send(request, until: Reactor.now &+ limit.clampedNanoseconds, on: reactor)
  }

  /// Sends a request and waits for its outcome.
  /// - Parameter deadline: in monotonic nanoseconds, as ``Reactor/now``. The request is not sent after it.
  ///
  /// Always inlined: an asynchronous call looks up the task's executor twice, under a lock.
  @inlinable @inline(__always)
  package func send(
    _ request: HTTP2Request, until deadline: UInt64, on reactor: isolated Reactor
  ) async -> HTTP2Outcome {
    await withUnsafeContinuation { send(request, until: deadline, resuming: $0, on: reactor) }
  }

  /// Sends a request.
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
  package func close(on reactor: isolated Reactor) {
    end(.closedLocally, on: reactor)
  }

  private var refusal: HTTP2Unprocessed? {
    switch state {
    case .ready: waiting.count < configuration.waitingRequestsMax ? nil : .queueFull
    case .draining(.goAway(let goAway)): .goAway(goAway)
    case .draining, .closed: .notSent
    }
  }
}

/// The states of a client connection, in order.
package enum HTTP2ConnectionState: Equatable, Sendable {
  case ready
  /// The connection takes no requests. Those on the wire may still be answered, and the last answer closes the connection.
  case draining(HTTP2DrainReason)
  /// The connection has ended, and every request has its outcome.
  case closed(HTTP2Error)
}

/// Why a connection takes no new requests.
package enum HTTP2DrainReason: Equatable, Sendable {
  case goAway(HTTP2GoAway)
  case streamIDsExhausted
  /// The owner asked for it.
  case requested
}

/// Observes a client connection, on its reactor.
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
