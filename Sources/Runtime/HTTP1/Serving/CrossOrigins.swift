internal import HTTPTypes

/// Web pages of other origins that may call the service (CORS; the Fetch standard, section 3.3). Browsers send no credentials of
/// their own: callers prove themselves in `Authorization`.
package struct CrossOrigins: Sendable {
  /// As browsers write them: `https://app.example.com`, without a path. Exact; none by default.
  package var origins: Set<String> = []

  /// The first segments of the paths that pages may call.
  static let places: Set<String> = ["v1", "clients"]

  /// What an answer says of them.
  struct Permission {
    /// Of the page that asks; nil where it may not, or where no page does.
    let origin: String?
  }

  package init() {}

  /// Nil where answers do not depend on the page.
  func permission(for head: RequestHead) -> Permission? {
    guard !origins.isEmpty, head.path.split(separator: "/").first.map({ Self.places.contains(String($0)) }) == true
    else {
      return nil
    }
    return Permission(origin: head[.origin].flatMap { origins.contains($0) ? $0 : nil })
  }
}

extension CrossOrigins.Permission {
  /// An answer that a browser hands to the page.
  func allow(_ response: HTTPServerResponse) -> HTTPServerResponse {
    guard case .plain(var head, let body) = response.content else { return response }
    // Also where no page asks, because caches may answer pages with it.
    head.fields.append(HTTPField(name: .vary, value: "Origin"))
    if let origin {
      head.fields[.accessControlAllowOrigin] = origin
      head.fields[.accessControlExposeHeaders] = "ETag, Retry-After"
    }
    return HTTPServerResponse(content: .plain(head, body))
  }

  /// The answer to the question that browsers ask before.
  func allowRequest(_ response: HTTPServerResponse, methods: String) -> HTTPServerResponse {
    guard origin != nil, case .plain(var head, let body) = response.content else { return response }
    head.fields[.accessControlAllowMethods] = methods
    head.fields[.accessControlAllowHeaders] = "Authorization, Content-Type, Idempotency-Key, If-None-Match, Prefer"
    // Two hours: the longest that Chromium remembers.
    head.fields[.accessControlMaxAge] = "7200"
    return HTTPServerResponse(content: .plain(head, body))
  }
}
