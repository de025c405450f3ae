package import HTTP1
internal import HTTPTypes
package import Reactors
internal import Synchronization

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

  /// Handles a request; refuses a write while another one of the user is under way.
  package func perform(
    _ load: Load, of user: String, on reactor: isolated Reactor,
    _ body: (isolated Reactor) async throws -> HTTPServerResponse
  ) async throws -> HTTPServerResponse {
    guard load.isExclusive else { return try await body(reactor) }
    guard books.withLock({ $0.writing.insert(user).inserted }) else {
      throw ProblemDetails.tooMany("Another write of the user is under way.", after: .seconds(1))
    }
    defer { books.withLock { _ = $0.writing.remove(user) } }
    return try await body(reactor)
  }
}

extension ProblemDetails {
  fileprivate static func tooMany(_ detail: String, after wait: Duration) -> ProblemDetails {
    ProblemDetails(.tooManyRequests, detail: detail, fields: [.retryAfter: "\(wait.wholeSeconds)"])
  }
}
