/// An alert encoded except for its badge and an identifier: the only parts in which the recipients of one event differ.
///
/// The event is escaped once, and a room of thousands costs a few copies each.
package struct PreparedAlert: Equatable, Sendable {
  /// The bytes of an identifier: those of a UUID's text.
  package static let identifierBytes = 36

  /// The document with a badge of 0 and an empty identifier.
  private let document: [UInt8]
  /// The place of that badge's digit.
  private let badgeIndex: Int
  /// The whole member of the badge, with its comma.
  private let badgeMember: Range<Int>
  /// The place of the identifier; nil when it was prepared without one.
  private let identifierIndex: Int?

  /// Encodes what all recipients share, without the payload's own badge.
  /// - Parameter identifierName: the custom member for each recipient's identifier, a plain name that `custom` does not
  ///   have; nil for no identifier. Leave ``bytes(ofIdentifierNamed:)`` of room when fitting the payload.
  package init(_ payload: AlertPayload, identifierName: StaticString? = nil) {
    var json = JSONBytes(reservingBytes: AlertPayload.usualBytes)
    payload.appendHead(to: &json)
    let memberIndex = json.bytes.count
    json.append(name: "badge")
    badgeIndex = json.bytes.count
    json.append(literal: "0")
    payload.appendTail(to: &json)
    let comma = UInt8(ascii: ",")
    let endsInComma = json.bytes[memberIndex] != comma && json.bytes[badgeIndex + 1] == comma
    badgeMember = memberIndex..<(badgeIndex + (endsInComma ? 2 : 1))
    guard let identifierName else {
      identifierIndex = nil
      document = json.bytes
      return
    }
    var identified = JSONBytes(reservingBytes: json.bytes.count + identifierName.utf8CodeUnitCount + 6)
    identified.append(rawBytes: json.bytes.dropLast())
    identified.append(name: identifierName)
    identified.append(literal: "\"\"}")
    document = identified.bytes
    identifierIndex = document.count - 2
  }

  /// The bytes that the member of an identifier takes in the document.
  package static func bytes(ofIdentifierNamed name: StaticString) -> Int {
    name.utf8CodeUnitCount + identifierBytes + #","":"""#.utf8.count
  }

  /// The bytes of the document with a badge, and with an identifier if it has a place for one.
  package func bytes(withBadge badge: Int) -> Int {
    document.count - 1 + String(max(0, badge)).utf8.count + (identifierIndex == nil ? 0 : Self.identifierBytes)
  }

  /// The whole document for one recipient.
  /// - Parameters:
  ///   - badge: a negative one is sent as 0; nil leaves the app's icon as it is.
  ///   - identifier: the text of a UUID, if the alert was prepared for one.
  package func encoded(badge: Int?, identifier: String? = nil) -> [UInt8] {
    precondition(
      (identifier == nil) == (identifierIndex == nil), "an identifier, exactly where there is a place for it")
    var json = JSONBytes(reservingBytes: document.count + Self.digitsMax + Self.identifierBytes)
    let restIndex = badge == nil ? badgeMember.upperBound : badgeIndex + 1
    if let badge {
      json.append(rawBytes: document[..<badgeIndex])
      json.append(badge: badge)
    } else {
      json.append(rawBytes: document[..<badgeMember.lowerBound])
    }
    guard let identifierIndex, let identifier else {
      json.append(rawBytes: document[restIndex...])
      return json.bytes
    }
    precondition(identifier.utf8.count == Self.identifierBytes, "the room that was left is that of a UUID")
    json.append(rawBytes: document[restIndex..<identifierIndex])
    json.append(plain: identifier)
    json.append(rawBytes: document[identifierIndex...])
    return json.bytes
  }

  /// The digits of the largest integer.
  private static let digitsMax = 19
}
