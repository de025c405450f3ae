internal import HTTP1
internal import HTTPTypes

/// What a browser says of itself and of the page that sent it.
extension RequestHead {
  /// The cookie of the pages.
  static let sessionCookie = "tacet_session"

  /// The values of the session's cookie; more than one when a neighbour on the same host sets it too.
  var sessionCookies: [String] {
    (self[.cookie] ?? "").split(separator: ";").compactMap { pair in
      let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingPrefix(while: { $0 == " " }) }
      return parts.count == 2 && parts[0] == Self.sessionCookie ? String(parts[1]) : nil
    }
  }

  /// Whether a form was sent by a page of ours. Browsers say so in Sec-Fetch-Site where the connection is secure, and
  /// elsewhere in Origin; whoever says neither is no browser that has a page of ours.
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
