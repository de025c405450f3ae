import FoundationEssentials

/// A push that the sink has accepted.
struct Acceptance: Sendable, Equatable {
  /// The collapse identifier, which is the message's id.
  let message: UUID
  let device: DeviceKey
  /// When the whole request was there, in monotonic nanoseconds.
  let moment: UInt64
}

/// The first 64 bits of a device token. Tokens are random or hashes, so these tell them apart.
struct DeviceKey: Hashable, Sendable {
  let bits: UInt64
}

extension DeviceKey {
  /// - Parameter token: hexadecimal, at least 16 digits.
  init?(token: some StringProtocol) {
    let digits = token.prefix(16)
    guard digits.utf8.count == 16, let bits = UInt64(digits, radix: 16) else { return nil }
    self.init(bits: bits)
  }
}
