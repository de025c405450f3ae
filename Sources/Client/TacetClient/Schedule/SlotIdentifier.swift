/// The name of a slot's row: `<campaign>.<slot>.<fire_date>`, such as `ritual.0800.2026-11-22`.
///
/// The service refuses a whole report that names a row in another form.
struct SlotIdentifier: Hashable, Sendable {
  /// The time of the user's day, such as `0800`.
  let slot: String

  /// Nil for a text of another form.
  init?(_ text: String) {
    guard text.utf8.count <= 128 else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, Self.isCampaign(parts[0]), Self.isSlot(parts[1]), Self.isDay(parts[2]) else { return nil }
    slot = String(parts[1])
  }

  /// A small letter, then up to 62 small letters, digits and underscores.
  private static func isCampaign(_ text: Substring) -> Bool {
    guard (1...63).contains(text.utf8.count), let first = text.utf8.first, isSmallLetter(first) else { return false }
    return text.utf8.allSatisfy { isSmallLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
  }

  /// Hours and minutes, from 0000 to 2359.
  static func isSlot(_ text: some StringProtocol) -> Bool {
    guard text.utf8.count == 4, text.utf8.allSatisfy(isDigit), let number = Int(text) else { return false }
    return number / 100 < 24 && number % 100 < 60
  }

  /// `2026-11-22`, in this millennium.
  private static func isDay(_ text: Substring) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.count == 10 && bytes[0] == UInt8(ascii: "2")
      && bytes.indices.allSatisfy { [4, 7].contains($0) ? bytes[$0] == UInt8(ascii: "-") : isDigit(bytes[$0]) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
  private static func isSmallLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
}
