/// The app's own data in a message: texts under names, which Google restricts.
///
/// Reserved are the empty name, `from`, `message_type`, and names that begin with `google.` or `gcm.notification`.
/// Source: the discovery document of FCM, `Message.data`.
package struct FCMData: Equatable, Sendable {
  /// What a renamed member begins with.
  package static let prefix = "app."

  package let members: [String: String]

  package init() { members = [:] }

  /// Takes members as they are.
  /// - Throws: `reservedKey` that names the first reserved one.
  package init(_ members: [String: String]) throws(FCMMessageError) {
    if let key = members.keys.filter({ Self.isReserved($0) }).min() {
      throw FCMMessageError(.reservedKey, "data has the reserved key \(key.debugDescription)")
    }
    self.members = members
  }

  /// Takes members, and writes ``prefix`` before reserved names, as often as it takes to make a name that is free.
  package init(renaming members: [String: String]) {
    self.init(renaming: members, occupied: [])
  }

  /// - Parameter occupied: further names that the message itself uses.
  init(renaming members: [String: String], occupied: Set<String>) {
    func isFree(_ key: String) -> Bool { !Self.isReserved(key) && !occupied.contains(key) }
    var renamed = members.filter { isFree($0.key) }
    for (key, value) in members.sorted(by: { $0.key < $1.key }) where !isFree(key) {
      var key = Self.prefix + key
      while renamed[key] != nil || !isFree(key) { key = Self.prefix + key }
      renamed[key] = value
    }
    self.members = renamed
  }

  /// Whether Google keeps a name for itself.
  package static func isReserved(_ key: String) -> Bool {
    key.isEmpty || key == "from" || key == "message_type" || key.hasPrefix("google.")
      || key.hasPrefix("gcm.notification")
  }
}

package struct FCMMessageError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Code: String, Sendable {
    /// The token is empty, too long, or not visible ASCII.
    case invalidToken = "invalid_token"
    /// A notification has neither a title nor a body.
    case nothingToShow = "nothing_to_show"
    /// The image is not an `https` URL.
    case invalidImage = "invalid_image"
    case reservedKey = "reserved_data_key"
    /// It is too large even without its body.
    case payloadTooLarge = "payload_too_large"
  }

  package let code: Code

  package let description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}
