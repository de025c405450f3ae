package import PushRules

/// How apps register the targets of a channel for a user, and log the user out.
///
/// The documents have members of the channel; a registration also has what every one says of the person: locale, zone, content.
package struct TargetRegistration: Sendable {
  package struct Document<Value>: Sendable {
    package let members: [String]
    package let read: @Sendable (Members) throws -> Value

    init(_ members: String..., read: @escaping @Sendable (Members) throws -> Value) {
      self.members = members
      self.read = read
    }
  }

  /// What an app says of a target.
  package struct Target: Sendable {
    package var target: PushTarget
    /// The public key for which content is sealed, in base64url; nil for none.
    package var sealingKey: String?
    /// Microseconds since 1970; nil for never.
    package var expiresAt: Int64?

    init(_ target: PushTarget) { self.target = target }
  }

  /// A part of the app that a push wakes and that has no user's token: it proves itself with a token of its target.
  package struct Worker: Sendable {
    /// What the worker shows of a push. Throws for one that shows nothing.
    package let document: @Sendable (AlertPayload, Push, Addressee) throws -> [UInt8]
    /// The answer to an app that registers what the push service has ended: the member at fault, and what to do.
    package let ended: (field: String, detail: String)
  }

  package let channel: DeliveryChannel
  /// Where targets are registered by `PUT` and taken away by `DELETE`.
  package let path: String
  package let registered: Document<Target>
  /// Nil where the document of a registration is sent again.
  package var removed: Document<PushTarget>?
  /// What apps need before they register: a path, and its answer.
  package var prerequisite: (path: String, answer: PayloadObject)?
  package var worker: Worker?

  init(_ channel: DeliveryChannel, path: String, registered: Document<Target>) {
    self.channel = channel
    self.path = path
    self.registered = registered
  }
}
