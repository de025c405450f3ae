/// An alert encoded but for its badge, so that one event is escaped once however many recipients it has.
///
/// Recipients of one message differ in nothing but their unread count; a room of thousands costs two copies each.
public struct PreparedAlert: Equatable, Sendable {
  private let head: [UInt8]
  private let tail: [UInt8]

  /// Encodes what all recipients share; the payload's own badge is not looked at.
  public init(_ payload: AlertPayload) {
    // 512 bytes hold a usual message push whole; a longer one grows the array once or twice.
    var head = JSONBytes(reservingBytes: 512)
    payload.appendHead(to: &head)
    var tail = JSONBytes(reservingBytes: 256)
    payload.appendTail(to: &tail)
    self.head = head.bytes
    self.tail = tail.bytes
  }

  /// The whole document with one recipient's badge; nil leaves the icon's number as it is.
  public func encoded(badge: Int?) -> [UInt8] {
    var json = JSONBytes(reservingBytes: head.count + tail.count + Self.badgeBytesMax)
    json.append(rawBytes: head)
    if let badge {
      json.append(literal: #","badge":"#)
      json.append(integer: badge)
    }
    json.append(rawBytes: tail)
    return json.bytes
  }

  /// `,"badge":` and the 20 characters of the longest integer.
  private static let badgeBytesMax = 29
}
