internal import FoundationEssentials

/// Judges device tokens that APNs refuses without proof, by what becomes of the other pushes on their route.
///
/// A wrong topic, key or environment brings the same refusals for every good token. So a token is believed to be bad only
/// on a route that is known to be right: some push has been accepted since its settings were last changed, and few of
/// the recent ones were refused like this. When many are, the route is stopped once. A push that is accepted then shows
/// that the route is not wrong for everybody, and it goes on in a wary way: no token is believed to be bad until few are
/// refused again. So no crowd of refusals costs tokens, and no crowd of rubbish tokens stops a route for good.
///
/// A value without time: it counts sends.
struct TokenSuspicion: Sendable {
  /// What is too many.
  struct Configuration: Sendable {
    /// Fewer sends show nothing: one token of five is a fifth already.
    var sendsMin = 50
    /// The share, in percent, from which on refusals are no matter of single tokens. Uninstalled apps answer 410, so
    /// what is left in a healthy user base is far below.
    var percentMin = 20
    /// Users whose tokens are refused one after the other, without an accepted push between them, show as much: a setting
    /// that has gone wrong refuses everybody, and each refusal counts against the connection. Users, because one alone
    /// may have registered rubbish.
    var usersInRowMax = 5
    /// How long a token that is believed to be bad is kept all the same: what was sent with it is answered meanwhile, and
    /// may say that the route is wrong.
    var confirmation = Duration.seconds(1)
    /// Recent sends are this many, at most twice as many. Enough that the share means something, few enough that what
    /// a thousand pushes ago was accepted does not outweigh what is refused now. A stopped route must send more than
    /// these before it is trusted again: of a burst, the accepted come back first, since refused ones ask twice.
    var sendsRecent = 100
  }

  /// What a refusal means.
  enum Verdict: Equatable, Sendable {
    /// This token is bad.
    case badToken
    /// Nobody knows; the route works for others.
    case unexplained
    /// The route's settings are wrong, as far as can be seen.
    case misconfigured
  }

  private enum Trust {
    case unproven, proven, wary
  }

  /// Two counts that take turns: recent is what both hold.
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
  /// Whose they are, as far as it matters.
  private var usersInRow: Set<UUID> = []

  init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
  }

  /// Whether a push has been accepted since the route's settings were last changed.
  var isProven: Bool { trust != .unproven }

  /// A push was accepted, or its device known to have been there.
  mutating func accepted() {
    endRow()
    note(isRefusal: false)
    if trust == .unproven { trust = .proven }
    if trust == .wary, previous.sends >= configuration.sendsRecent, !isCrowd { trust = .proven }
  }

  /// A push was answered in a way that says nothing about its token.
  mutating func answered() {
    note(isRefusal: false)
  }

  /// A push was not even sent, because its token was refused a while ago. It counts as refused again, or a route whose
  /// many bad tokens are set aside would seem to have few.
  mutating func turnedAway() {
    note(isRefusal: true)
  }

  /// A token of a user was refused without proof.
  mutating func refused(of user: UUID) -> Verdict {
    refusalsInRow += 1
    if usersInRow.count < configuration.usersInRowMax { usersInRow.insert(user) }
    note(isRefusal: true)
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

  /// The route is stopped: no token is believed to be bad until few are refused again.
  mutating func stopped() {
    startAnew()
    if trust == .proven { trust = .wary }
  }

  private var sends: Int { present.sends + previous.sends }
  private var refusals: Int { present.refusals + previous.refusals }
  private var isJudgeable: Bool { sends >= configuration.sendsMin }
  private var isCrowd: Bool { refusals * 100 >= sends * configuration.percentMin }

  private mutating func note(isRefusal: Bool) {
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
