/// An alert encoded but for its badge and an identifier, so that one event is escaped once however many recipients it has.
///
/// Recipients of one message differ in nothing else; a room of thousands costs a few copies each.
public struct PreparedAlert: Equatable, Sendable {
  /// The bytes of an identifier: those of a UUID's text.
  public static let identifierBytes = 36

  /// The document with a badge of 0 and an empty identifier.
  private let document: [UInt8]
  /// Where the digit of that badge stands.
  private let badgeIndex: Int
  /// The whole member of the badge, with the comma that goes with it.
  private let badgeMember: Range<Int>
  /// Where the identifier belongs; nil when the recipients have none.
  private let identifierIndex: Int?

  /// Encodes what all recipients share; the payload's own badge is not looked at.
  /// - Parameter identifierName: the custom member that will hold each recipient's identifier, a plain name that `custom`
  ///   does not have; nil for none. Leave ``bytes(ofIdentifierNamed:)`` of room when the payload is fitted.
  public init(_ payload: AlertPayload, identifierName: StaticString? = nil) {
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

  /// What the member of an identifier takes of the document.
  public static func bytes(ofIdentifierNamed name: StaticString) -> Int {
    name.utf8CodeUnitCount + identifierBytes + #","":"""#.utf8.count
  }

  /// What the document takes with a badge, and with an identifier where there is a place for it.
  public func bytes(withBadge badge: Int) -> Int {
    document.count - 1 + String(max(0, badge)).utf8.count + (identifierIndex == nil ? 0 : Self.identifierBytes)
  }

  /// The whole document for one recipient.
  /// - Parameters:
  ///   - badge: a negative one is sent as 0; without one, the app's icon keeps what it shows.
  ///   - identifier: the text of a UUID, where the alert was prepared for one.
  public func encoded(badge: Int?, identifier: String? = nil) -> [UInt8] {
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
