/// A push that hands the app its own data and asks the system for nothing, so that it has no `aps`.
public struct CustomPayload: PushPayload {
  /// The push types whose whole body is the app's.
  public enum Kind: CaseIterable, Sendable {
    /// Data for a watch complication.
    case complication
    /// A change in the containers of a file provider extension.
    case fileprovider
    /// A question for the device's location, for the location push service extension.
    case location
    /// A push-to-talk session: who speaks, or that it ended.
    case pushtotalk
    /// An incoming call; its body alone may have 5120 bytes.
    case voip
  }

  /// What the push is for.
  public let kind: Kind
  /// The app's own data, which is the whole document; `{}` is a legal one.
  public let custom: PayloadObject

  /// The push type of the kind.
  public var pushType: PushType {
    switch kind {
    case .complication: .complication
    case .fileprovider: .fileprovider
    case .location: .location
    case .pushtotalk: .pushtotalk
    case .voip: .voip
    }
  }

  /// - Throws: `customKeyReserved` when `custom` has a member named `aps`.
  public init(_ kind: Kind, custom: PayloadObject = [:]) throws(PushRequestError) {
    self.kind = kind
    self.custom = try custom.asCustomData()
  }

  /// The JSON document as sent.
  public func encoded() -> [UInt8] {
    JSONBytes.document(reservingBytes: 256) { $0.append(membersOf: custom) }
  }
}
