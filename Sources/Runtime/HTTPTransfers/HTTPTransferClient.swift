internal import CLibcurl
internal import DequeModule
package import Reactors

/// An HTTP client over libcurl, on one reactor.
/// For small calls, such as key sets, language models and pushes to browsers. Keeps idle connections for the next call to the
/// same server.
/// Does not block the reactor: names are resolved on other threads, and everything else is readiness and timers.
package final class HTTPTransferClient {
  private let configuration: HTTPTransferConfiguration
  private let multi: MultiHandle
  let addresses: AddressBook
  private var waiting = Deque<Transfer>()
  /// Transfers that are resolving or running.
  private var active: [Transfer] = []
  private var isClosed = false
  private var drainWaiters: [Signal] = []

  /// Makes a client without connections. Its methods must be called on the same reactor.
  package init(_ configuration: HTTPTransferConfiguration = HTTPTransferConfiguration(), on reactor: isolated Reactor) {
    self.configuration = configuration
    multi = MultiHandle(configuration, on: reactor)
    addresses = AddressBook(keepingFor: configuration.addressesLifetime)
    multi.client = self
  }

  package var pendingCount: Int { active.count + waiting.count }

  /// Sends a request and waits for the whole answer. Cancelling the calling task ends the transfer.
  /// - Throws: ``HTTPTransferError``. Every status is an answer, not an error.
  package func send(
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
  package func drain(within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    if pendingCount == 0 { return true }
    let signal = Signal()
    drainWaiters.append(signal)
    defer { drainWaiters.removeAll { $0 === signal } }
    return await signal.wait(for: limit, on: reactor)
  }

  /// Cancels pending transfers and closes all connections. Closing twice does nothing.
  package func close(on reactor: isolated Reactor) {
    isClosed = true
    for transfer in waiting + active {
      finish(transfer, .failure(HTTPTransferError(.closed)), on: reactor)
    }
    multi.close(on: reactor)
  }
}

// A transfer waits for its turn, is resolved, runs, and ends.
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

  /// Starts waiting transfers, in the order of the calls, up to the limit.
  private func admit(on reactor: isolated Reactor) {
    while active.count < configuration.transfersMax, let transfer = waiting.popFirst() {
      active.append(transfer)
      transfer.stage = .resolving
      reactor.start { await self.resolve(transfer, on: reactor) }
    }
  }

  private func resolve(_ transfer: Transfer, on reactor: isolated Reactor) async {
    do throws(ResolutionError) {
      begin(transfer, at: try await addresses.addresses(of: transfer.target, on: reactor))
    } catch {
      finish(transfer, .failure(HTTPTransferError(.unresolved, error.reason)), on: reactor)
    }
  }

  private func begin(_ transfer: Transfer, at addresses: [SocketAddress]) {
    // The caller may have given up meanwhile.
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

  /// The transfer of this easy handle has ended, and the handle has left the multi handle. Called outside libcurl's callbacks.
  func transferEnded(_ easy: EasyHandle, _ code: CURLcode, on reactor: isolated Reactor) {
    guard let transfer = active.first(where: { $0.isRunning(easy) }) else { return }
    let result = easy.result(of: code)
    if case .failure(let error) = result, error.isOfConnecting { addresses.forget(transfer.target) }
    finish(transfer, result, on: reactor)
  }
}

private final class Transfer {
  enum Stage {
    /// The client runs as many transfers as it may.
    case waiting
    case resolving
    case running(EasyHandle)
    case ended(Result<HTTPTransferResponse, HTTPTransferError>)
  }

  let request: HTTPTransferRequest
  let target: TransferTarget
  var stage = Stage.waiting

  /// Given once, when the transfer has ended.
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

package struct HTTPTransferConfiguration: Equatable, Sendable {
  /// Concurrent transfers, each on a separate connection unless the server multiplexes; more wait. 16: calls to key sets and
  /// language models are rare, and a hanging server must not take descriptors without a bound.
  package var transfersMax = 16
  /// Waiting transfers; more are refused. 256: about as many as the deadlines of most callers would let run.
  package var waitingMax = 256
  /// Whether to offer HTTP/2 on connections with TLS, where one connection carries many transfers. A server that goes away may
  /// leave some of them unprocessed, and they end with ``HTTPTransferError/Code/connectionLost`` like processed ones: for
  /// requests that may be sent twice.
  package var multiplexes = false
  /// Connections to one host and port; transfers beyond them wait for one. Nil for no limit except `transfersMax`.
  package var connectionsPerHostMax: Int?
  /// Idle connections kept for later transfers; nil for as many as `transfersMax`.
  package var idleConnectionsMax: Int?
  /// How long the addresses of a host are used for further transfers. Zero looks them up for each, also where a kept connection
  /// serves it: right for few calls. Each connection is judged by its address in any case.
  package var addressesLifetime = Duration.zero
  package var trust = HTTPTransferTrust.system
  package var reach = HTTPTransferReach()
  package var userAgent = "tacet"

  package init() {}
}

/// The certificate authorities that a client trusts. It always verifies certificates and host names.
package enum HTTPTransferTrust: Sendable, Equatable {
  case system
  /// Only these, as PEM text.
  case only(String)
}

/// The addresses of hosts, each looked up once at a time and kept for a short while. Belongs to one reactor.
/// A lookup holds a thread of the global executor, of which there are as many as processors. Without keeping, a thousand requests
/// a second to one host would be as many lookups.
final class AddressBook {
  /// Hosts kept. Further ones are looked up each time.
  private static let hostsMax = 256

  private struct Name: Hashable {
    let host: String
    let port: UInt16
  }

  /// A lookup under way, and who waits for it.
  private final class Lookup {
    var result: Result<[SocketAddress], ResolutionError>?
    var waiters: [Signal] = []
  }

  private(set) var lookupCount = 0

  private let lifetime: Duration
  private var known: [Name: (addresses: [SocketAddress], until: UInt64)] = [:]
  private var lookups: [Name: Lookup] = [:]

  /// - Parameter lifetime: how long addresses are kept; zero looks up for each request.
  init(keepingFor lifetime: Duration) { self.lifetime = lifetime }

  /// The addresses of a host, in the order that the system prefers. Failures are not kept.
  func addresses(of target: TransferTarget, on reactor: isolated Reactor) async throws(ResolutionError)
    -> [SocketAddress]
  {
    let name = Name(host: target.host, port: target.port)
    guard lifetime > .zero else { return try await look(name) }
    if let kept = known[name], kept.until > Reactor.now { return kept.addresses }
    let lookup = lookups[name] ?? begin(name, on: reactor)
    if lookup.result == nil {
      let signal = Signal()
      lookup.waiters.append(signal)
      _ = await signal.wait(on: reactor)
    }
    guard let result = lookup.result else { preconditionFailure("a lookup ended without a result") }
    return try result.get()
  }

  /// Forgets a host whose addresses did not work.
  func forget(_ target: TransferTarget) { known[Name(host: target.host, port: target.port)] = nil }

  private func look(_ name: Name) async throws(ResolutionError) -> [SocketAddress] {
    lookupCount += 1
    return try await Resolver.addresses(of: name.host, port: name.port)
  }

  private func begin(_ name: Name, on reactor: isolated Reactor) -> Lookup {
    let lookup = Lookup()
    lookups[name] = lookup
    reactor.start {
      lookup.result = await Result(awaiting: { () async throws(ResolutionError) in try await self.look(name) })
      self.end(lookup, of: name, on: reactor)
    }
    return lookup
  }

  private func end(_ lookup: Lookup, of name: Name, on reactor: isolated Reactor) {
    lookups[name] = nil
    let now = Reactor.now
    if known.count >= Self.hostsMax { known = known.filter { $0.value.until > now } }
    if case .success(let addresses) = lookup.result, known.count < Self.hostsMax {
      known[name] = (addresses, now + UInt64(lifetime / .nanoseconds(1)))
    } else {
      known[name] = nil
    }
    for waiter in lookup.waiters { waiter.signal(on: reactor) }
  }
}
