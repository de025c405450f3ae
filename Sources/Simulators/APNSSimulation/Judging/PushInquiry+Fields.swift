extension PushInquiry {
  /// Apple's limit for `apns-collapse-id`, in bytes.
  private static let collapseIDBytesMax = 64

  /// The fields one after the other, in the order in which a wrong one is named.
  mutating func checkFields() throws(Refusal) {
    if let identifier = request.value(of: "apns-id") {
      guard Self.isCanonicalIdentifier(identifier) else { throw .badRequest("BadMessageId") }
    }
    try checkPushType()
    try checkPriority()
    try checkExpiration()
    if let collapseID = request.value(of: "apns-collapse-id") {
      guard collapseID.utf8.count <= Self.collapseIDBytesMax else { throw .badRequest("BadCollapseId") }
      push.collapseID = collapseID
    }
  }

  /// A UUID as Apple writes it: 8-4-4-4-12 digits, in lower case.
  static func isCanonicalIdentifier(_ text: String) -> Bool {
    let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return groups.map(\.count) == [8, 4, 4, 4, 12] && groups.allSatisfy { $0.allSatisfy(isLowerCaseHexadecimal) }
  }

  private static func isLowerCaseHexadecimal(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }

  private mutating func checkPushType() throws(Refusal) {
    guard let text = request.value(of: "apns-push-type") else { return report(.missingPushType) }
    guard let type = SimulatedPushType(rawValue: text) else { throw .badRequest("InvalidPushType") }
    push.pushType = type
  }

  private mutating func checkPriority() throws(Refusal) {
    switch request.value(of: "apns-priority") {
    case nil, "10": push.priority = 10
    case "5": push.priority = 5
    case "1": push.priority = 1
    default: throw .badRequest("BadPriority")
    }
    if let type = push.pushType, type.refuses(priority: push.priority) { throw .badRequest("BadPriority") }
  }

  private mutating func checkExpiration() throws(Refusal) {
    guard let text = request.value(of: "apns-expiration") else { return }
    let isNumber = !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard isNumber, let seconds = Int64(text) else { throw .badRequest("BadExpirationDate") }
    push.expirationSeconds = seconds
  }
}
