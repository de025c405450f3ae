extension PushInquiry {
  /// Hexadecimal, known, of this service, of this app, still registered: in this order.
  mutating func checkDevice(registry: SimulationRegistry) throws(Refusal) {
    guard Self.isDeviceToken(push.token) else { throw .badRequest("BadDeviceToken") }
    if push.token.utf8.contains(where: (UInt8(ascii: "A")...UInt8(ascii: "F")).contains) { report(.upperCaseToken) }
    guard let device = registry.devices[push.token.lowercased()] else {
      guard registry.acceptsAnyToken else { throw .badRequest("BadDeviceToken") }
      return
    }
    guard device.environment == environment else { throw .badRequest("BadDeviceToken") }
    guard device.bundle == bundle else { throw .badRequest("DeviceTokenNotForTopic") }
    if let end = device.end { throw .gone(end) }
  }

  /// Whole bytes in hexadecimal; Apple promises no length.
  static func isDeviceToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count.isMultiple(of: 2) && text.utf8.allSatisfy(isHexadecimal)
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}
