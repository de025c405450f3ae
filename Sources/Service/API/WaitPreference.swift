internal import HTTP1
internal import HTTPTypes

/// How long a caller wants to wait for an outcome: the `Prefer` field of RFC 7240.
struct WaitPreference: Equatable {
  /// The longest wait: longer than any push takes, shorter than what proxies cut off.
  static let longest = Duration.seconds(60)

  let limit: Duration

  /// What to confirm in `Preference-Applied`; nil when the default applies.
  let applied: String?

  /// `respond-async` does not wait, `wait=N` waits N seconds, both together too (section 4.3 there), and without either
  /// the default holds. What cannot be understood is ignored, as the RFC asks.
  init(_ fields: HTTPFields, default standard: Duration) {
    let wishes = fields[values: .prefer].flatMap { $0.split(separator: ",") }.map(Self.withoutParameters)
    let isAsynchronous = wishes.contains { $0.lowercased() == "respond-async" }
    let seconds = wishes.lazy.compactMap(Self.seconds).first.map { min($0, Self.longest.components.seconds) }
    switch (isAsynchronous, seconds) {
    case (true, nil): self.init(limit: .zero, applied: "respond-async")
    case (true, let seconds?): self.init(limit: .seconds(seconds), applied: "respond-async, wait=\(seconds)")
    case (false, let seconds?): self.init(limit: .seconds(seconds), applied: "wait=\(seconds)")
    case (false, nil): self.init(limit: standard, applied: nil)
    }
  }

  private init(limit: Duration, applied: String?) {
    self.limit = limit
    self.applied = applied
  }

  private static func seconds(_ wish: Substring) -> Int64? {
    let parts = wish.split(separator: "=", maxSplits: 1)
    guard parts.count == 2, trimmed(parts[0]).lowercased() == "wait" else { return nil }
    let value = unquoted(trimmed(parts[1]))
    guard !value.isEmpty, value.utf8.count <= 6, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int64(value)
  }

  /// A preference may have parameters behind a semicolon, which are ignored.
  private static func withoutParameters(_ wish: Substring) -> Substring {
    trimmed(wish.prefix { $0 != ";" })
  }

  private static func unquoted(_ value: Substring) -> Substring {
    guard value.count >= 2, value.first == "\"", value.last == "\"" else { return value }
    return value.dropFirst().dropLast()
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " || $0 == "\t" }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
  }
}

extension WaitPreference {
  /// An answer that confirms what was asked for.
  func response(_ status: HTTPResponse.Status, _ json: [UInt8]) -> HTTPServerResponse {
    var fields: HTTPFields = [.contentType: "application/json"]
    if let applied { fields[.preferenceApplied] = applied }
    return HTTPServerResponse(status: status, fields: fields, body: json)
  }
}

extension HTTPField.Name {
  // Our own constants, so making them cannot fail (RFC 7240).

  static let prefer = Self("prefer")!
  static let preferenceApplied = Self("preference-applied")!
}
