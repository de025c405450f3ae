/// When a provider token is renewed. Pure: ages come in.
///
/// APNs wants a token replaced at most every 20 minutes on a connection, and refuses one older than 60. A new one is
/// made at 35; a connection moves to it once it has held its own for 20. So the oldest token in use is younger than
/// 55 minutes, which leaves five for a clock that is off. Source: "Establishing a token-based connection to APNs".
enum ProviderTokenSchedule {
  /// The age at which a new token is made.
  static let renewalAge = Duration.seconds(35 * 60)

  /// How long a connection keeps the token it has shown, and how long the process keeps one that APNs rejected: minting
  /// in a loop makes APNs refuse the connection altogether.
  static let keepAge = Duration.seconds(20 * 60)

  static func isDue(age: Duration) -> Bool { age >= renewalAge }

  static func mayReplace(age: Duration) -> Bool { age >= keepAge }
}
