public import APNSCore

/// An app that pushes go to.
public struct AppSettings: Equatable, Sendable {
  /// The app.
  public let bundleIdentifier: BundleIdentifier
  /// What its pushes are signed with.
  public let key: SigningKeySettings
  /// The push service of its device tokens that do not say theirs.
  public let environment: APNSEnvironment
}

/// A key that signs provider tokens. Apps of one team may share it.
public struct SigningKeySettings: Hashable, Sendable {
  /// The identifier of the key, ten characters.
  public let keyIdentifier: String
  /// The identifier of the developer team, ten characters.
  public let teamIdentifier: String
  /// A P-256 private key as PEM text, checked to be one, and written in one way only: two texts of the same key are
  /// equal.
  public let privateKey: Secret<String>
}
