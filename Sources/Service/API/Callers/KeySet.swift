internal import Cryptography
internal import FoundationEssentials
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

/// What is known of a remote key set, and when it is to be fetched again.
///
/// Values in, values out: the clock is the caller's, monotonic, in nanoseconds.
struct KeySetState {
  /// What a request for a key leads to.
  enum Step {
    /// This key, of the set of this generation; a new set is to be fetched behind it if asked for.
    case use(VerificationKey, generation: Int, refreshes: Bool)
    /// The end of a fetch is to be waited for, which is to be begun if asked for.
    case wait(begins: Bool)
    case unknown
    /// There has been no set yet.
    case unavailable
  }

  /// A set older than this is fetched anew when it is used. Ten minutes: as long as Supabase lets its set be cached, and so
  /// the time after which a withdrawn key is refused.
  static let refreshAge: UInt64 = 600_000_000_000
  /// From one fetch to the next because of an unknown key, which any caller can make up. A minute.
  static let fetchInterval: UInt64 = 60_000_000_000
  /// The same as long as there has been no set. Five seconds, which is the `Retry-After` of callers.
  static let firstFetchInterval: UInt64 = 5_000_000_000

  private(set) var generation = 0
  private(set) var isFetching = false
  private var keySet: KeySet?
  private var document: [UInt8] = []
  private var takenAt: UInt64 = 0
  private var begunAt: UInt64?

  var hasSet: Bool { keySet != nil }

  /// Looks for a key. Where the step says so, the fetch counts as begun.
  mutating func look(for name: KeySet.Name, now: UInt64) -> Step {
    if let key = keySet?.keys[name] {
      return .use(key, generation: generation, refreshes: refresh(now: now))
    }
    if isFetching { return .wait(begins: false) }
    if begin(now: now) { return .wait(begins: true) }
    return hasSet ? .unknown : .unavailable
  }

  /// Looks for a key after a fetch; nothing is waited for again.
  func find(_ name: KeySet.Name) -> Step {
    guard let keySet else { return .unavailable }
    guard let key = keySet.keys[name] else { return .unknown }
    return .use(key, generation: generation, refreshes: false)
  }

  /// Begins a fetch where there is a set that has grown old.
  mutating func refresh(now: UInt64) -> Bool {
    hasSet && now - takenAt >= Self.refreshAge && begin(now: now)
  }

  /// Begins a fetch unless one runs or has begun a short while ago.
  mutating func begin(now: UInt64) -> Bool {
    let interval = hasSet ? Self.fetchInterval : Self.firstFetchInterval
    if isFetching { return false }
    if let begunAt, now - begunAt < interval { return false }
    begunAt = now
    isFetching = true
    return true
  }

  /// The fetch has brought a set with keys.
  /// - Parameter document: its text; the same text is the same set.
  /// - Returns: whether it is another set than before.
  mutating func take(_ set: KeySet, _ document: [UInt8], now: UInt64) -> Bool {
    isFetching = false
    takenAt = now
    guard keySet == nil || document != self.document else { return false }
    keySet = set
    self.document = document
    generation += 1
    return true
  }

  /// The fetch has brought nothing; the last set stays.
  mutating func fail() { isFetching = false }
}

/// The usable keys of a JSON Web Key Set (RFC 7517).
struct KeySet: Sendable {
  /// What chooses a key: both, so that a key of one kind is never found for the other.
  struct Name: Hashable, Sendable {
    let kid: String
    let algorithm: VerificationKey.Algorithm
  }

  /// Keys taken of a set. 100: issuers have one to three.
  static let keysMax = 100

  private(set) var keys: [Name: VerificationKey] = [:]

  /// Reads a set. What is not usable is left out: keys of other kinds and uses, weak ones, and those without a name. Of
  /// several with the same name and algorithm the first is taken.
  /// - Throws: when the document is no key set.
  init(_ document: [UInt8]) throws {
    let document = try JSONDecoder().decode(Document.self, from: Data(document))
    for key in document.keys where keys.count < Self.keysMax {
      guard let key = key.key, let kid = key.usableName, let usable = key.verificationKey else { continue }
      let name = Name(kid: kid, algorithm: usable.algorithm)
      if keys[name] == nil { keys[name] = usable }
    }
  }

  private struct Document: Decodable {
    let keys: [Entry]
  }

  /// A key, or anything else in its place.
  private struct Entry: Decodable {
    let key: PublishedKey?

    init(from decoder: any Decoder) {
      key = try? PublishedKey(from: decoder)
    }
  }
}

/// One key as it is published; RFC 7518 section 6 names the members.
private struct PublishedKey: Decodable {
  let kty: String
  let kid: String?
  let use: String?
  let keyOps: [String]?
  let alg: String?
  let crv: String?
  let x: String?
  let y: String?
  let n: String?
  let e: String?

  enum CodingKeys: String, CodingKey {
    case kty, kid, use, alg, crv, x, y, n, e
    case keyOps = "key_ops"
  }

  /// The name of a key that is meant for signatures.
  var usableName: String? {
    guard let kid, !kid.isEmpty, use ?? "sig" == "sig", keyOps?.contains("verify") ?? true else { return nil }
    return kid
  }

  /// The key with its one algorithm; nil for one that is malformed, weak, or of another kind.
  var verificationKey: VerificationKey? {
    switch (kty, alg) {
    case ("EC", "ES256"), ("EC", nil):
      guard crv == "P-256", let x = bytes(x), let y = bytes(y) else { return nil }
      return (try? P256PublicKey(x: x, y: y)).map(VerificationKey.es256)
    case ("RSA", "RS256"), ("RSA", nil):
      guard let n = bytes(n), let e = bytes(e) else { return nil }
      return (try? RSAPublicKey(modulus: n, exponent: e)).map(VerificationKey.rs256)
    default: return nil
    }
  }

  private func bytes(_ text: String?) -> [UInt8]? { text.flatMap { Base64URL.decode($0.utf8) } }
}

/// A key bound to the one algorithm it is used with, so that no token can choose another for it (RFC 8725 section 3.1).
enum VerificationKey: Sendable {
  /// The shared secret of HS256, at least 32 bytes.
  case hs256(HMACSHA256)
  case es256(P256PublicKey)
  /// A public RSA key of 2048 to 8192 bits.
  case rs256(RSAPublicKey)

  /// The algorithms whose tokens are looked at.
  enum Algorithm: String, Sendable {
    case hs256 = "HS256"
    case es256 = "ES256"
    case rs256 = "RS256"
  }

  var algorithm: Algorithm {
    switch self {
    case .hs256: .hs256
    case .es256: .es256
    case .rs256: .rs256
    }
  }

  /// Whether the token is signed with this key. A signature of the wrong form or length is wrong (RFC 7518 section 3).
  func hasSigned(_ token: CompactToken) -> Bool {
    switch self {
    case .hs256(let key): key.isValid(token.signature, for: token.signed)
    case .es256(let key): ES256Signature(raw: token.signature).map { key.verifies($0, of: token.signed) } ?? false
    case .rs256(let key): key.verifies(token.signature, of: token.signed)
    }
  }
}
