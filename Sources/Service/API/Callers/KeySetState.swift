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
