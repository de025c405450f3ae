internal import DequeModule
public import Reactors
internal import TLSStreams

/// A client's HTTP/2 connection over TLS: many requests at once, each with an outcome that says whether it may be sent
/// again.
///
/// Belongs to one reactor. It lives until it is closed by either side, also when nobody refers to it; it never
/// reconnects. Requests of one tick leave in few TLS records at the tick's end.
public final class HTTP2Connection {
  /// Where the connection is in its life.
  public internal(set) var state = HTTP2ConnectionState.ready

  /// Told of changes of ``state``.
  public weak var observer: (any HTTP2ConnectionObserver)?

  /// Requests of one tick that do not wait for its end together: with bodies of 250 bytes, as many as fill a TLS record.
  private static let burstRequests = 32

  let configuration: HTTP2ClientConfiguration
  let authority: [UInt8]
  let session: Session
  let link: Link

  /// Requests without a stream, oldest first.
  var waiting = Deque<ClientStream>()
  /// By stream id: on the wire, or about to be.
  var streams: [Int32: ClientStream] = [:]
  /// What the server allows.
  var serverStreamsMax: Int
  var hasServerSettings = false
  var goAway: HTTP2GoAway?
  /// A change of state that a callback made, to be told when the reactor is at hand.
  var stateIsUntold = false
  /// The same for what the connection can take.
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

  /// Requests that may be on the wire at once, now.
  public var streamsMax: Int { min(serverStreamsMax, configuration.streamsMax) }

  /// Whether the answer to a PING is late: the connection may be dead, and new requests had better take another one.
  public var isSuspect: Bool { liveness.isSuspect }

  /// Requests on the wire, including cancelled ones that the server has not closed.
  public var openStreams: Int { streams.count }

  /// Requests that wait for a stream.
  public var waitingRequests: Int { waiting.count }

  /// Sends a request and waits for its outcome. Never throws: what can go wrong is in the outcome.
  ///
  /// Cancelling the task does not end the wait; `limit` does.
  /// - Parameter limit: counts from now, the wait for a stream included.
  public func send(
    _ request: HTTP2Request, within limit: Duration, on reactor: isolated Reactor
  ) async -> HTTP2Outcome {
    await send(request, until: Reactor.now &+ limit.wholeNanoseconds, on: reactor)
  }

  /// Sends a request and waits for its outcome.
  /// - Parameter deadline: in monotonic nanoseconds, as ``Reactor/now``. From then on the request is not put on the wire.
  ///
  /// Inlined where it is called: an asynchronous call looks up the task's executor twice, under a lock.
  @inlinable @inline(__always)
  public func send(
    _ request: HTTP2Request, until deadline: UInt64, on reactor: isolated Reactor
  ) async -> HTTP2Outcome {
    await withUnsafeContinuation { send(request, until: deadline, resuming: $0, on: reactor) }
  }

  /// Sends a request.
  /// - Parameter waiter: resumed once, with the outcome; at once for a request that cannot be taken.
  public func send(
    _ request: HTTP2Request, until deadline: UInt64, resuming waiter: UnsafeContinuation<HTTP2Outcome, Never>,
    on reactor: isolated Reactor
  ) {
    if !waiting.isEmpty, waiting.count.isMultiple(of: HTTP2Connection.burstRequests) {
      link.flushFullRecords(on: reactor)
    }
    if let refusal { return waiter.resume(returning: .notProcessed(refusal)) }
    waiting.append(ClientStream(request, deadline: deadline, waiter))
    checkDeadlines(by: deadline, on: reactor)
    link.flushAtTickEnd(on: reactor)
  }

  /// Takes no new requests, and closes after the last answer. Requests that wait for a stream are `notProcessed`.
  public func drain(on reactor: isolated Reactor) {
    guard state == .ready else { return }
    beginDraining(.requested)
    tellState(on: reactor)
    closeIfDrained(on: reactor)
  }

  /// Closes now. Requests on the wire become `unknown`, the others `notProcessed`.
  public func close(on reactor: isolated Reactor) {
    end(.closedLocally, on: reactor)
  }

  /// Why a new request cannot be taken, if so.
  private var refusal: HTTP2Unprocessed? {
    switch state {
    case .ready: waiting.count < configuration.waitingRequestsMax ? nil : .queueFull
    case .draining(.goAway(let goAway)): .goAway(goAway)
    case .draining, .closed: .notSent
    }
  }
}

/// The life of a client connection, in order; `closed` is final.
public enum HTTP2ConnectionState: Equatable, Sendable {
  /// Requests are taken.
  case ready
  /// No new requests; those on the wire may still be answered. The connection closes itself after the last.
  case draining(HTTP2DrainReason)
  /// The end. Every request has its outcome.
  case closed(HTTP2Error)
}

/// Why a connection takes no new requests.
public enum HTTP2DrainReason: Equatable, Sendable {
  /// The server said so.
  case goAway(HTTP2GoAway)
  /// The stream ids are used up.
  case streamIDsExhausted
  /// The owner asked for it.
  case requested
}

/// Told of a client connection's changes, on its reactor.
public protocol HTTP2ConnectionObserver: AnyObject {
  /// The state is another, or a second GOAWAY says more than the first.
  func connection(
    _ connection: HTTP2Connection, changedTo state: HTTP2ConnectionState, on reactor: isolated Reactor)

  /// The server allows another number of streams (``HTTP2Connection/streamsMax``), or the connection has become suspect
  /// or is so no longer (``HTTP2Connection/isSuspect``).
  func connectionCapacityChanged(_ connection: HTTP2Connection, on reactor: isolated Reactor)
}

extension HTTP2ConnectionObserver {
  /// Does nothing.
  public func connectionCapacityChanged(_ connection: HTTP2Connection, on reactor: isolated Reactor) {}
}
