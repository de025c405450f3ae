/// The digits of hexadecimal text as ASCII bytes.
enum HexadecimalDigits {
  static let lowerCase = [UInt8]("0123456789abcdef".utf8)
}
