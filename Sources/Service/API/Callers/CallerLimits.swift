package import HTTP1
internal import HTTPTypes
package import Logging
package import Reactors
internal import Synchronization

/// Counts and logs peers that fail to prove who they are, and limits how often they may try; for all reactors. Each kind of
/// proof has a separate gate, so that a misconfigured webhook does not hide a guessed log-in.
///
/// It is asked after the proof has failed, never before: a right secret passes however many wrong ones came before it from
/// the same address. An IPv6 peer is its /64, the least that one host is given. Callers over a Unix socket are processes of
/// this machine: they never have to wait, and the log counts all of them together.
package final class FailureGate: Sendable {
  private let books = Mutex(FailureBooks<IPNetwork?>())
  private let proof: String
  private let logger: Logger

  /// - Parameter proof: what a caller must show, for the log, such as `webhook secret`.
  package init(for proof: String, logger: Logger) {
    self.proof = proof
    self.logger = logger
  }

  /// Counts a request without a valid proof. The log gets a line for each peer and minute, and nothing of what was sent.
  ///
  /// - Returns: 429 with `Retry-After` for a peer that has failed more often than it may; nil for any other.
  package func recordFailure(of client: IPAddress?) -> ProblemDetails? {
    let peer = client.map(IPNetwork.init(ofHost:))
    let (wait, count) = books.withLock { $0.fail(peer, now: Reactor.now) }
    if let count {
      let name = client?.description ?? "unix"
      logger.warning("no valid proof", metadata: ["proof": "\(proof)", "peer": "\(name)", "count": "\(count)"])
    }
    guard let wait, client != nil else { return nil }
    return ProblemDetails(
      .tooManyRequests, detail: "Too many requests from this address had no valid \(proof).",
      fields: [.retryAfter: "\(wait.wholeSeconds)"])
  }
}

/// What is remembered of peers that failed to prove who they are: a token bucket, and when the log last had a line.
///
/// A failure takes a token; without one it is answered 429 instead of 401.
///
/// Values in, values out: the clock is the caller's, monotonic, in nanoseconds.
struct FailureBooks<Peer: Hashable & Sendable>: Sendable {
  struct Limits: Sendable {
    /// 10 failures in a row: a person who tries out a new secret does not meet it. A further one every 6 s.
    var rate = TokenBucket.Rate(burst: 10, refillNanoseconds: 6_000_000_000)
    /// Peers of a generation. 4096: half a megabyte for both.
    var peersMax = 4096
  }

  private struct Account {
    var bucket = TokenBucket()
    var line = MinuteLine()
  }

  private let limits: Limits
  private var accounts: BoundedBook<Peer, Account>

  init(_ limits: Limits = Limits()) {
    self.limits = limits
    accounts = BoundedBook(generationMax: limits.peersMax)
  }

  var count: Int { accounts.count }

  /// Counts a failure.
  ///
  /// - Returns: how long the peer has to wait, nil while it has tokens; and how many failures the next line of the log counts,
  ///   with this one, nil while the last line is less than a minute old.
  mutating func fail(_ peer: Peer, now: UInt64) -> (wait: Duration?, told: Int?) {
    var account = accounts[peer] ?? Account()
    let wait = account.bucket.wait(for: 1, limits.rate, now: now)
    account.bucket.take(1, limits.rate, now: now)
    let told = account.line.note(now: now)
    accounts.remember(account, of: peer)
    return (wait, told)
  }
}

