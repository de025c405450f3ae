/// When a provider token is renewed. Pure: ages come in.
///
/// APNs wants a token replaced at most every 20 minutes on a connection, and refuses one older than 60. A new one is
/// made at 25 to 34, looked for once a minute; a connection moves to it once it has held its own for 20. So the oldest
/// token in use is younger than 55 minutes, which leaves five for a clock that is off. Source: "Establishing a
/// token-based connection to APNs".
struct ProviderTokenSchedule: Sendable {
  /// How long APNs takes a token.
  static let lifetime = Duration.seconds(60 * 60)

  /// How long a connection keeps the token it has shown, and how long the process keeps one that APNs rejected: minting
  /// in a loop makes APNs refuse the connection altogether.
  static let keepAge = Duration.seconds(20 * 60)

  /// Each process draws its own age once, so that replicas which were started together drift apart.
  static let renewalAges = (earliest: Duration.seconds(25 * 60), latest: Duration.seconds(34 * 60))

  /// A clock that was set by so much since a token was signed has made its `iat` wrong by as much: nearly all that the
  /// schedule leaves.
  private static let clockStepMax = Duration.seconds(4 * 60)

  /// The age at which this process makes a new token.
  let renewalAge: Duration

  /// - Parameter draw: a random number in `0 ..< 1`.
  init(draw: Double) {
    let (earliest, latest) = Self.renewalAges
    renewalAge = earliest + (latest - earliest) * draw
  }

  /// - Parameters:
  ///   - age: since the signature, by the monotonic clock.
  ///   - clockStep: how far the wall clock has been moved since, in either direction.
  func isDue(age: Duration, clockStep: Duration) -> Bool {
    age >= renewalAge || Self.isStepped(clockStep)
  }

  /// Whether a token that APNs calls expired may be replaced; the same for one that a connection shows.
  static func mayReplace(age: Duration, clockStep: Duration = .zero) -> Bool {
    age >= keepAge || isStepped(clockStep)
  }

  private static func isStepped(_ clockStep: Duration) -> Bool {
    clockStep >= clockStepMax || clockStep <= .zero - clockStepMax
  }
}
