internal import CLibcurl
internal import DequeModule
public import Reactors

/// Asks web servers, over libcurl, on one reactor.
///
/// For calls that are few and small: key sets, language models. Idle connections are kept for the next call to the same
/// server. The reactor's other work goes on meanwhile: names are resolved elsewhere, everything else is readiness and
/// timers.
public final class HTTPTransferClient {
  private let configuration: HTTPTransferConfiguration
  private let multi: MultiHandle
  private var waiting = Deque<Transfer>()
  /// Those that have their turn.
  private var active: [Transfer] = []
  private var isClosed = false
  private var drainWaiters: [Signal] = []

  /// Connects nothing yet. Everything else is to be called on the same reactor.
  public init(_ configuration: HTTPTransferConfiguration = HTTPTransferConfiguration(), on reactor: isolated Reactor) {
    self.configuration = configuration
    multi = MultiHandle(idleConnectionsMax: configuration.transfersMax, on: reactor)
    multi.observer = self
  }

  /// Transfers that run or wait for their turn.
  public var pendingCount: Int { active.count + waiting.count }

  /// Sends a request and waits for the whole answer. Ends early when the calling task is cancelled.
  /// - Throws: ``HTTPTransferError``; an answer with any status is none.
  public func send(
    _ request: HTTPTransferRequest, on reactor: isolated Reactor
  ) async throws(HTTPTransferError) -> HTTPTransferResponse {
    guard !isClosed else { throw HTTPTransferError(.closed) }
    let transfer = try Transfer(request)
    guard active.count < configuration.transfersMax || waiting.count < configuration.waitingMax else {
      throw HTTPTransferError(.tooManyWaiting)
    }
    waiting.append(transfer)
    admit(on: reactor)
    return try await end(of: transfer, on: reactor).get()
  }

  /// Waits until no transfer is left.
  /// - Returns: false when the limit passed first.
  public func drain(within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    if pendingCount == 0 { return true }
    let signal = Signal()
    drainWaiters.append(signal)
    defer { drainWaiters.removeAll { $0 === signal } }
    return await signal.wait(for: limit, on: reactor)
  }

  /// Breaks off what is left and closes all connections. Closing twice does nothing.
  public func close(on reactor: isolated Reactor) {
    isClosed = true
    for transfer in waiting + active {
      finish(transfer, .failure(HTTPTransferError(.closed)), on: reactor)
    }
    multi.close(on: reactor)
  }
}

// A transfer's way: a turn, an address, an answer.
extension HTTPTransferClient {
  private func end(
    of transfer: Transfer, on reactor: isolated Reactor
  ) async -> Result<HTTPTransferResponse, HTTPTransferError> {
    let bound = ReactorBound((self, transfer), on: reactor)
    await withTaskCancellationHandler {
      guard await !transfer.end.wait(for: transfer.request.deadline, on: reactor) else { return }
      finish(transfer, .failure(HTTPTransferError(.timedOut)), on: reactor)
    } onCancel: {
      bound.submit { $0.0.finish($0.1, .failure(HTTPTransferError(.cancelled)), on: $1) }
    }
    guard case .ended(let result) = transfer.stage else { preconditionFailure("a transfer was left without an end") }
    return result
  }

  /// Gives turns while there are some, in the order of the calls.
  private func admit(on reactor: isolated Reactor) {
    while active.count < configuration.transfersMax, let transfer = waiting.popFirst() {
      active.append(transfer)
      transfer.stage = .resolving
      reactor.start { await self.resolve(transfer, on: reactor) }
    }
  }

  private func resolve(_ transfer: Transfer, on reactor: isolated Reactor) async {
    do throws(ResolutionError) {
      let addresses = try await Resolver.addresses(of: transfer.target.host, port: transfer.target.port)
      begin(transfer, at: addresses)
    } catch {
      finish(transfer, .failure(HTTPTransferError(.unresolved, error.reason)), on: reactor)
    }
  }

  private func begin(_ transfer: Transfer, at addresses: [SocketAddress]) {
    // Its caller may have given up meanwhile.
    guard transfer.isResolving else { return }
    let easy = EasyHandle(transfer.request, to: transfer.target, at: addresses, configuration)
    transfer.stage = .running(easy)
    multi.add(easy)
  }

  private func finish(
    _ transfer: Transfer, _ result: Result<HTTPTransferResponse, HTTPTransferError>, on reactor: isolated Reactor
  ) {
    switch transfer.stage {
    case .ended: return
    case .waiting: waiting.removeAll { $0 === transfer }
    case .resolving: active.removeAll { $0 === transfer }
    case .running(let easy):
      active.removeAll { $0 === transfer }
      multi.remove(easy)
    }
    transfer.stage = .ended(result)
    transfer.end.signal(on: reactor)
    admit(on: reactor)
    if pendingCount == 0 { for waiter in drainWaiters { waiter.signal(on: reactor) } }
  }
}

extension HTTPTransferClient: MultiHandleObserver {
  func transferEnded(_ easy: EasyHandle, _ code: CURLcode, on reactor: isolated Reactor) {
    guard let transfer = active.first(where: { $0.isRunning(easy) }) else { return }
    finish(transfer, easy.result(of: code), on: reactor)
  }
}

/// One request on its way through the client.
final class Transfer {
  enum Stage {
    /// For its turn.
    case waiting
    /// The host's name is looked up.
    case resolving
    case running(EasyHandle)
    case ended(Result<HTTPTransferResponse, HTTPTransferError>)
  }

  let request: HTTPTransferRequest
  let target: TransferTarget
  var stage = Stage.waiting

  /// Given once, at the end.
  let end = Signal()

  init(_ request: HTTPTransferRequest) throws(HTTPTransferError) {
    self.request = request
    target = try TransferTarget(request.url)
  }

  var isResolving: Bool {
    if case .resolving = stage { true } else { false }
  }

  func isRunning(_ easy: EasyHandle) -> Bool {
    if case .running(let own) = stage { own === easy } else { false }
  }
}

/// What is the same for all transfers of a client.
public struct HTTPTransferConfiguration: Sendable {
  /// Transfers that run at the same time, each on a connection of its own; more wait for their turn. 16: key sets and
  /// language models are asked seldom, and a server that hangs must not cost descriptors without a bound.
  public var transfersMax = 16

  /// Transfers that wait for their turn; beyond, they are refused. 256: what the time limits of most callers would let
  /// through in the end.
  public var waitingMax = 256

  /// Whose certificates are believed.
  public var trust = HTTPTransferTrust.system

  /// How the client names itself.
  public var userAgent = "tacet"

  /// The standard configuration.
  public init() {}
}

/// Whose certificates a transfer believes. Certificates are always verified, and host names always checked.
public enum HTTPTransferTrust: Sendable, Equatable {
  /// The system's certificate authorities.
  case system
  /// These and no others, as PEM text.
  case only(String)
}