/// Limits what each user of an app asks of the service: a rate of requests, and one write at a time; for all reactors. Users
/// share the database's sessions, so a single user must not take all of them.
package final class ClientRequests: Sendable {
  package struct Load: Sendable {
    /// Tokens of the user's bucket.
    let cost: Int
    /// Whether it is refused while another such request of the user is under way.
    let isExclusive: Bool

    /// A small read, or a write that is batched with other users' writes.
    package static let look = Load(cost: 1, isExclusive: false)
    /// Locks and writes rows of the user.
    package static let write = Load(cost: 1, isExclusive: true)
    /// Makes a document of up to a thousand elements.
    package static let documentRead = Load(cost: 10, isExclusive: false)
    /// Parses and replaces such a document: tens of milliseconds of the database.
    package static let documentWrite = Load(cost: 25, isExclusive: true)
  }

  private struct Books {
    var buckets: BoundedBook<String, TokenBucket>
    /// Users with a write under way: no more than there are connections.
    var writing: Set<String> = []
  }

  private let rate: TokenBucket.Rate
  private let books: Mutex<Books>

  /// - Parameters:
  ///   - rate: of each user. 200 tokens, 50 more each second: an app reports what its user looks at every 15 s, and what was
  ///     read as fast as the user scrolls.
  ///   - usersMax: users of a generation. 16 384: 2 MB for both.
  package init(rate: TokenBucket.Rate = .init(burst: 200, refillNanoseconds: 20_000_000), usersMax: Int = 16_384) {
    self.rate = rate
    books = Mutex(Books(buckets: BoundedBook(generationMax: usersMax)))
  }

  /// Takes the tokens of a request, before its content is read.
  package func begin(_ load: Load, of user: String) throws(ProblemDetails) {
    let wait = books.withLock { books -> Duration? in
      let now = Reactor.now
      var bucket = books.buckets[user] ?? TokenBucket()
      if let wait = bucket.wait(for: load.cost, rate, now: now) { return wait }
      bucket.take(load.cost, rate, now: now)
      books.buckets.remember(bucket, of: user)
      return nil
    }
    if let wait { throw .tooMany("The user asks too often.", after: wait) }
  }

  /// Takes the tokens of a request, and gives what handles it: one write of the user at a time.
  func admit(_ user: String, _ load: Load, _ handler: @escaping RouteHandler) throws(ProblemDetails) -> RouteHandler {
    try begin(load, of: user)
    guard load.isExclusive else { return handler }
    return { request, services, reactor in
      try self.beginWrite(of: user)
      defer { self.endWrite(of: user) }
      return try await handler(request, services, reactor)
    }
  }

  /// Refuses a write while another one of the user is under way.
  func beginWrite(of user: String) throws(ProblemDetails) {
    guard books.withLock({ $0.writing.insert(user).inserted }) else {
      throw .tooMany("Another write of the user is under way.", after: .seconds(1))
    }
  }

  func endWrite(of user: String) { books.withLock { _ = $0.writing.remove(user) } }
}

extension ProblemDetails {
  fileprivate static func tooMany(_ detail: String, after wait: Duration) -> ProblemDetails {
    ProblemDetails(.tooManyRequests, detail: detail, fields: [.retryAfter: "\(wait.wholeSeconds)"])
  }
}

/// A token bucket: limits how often something may happen, with a burst and a rate.
///
/// The clock is the caller's, monotonic, in nanoseconds.
package struct TokenBucket: Sendable {
  package struct Rate: Sendable {
    let burst: Int
    /// Until a used token is replaced.
    let refillNanoseconds: UInt64

    package init(burst: Int, refillNanoseconds: UInt64) {
      self.burst = burst
      self.refillNanoseconds = refillNanoseconds
    }
  }

  private var fullAt: UInt64 = 0

  /// How long until so many tokens are there; nil when they are.
  /// - Parameter count: at most the burst.
  func wait(for count: Int, _ rate: Rate, now: UInt64) -> Duration? {
    guard fullAt > now else { return nil }
    // The tokens are there when no more than the others are missing.
    let missing = fullAt - now
    let allowed = UInt64(rate.burst - count) * rate.refillNanoseconds
    return missing > allowed ? .nanoseconds(Int64(missing - allowed)) : nil
  }

  /// Takes tokens; an empty bucket stays empty.
  mutating func take(_ count: Int, _ rate: Rate, now: UInt64) {
    let emptyAt = now + UInt64(rate.burst) * rate.refillNanoseconds
    fullAt = min(max(fullAt, now) + UInt64(count) * rate.refillNanoseconds, emptyAt)
  }
}

/// A bounded dictionary of two generations: when the younger is full it becomes the older, and that one is forgotten. So the
/// bound needs no search, and entries that are used again stay.
struct BoundedBook<Key: Hashable & Sendable, Entry: Sendable>: Sendable {
  private let generationMax: Int
  private var younger: [Key: Entry] = [:]
  private var older: [Key: Entry] = [:]

  /// - Parameter generationMax: entries of a generation.
  init(generationMax: Int) { self.generationMax = generationMax }

  var count: Int { younger.count + older.count }

  subscript(key: Key) -> Entry? { younger[key] ?? older[key] }

  mutating func remember(_ entry: Entry, of key: Key) {
    if younger[key] == nil, younger.count >= generationMax {
      older = younger
      younger = [:]
    }
    older[key] = nil
    younger[key] = entry
  }

  /// Keeps an entry that was used for another generation. Without a write where it is in the younger one.
  mutating func refresh(_ key: Key) {
    if younger[key] == nil, let entry = older[key] { remember(entry, of: key) }
  }

  mutating func forget(_ key: Key) {
    younger[key] = nil
    older[key] = nil
  }
}

extension Duration {
  /// In seconds, a started one counted whole: what Retry-After takes.
  var wholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
