/// An alert encoded but for its badge, so that one event is escaped once however many recipients it has.
///
/// Recipients of one message differ in nothing but their unread count; a room of thousands costs two copies each.
public struct PreparedAlert: Equatable, Sendable {
  /// The document with a badge of 0.
  private let document: [UInt8]
  /// Where the digit of that badge stands.
  private let badgeIndex: Int

  /// Encodes what all recipients share; the payload's own badge is not looked at.
  public init(_ payload: AlertPayload) {
    var json = JSONBytes(reservingBytes: AlertPayload.usualBytes)
    payload.appendHead(to: &json)
    json.append(name: "badge")
    badgeIndex = json.bytes.count
    json.append(literal: "0")
    payload.appendTail(to: &json)
    document = json.bytes
  }

  /// The whole document with one recipient's badge; a negative one is sent as 0.
  public func encoded(badge: Int) -> [UInt8] {
    var json = JSONBytes(reservingBytes: document.count + Self.digitsMax)
    json.append(rawBytes: document[..<badgeIndex])
    json.append(badge: badge)
    json.append(rawBytes: document[(badgeIndex + 1)...])
    return json.bytes
  }

  /// The digits of the largest integer.
  private static let digitsMax = 19
}
