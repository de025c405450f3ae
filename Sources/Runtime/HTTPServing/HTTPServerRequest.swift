public import HTTP1
public import Reactors

/// A complete request, as a handler gets it.
public struct HTTPServerRequest: Sendable {
  /// Method, target and fields.
  public let head: RequestHead
  /// Whom the request comes from: the peer, or whom a trusted proxy names; nil over a Unix socket that names nobody.
  public let client: IPAddress?
  /// The content, transfer coding removed; empty if there was none. Never longer than the route's limit.
  public internal(set) var body: [UInt8] = []
  let matched: HTTPRoute
  /// The values of the pattern's parameters in the pattern's order, decoded, never empty.
  let parameters: [String]

  /// The pattern of the route that matched, such as `/v1/webhooks/{kind}`: the label for metrics.
  public var route: String { matched.pattern }

  init(_ head: RequestHead, from client: IPAddress?, to matched: HTTPRoute, parameters: [String]) {
    self.head = head
    self.client = client
    self.matched = matched
    self.parameters = parameters
  }

  /// The value the path has at the pattern's `{name}`.
  ///
  /// Asking for a name that the pattern does not have is a mistake of the caller and traps.
  public func parameter(_ name: String) -> String {
    guard let index = matched.parameterNames.firstIndex(of: name) else {
      preconditionFailure("the route \(route) has no parameter \(name)")
    }
    return parameters[index]
  }
}
