internal import FoundationEssentials
internal import PushRules
internal import Reactors

/// Judges device tokens that APNs refuses without proof, by the ends of the other pushes on their route.
///
/// A wrong topic, key or environment brings the same refusals for every good token. So a token counts as bad only on a proven
/// route: some push has been accepted since its settings last changed, and few recent ones were refused like this. When many
/// are, the route stops once. An accepted push then shows that the route is not wrong for every device, and the route goes on
/// warily: no token counts as bad until few are refused again. So many refusals cost no tokens, and many bad tokens do not
/// stop a route for good.
///
/// A value without time: it counts sends.
struct TokenSuspicion: Sendable {
  struct Configuration: Sendable {
    /// Fewer sends prove nothing: one token of five is already a fifth.
    var sendsMin = 50
    /// The share of refusals, in percent, from which the route is at fault rather than single tokens. Uninstalled apps answer
    /// 410, so a healthy user base stays far below.
    var percentMin = 20
    /// As many users in a row whose tokens are refused prove the same: a wrong setting refuses every user, and each refusal
    /// counts against the connection. Users rather than tokens, because one user may have registered several bad ones.
    var usersInRowMax = 5
    /// How long a token that seems bad is kept: other pushes are answered meanwhile, and may show that the route is wrong.
    var confirmation = Duration.seconds(1)
    /// Recent sends are this many, at most twice as many. Enough for a meaningful share, few enough that old acceptances do
    /// not outweigh present refusals. A stopped route must send more than these before it is trusted again: of a burst, the
    /// accepted come back first, because refused ones ask twice.
    var sendsRecent = 100
  }

  enum Verdict: Equatable, Sendable {
    case badToken
    /// The cause is unknown; the route works for others.
    case unexplained
    /// The route's settings are most likely wrong.
    case misconfigured
  }

  private enum Trust {
    case unproven, proven, wary
  }

  /// One of two counts that take turns; both together are the recent sends.
  private struct Tally {
    var sends = 0
    var refusals = 0
  }

  let configuration: Configuration
  private var trust = Trust.unproven
  private var present = Tally()
  private var previous = Tally()
  /// Without an accepted push in between.
  private var refusalsInRow = 0
  /// Their users, up to `usersInRowMax`.
  private var usersInRow: Set<HostID> = []

  init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
  }

  /// Whether a push has been accepted since the route's settings were last changed.
  var isProven: Bool { trust != .unproven }

  /// A push was accepted, or its device was known.
  mutating func accepted() {
    endRow()
    count(isRefusal: false)
    if trust == .unproven { trust = .proven }
    if trust == .wary, previous.sends >= configuration.sendsRecent, !isCrowd { trust = .proven }
  }

  /// A push was answered in a way that says nothing about its token.
  mutating func answered() {
    count(isRefusal: false)
  }

  /// A push was not sent, because its token was refused a while ago. It counts as refused again, or a route would seem to have
  /// few bad tokens once they are set aside.
  mutating func turnedAway() {
    count(isRefusal: true)
  }

  /// A token of a user was refused without proof.
  mutating func refused(of user: HostID) -> Verdict {
    refusalsInRow += 1
    if usersInRow.count < configuration.usersInRowMax { usersInRow.insert(user) }
    count(isRefusal: true)
    switch trust {
    case .unproven:
      return .misconfigured
    case .proven:
      guard isJudgeable && isCrowd || usersInRow.count >= configuration.usersInRowMax else { return .badToken }
      stopped()
      return .misconfigured
    case .wary:
      guard refusalsInRow >= configuration.sendsMin else { return .unexplained }
      startAnew()
      return .misconfigured
    }
  }

  /// The route is stopped: no token counts as bad until few are refused again.
  private mutating func stopped() {
    startAnew()
    if trust == .proven { trust = .wary }
  }

  private var sends: Int { present.sends + previous.sends }
  private var refusals: Int { present.refusals + previous.refusals }
  private var isJudgeable: Bool { sends >= configuration.sendsMin }
  private var isCrowd: Bool { refusals * 100 >= sends * configuration.percentMin }

  private mutating func count(isRefusal: Bool) {
    if present.sends >= configuration.sendsRecent {
      previous = present
      present = Tally()
    }
    present.sends += 1
    if isRefusal { present.refusals += 1 }
  }

  private mutating func startAnew() {
    present = Tally()
    previous = Tally()
    endRow()
  }

  private mutating func endRow() {
    refusalsInRow = 0
    if !usersInRow.isEmpty { usersInRow = [] }
  }
}

/// Device tokens that were refused for an unknown cause: no push goes to them for a while.
///
/// APNs closes connections that keep sending tokens it does not know. A released token is tried again, and judged by the state
/// of its route then. Time comes in as monotonic nanoseconds.
struct TokenQuarantine: Sendable {
  /// How long a token stays: an hour, the life of a message.
  static let stay = Duration.seconds(3600)

  /// The most tokens, some two megabytes. Pushes to further ones go as before.
  static let devicesMax = 10_000

  private struct Entry {
    let reason: String?
    let releasedAt: UInt64
  }

  private var entries: [String: Entry] = [:]

  var count: Int { entries.count }

  func holds(_ device: String, now: UInt64) -> Bool {
    entries[device].map { now < $0.releasedAt } ?? false
  }

  func reason(for device: String) -> String? { entries[device]?.reason }

  mutating func add(_ device: String, reason: String?, now: UInt64) {
    if entries.count >= Self.devicesMax { entries = entries.filter { now < $0.value.releasedAt } }
    guard entries.count < Self.devicesMax else { return }
    entries[device] = Entry(reason: reason, releasedAt: now &+ Self.stay.clampedNanoseconds)
  }

  /// A push to a token was accepted. If the token is in quarantine, all are released: APNs refused it before and takes it now,
  /// so the refusals were not the tokens' fault.
  mutating func accepted(_ device: String) {
    guard !entries.isEmpty, entries[device] != nil else { return }
    entries = [:]
  }
}
