internal import HTTP1
internal import HTTPTypes

/// The content of a form as browsers send it: `application/x-www-form-urlencoded`, a few short fields.
struct FormBody: Equatable {
  static let fieldsMax = 8

  /// The most bytes that are read: a key of a kilobyte, every character of it encoded.
  static let bytesMax = 4096

  private let fields: [String: String]

  /// Reads a form; nil when there are too many fields or bytes, or one of them is not UTF-8 or comes twice.
  ///
  /// A percent sign that encodes nothing is a percent sign, as the URL Standard has it.
  init?(_ body: [UInt8]) {
    guard body.count <= Self.bytesMax else { return nil }
    let pairs = body.split(separator: UInt8(ascii: "&"))
    guard pairs.count <= Self.fieldsMax else { return nil }
    var fields: [String: String] = [:]
    for pair in pairs {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count > 1 ? parts[1] : []),
        fields.updateValue(value, forKey: name) == nil
      else { return nil }
    }
    self.fields = fields
  }

  subscript(name: String) -> String? { fields[name] }

  private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
    PercentEncoding.decode(Array(bytes).span, plusIsSpace: true)
  }
}

/// What a browser says of itself and of the page that sent it.
extension RequestHead {
  static let sessionCookie = "tacet_session"

  /// The values of the session's cookie; more than one when a neighbour on the same host sets it too.
  var sessionCookies: [String] {
    (self[.cookie] ?? "").split(separator: ";").compactMap { pair in
      let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingPrefix(while: { $0 == " " }) }
      return parts.count == 2 && parts[0] == Self.sessionCookie ? String(parts[1]) : nil
    }
  }

  /// Whether a form was sent by a page of ours. Browsers say so in Sec-Fetch-Site where the connection is secure, and
  /// elsewhere in Origin; a request with neither comes from no page of ours.
  var comesFromOwnPage: Bool {
    if let site = self[.secFetchSite] { return site == "same-origin" }
    guard let origin = self[.origin]?.lowercased(), let authority = authority?.lowercased() else { return false }
    return ["http://\(authority)", "https://\(authority)"].contains(origin)
  }

  /// Whether the browser reached us, or a proxy before us, by TLS.
  var comesByTLS: Bool { self[.origin]?.lowercased().hasPrefix("https://") == true }
}

extension HTTPField.Name {
  // The names are tokens.
  fileprivate static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
}
