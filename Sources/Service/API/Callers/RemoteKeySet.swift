package import HTTPTransfers
internal import HTTPTypes
package import Logging
package import Reactors
internal import Synchronization

/// The key set of `JWKS_URL`, shared by all reactors.
///
/// Fetched when it is first needed, every ten minutes while it is used, and for a key that it does not have, at most once a
/// minute; all callers wait for the same fetch. While the source is down the last set serves, however long.
package final class RemoteKeySet: Sendable {
  /// How long a fetch may take, and so a request may wait for one.
  private static let fetchLimit = Duration.seconds(10)
  /// The largest document. 256 KiB: sets have one to some kilobytes, with certificate chains some more.
  private static let documentBytesMax = 256 * 1024

  private struct Shared {
    var state = KeySetState()
    var waiters: [UnsafeContinuation<Void, Never>] = []
    /// What the last fetch failed with; nil when it did not.
    var fault: String?
  }

  private let url: String
  private let transfers: ReactorBound<HTTPTransferClient>
  private let logger: Logger
  private let clock: @Sendable () -> UInt64
  private let shared = Mutex(Shared())

  /// Fetches nothing yet.
  /// - Parameters:
  ///   - url: `https`, or `http` in a network that is trusted.
  ///   - transfers: fetches, on its own reactor.
  ///   - clock: monotonic nanoseconds.
  package init(
    url: String, transfers: ReactorBound<HTTPTransferClient>, logger: Logger,
    clock: @escaping @Sendable () -> UInt64 = { Reactor.now }
  ) {
    self.url = url
    self.transfers = transfers
    self.logger = logger
    self.clock = clock
  }

  /// Why no client's token can be verified; nil once there has been a set.
  package var readinessDetail: String? {
    shared.withLock { $0.state.hasSet ? nil : "no key set has been had yet" + ($0.fault.map { ": \($0)" } ?? "") }
  }

  /// The set's generation, which changes with the set. One that has grown old is fetched again behind this.
  func use() -> Int {
    let (generation, refreshes) = shared.withLock { ($0.state.generation, $0.state.refresh(now: clock())) }
    if refreshes { beginFetch() }
    return generation
  }

  package func warmUp() {
    if shared.withLock({ $0.state.begin(now: clock()) }) { beginFetch() }
  }

  /// Finds a key, if need be after a fetch; the caller goes on where it was.
  /// - Returns: the key and the set's generation.
  func key(_ name: KeySet.Name) async throws(ClientTokenError) -> (VerificationKey, generation: Int) {
    let step = shared.withLock { $0.state.look(for: name, now: clock()) }
    guard case .wait(let begins) = step else { return try outcome(of: step) }
    if begins { beginFetch() }
    await fetchEnds()
    return try outcome(of: shared.withLock { $0.state.find(name) })
  }

  private func outcome(of step: KeySetState.Step) throws(ClientTokenError) -> (VerificationKey, generation: Int) {
    switch step {
    case .use(let key, let generation, let refreshes):
      if refreshes { beginFetch() }
      return (key, generation)
    case .unknown: throw .invalid("its key is not known")
    case .unavailable: throw ClientTokenError(.unavailable, "the key set cannot be had")
    case .wait: preconditionFailure("a key was looked for twice and is still to be waited for")
    }
  }

  private func fetchEnds() async {
    await withUnsafeContinuation { continuation in
      let isOver = shared.withLock { shared in
        if shared.state.isFetching { shared.waiters.append(continuation) }
        return !shared.state.isFetching
      }
      if isOver { continuation.resume() }
    }
  }
}

// The fetch, on the reactor of the transfers. The state knows that it runs until it is taken or failed.
extension RemoteKeySet {
  private func beginFetch() {
    transfers.submit { await self.fetch(over: $0, on: $1) }
  }

  private func fetch(over client: HTTPTransferClient, on reactor: isolated Reactor) async {
    do throws(HTTPTransferError) {
      let request = HTTPTransferRequest(
        url: url, fields: [.accept: "application/json"], deadline: Self.fetchLimit,
        bodyBytesMax: Self.documentBytesMax)
      await take(try await client.send(request, on: reactor))
    } catch {
      fail(error.debugDescription)
    }
  }

  private func take(_ response: HTTPTransferResponse) async {
    guard response.status == .ok else { return fail("status \(response.status.code)") }
    guard let set = try? KeySet(response.body) else { return fail("the answer is no key set") }
    guard !set.keys.isEmpty else { return fail("the key set has no usable key") }
    let isNew = end { $0.take(set, response.body, now: clock()) }
    if isNew {
      logger.notice("key set taken", metadata: ["keys": "\(set.keys.keys.map(\.kid).sorted().joined(separator: " "))"])
    }
  }

  private func fail(_ fault: String) {
    let hasSet = end(fault) { state in
      state.fail()
      return state.hasSet
    }
    logger.warning(
      hasSet
        ? "the key set cannot be fetched, the last one serves until it can"
        : "the key set cannot be fetched, and clients' tokens cannot be verified",
      metadata: ["error": "\(fault)"])
  }

  private func end<Value: Sendable>(_ fault: String? = nil, _ change: (inout KeySetState) -> Value) -> Value {
    let (value, waiters) = shared.withLock { shared in
      shared.fault = fault
      defer { shared.waiters = [] }
      return (change(&shared.state), shared.waiters)
    }
    for waiter in waiters { waiter.resume() }
    return value
  }
}
