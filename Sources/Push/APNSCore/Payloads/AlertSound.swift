/// What a push plays.
public enum AlertSound: Equatable, Sendable {
  /// A sound file of the app; the system's own sound is named `default`.
  case named(String)
  /// Plays although the device is muted or in a Focus; only apps with Apple's permission are heard.
  case critical(name: String, volume: UnitFraction)

  /// The system's sound for notifications.
  public static let `default` = AlertSound.named("default")

  /// Nil in place of a sound without a name, which no device can play.
  var unlessEmpty: AlertSound? {
    switch self {
    case .named(let name), .critical(let name, _): name.isEmpty ? nil : self
    }
  }
}

extension AlertSound: ExpressibleByStringLiteral {
  /// A name written in the source.
  public init(stringLiteral value: String) { self = .named(value) }
}
