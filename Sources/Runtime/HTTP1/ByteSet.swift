/// A set of ASCII bytes, tested with one shift.
struct ByteSet {
  /// Bit n stands for byte n.
  let low: UInt64
  /// Bit n stands for byte n + 64.
  let high: UInt64

  @inline(__always)
  func contains(_ byte: UInt8) -> Bool {
    guard byte < 128 else { return false }
    return (byte < 64 ? low : high) &>> UInt64(byte & 63) & 1 != 0
  }

  // The sets are written as constants so that they are no lazily initialised globals; the tests compare each with its
  // list of characters.

  /// `token` (RFC 9110 section 5.6.2): methods, field names, codings.
  static var token: ByteSet {
    @inline(__always) get { ByteSet(low: 0x03ff_6cfa_0000_0000, high: 0x57ff_ffff_c7ff_fffe) }
  }

  /// `pchar` without `%`, and `/` (RFC 3986 section 3.3).
  static var path: ByteSet {
    @inline(__always) get { ByteSet(low: 0x2fff_ffd2_0000_0000, high: 0x47ff_fffe_87ff_ffff) }
  }

  /// `pchar` without `%`, `/` and `?` (RFC 3986 section 3.4).
  static var query: ByteSet {
    @inline(__always) get { ByteSet(low: 0xafff_ffd2_0000_0000, high: 0x47ff_fffe_87ff_ffff) }
  }

  /// `unreserved` and `sub-delims`: what a `reg-name` holds besides encodings (RFC 3986 section 3.2.2).
  static var hostName: ByteSet {
    @inline(__always) get { ByteSet(low: 0x2bff_7fd2_0000_0000, high: 0x47ff_fffe_87ff_fffe) }
  }
}
