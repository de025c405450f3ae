internal import Cryptography
internal import FoundationEssentials

/// Who is logged in, without a table: a session is the moment of its end, signed.
///
/// Every process with the same service keys accepts it. It is signed with a key that is derived from the service key that
/// was shown, so that it ends when that key is taken out of the settings. It cannot be ended before by itself: logging out
/// makes the browser forget it.
struct DashboardSessions: Sendable {
  /// A working day.
  static let lifeSeconds: Int64 = 8 * 3600

  private struct Key {
    let shown: BearerKeys
    let signing: HMACSHA256
  }

  private let keys: [Key]

  /// - Parameter serviceKeys: any of which lets the operator in.
  init(_ serviceKeys: [String]) {
    keys = serviceKeys.map { key in
      let derived = HKDFSHA256.derive(
        from: Array(key.utf8), info: Array("tacet dashboard session".utf8), byteCount: 32)
      return Key(shown: BearerKeys([key]), signing: HMACSHA256(key: derived))
    }
  }

  /// Whether logging in is impossible.
  var isOff: Bool { keys.isEmpty }

  /// Opens a session for a service key.
  /// - Parameter now: seconds since 1970.
  /// - Returns: what the browser is to show from now on, `<end>.<signature>`; nil for a wrong key.
  func open(with shown: String, now: Int64) -> String? {
    // Every key is looked at, so that the time does not tell which it was.
    let matching = keys.filter { $0.shown.accepts(shown) }
    guard let key = matching.first else { return nil }
    let end = String(now + Self.lifeSeconds)
    return end + "." + key.signing.code(for: Self.statement(of: end)).hexadecimal()
  }

  func accepts(_ session: String, now: Int64) -> Bool {
    let parts = session.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let end = Int64(parts[0]), String(end) == parts[0], let signature = Self.bytes(parts[1])
    else { return false }
    let statement = Self.statement(of: String(end))
    let isSigned = keys.reduce(false) { isSigned, key in
      key.signing.isValid(signature, for: statement) || isSigned
    }
    return isSigned && end > now && end <= now + Self.lifeSeconds
  }

  private static func statement(of end: String) -> [UInt8] { Array("session until \(end)".utf8) }

  private static func bytes(_ text: Substring) -> [UInt8]? {
    let digits = text.utf8.map { "0123456789abcdef".utf8.firstOffset(of: $0) }
    guard digits.count == 64 else { return nil }
    var bytes: [UInt8] = []
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[place], let low = digits[place + 1] else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return bytes
  }
}

extension String.UTF8View {
  fileprivate func firstOffset(of byte: UInt8) -> Int? {
    firstIndex(of: byte).map { distance(from: startIndex, to: $0) }
  }
}
