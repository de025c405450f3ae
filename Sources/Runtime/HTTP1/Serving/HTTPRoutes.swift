package import HTTPTypes

/// The routes of a service, by path and method.
///
/// A pattern is a path whose segments are literal or `{name}`, which matches one segment that is not empty. Literal segments have
/// precedence. GET also answers HEAD, and every path answers OPTIONS.
package struct HTTPRoutes: Sendable {
  private var tree = RouteTree()
  private var methods: Set<String> = [HTTPRequest.Method.options.rawValue]

  /// The operations, in the order of their addition.
  package private(set) var operations: [HTTPOperation] = []

  package init() {}

  /// Adds a route. Traps if the pattern does not begin with a slash, or if method and pattern were added before.
  /// - Parameters:
  ///   - pattern: such as `/v1/webhooks/{kind}`.
  ///   - mediaTypes: the accepted types of content, such as `application/json`. The answer to others is 415. Empty accepts any.
  ///   - bodyBytesMax: the largest content in bytes; nil for the service's limit.
  ///   - isHealthCheck: whether a full service answers it.
  package mutating func add(
    _ method: HTTPRequest.Method, _ pattern: String, mediaTypes: [String] = [], bodyBytesMax: Int? = nil,
    isHealthCheck: Bool = false, handler: @escaping HTTPHandler
  ) {
    insert(method, pattern, mediaTypes, bodyBytesMax, isHealthCheck, .suspending(handler))
  }

  /// Adds a route that admits its callers before it reads their content. See the other `add`.
  package mutating func add(
    _ method: HTTPRequest.Method, _ pattern: String, mediaTypes: [String] = [], bodyBytesMax: Int? = nil,
    admission: @escaping HTTPAdmission
  ) {
    insert(method, pattern, mediaTypes, bodyBytesMax, false, .admitting(admission))
  }

  /// Adds a route that answers without waiting. See the other `add`.
  package mutating func add(
    _ method: HTTPRequest.Method, _ pattern: String, bodyBytesMax: Int? = nil, isHealthCheck: Bool = false,
    immediate: @escaping HTTPImmediateHandler
  ) {
    insert(method, pattern, [], bodyBytesMax, isHealthCheck, .immediate(immediate))
  }

  private mutating func insert(
    _ method: HTTPRequest.Method, _ pattern: String, _ mediaTypes: [String], _ bodyBytesMax: Int?,
    _ isHealthCheck: Bool, _ handler: HTTPRoute.Handler
  ) {
    precondition(pattern.hasPrefix("/"), "the pattern \(pattern) does not begin with a slash")
    let segments = pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(RouteSegment.init)
    let names = segments.compactMap(\.parameterName)
    precondition(Set(names).count == names.count, "a parameter is repeated in \(pattern)")
    let route = HTTPRoute(
      number: operations.count, method: method, pattern: pattern, parameterNames: names,
      mediaTypes: mediaTypes.map { $0.lowercased() }, bodyBytesMax: bodyBytesMax, isHealthCheck: isHealthCheck,
      handler: handler)
    tree.insert(route, at: segments)
    operations.append(HTTPOperation(method: method, pattern: pattern))
    methods.insert(method.rawValue)
    if method == .get { methods.insert(HTTPRequest.Method.head.rawValue) }
  }

  /// The methods of all paths, for Allow.
  var allMethods: String { methods.sorted().joined(separator: ", ") }

  func match(_ head: RequestHead) -> RouteMatch {
    head.withPathBytes { path in
      var parameters: [String] = []
      guard let place = tree.find(path, from: min(1, path.count), &parameters) else { return .notFound }
      guard let route = tree.route(for: head.method, at: place) else {
        return .methodNotAllowed(allow: tree.allowedMethods(at: place))
      }
      return .found(route, parameters)
    }
  }
}

/// A method at a path pattern.
package struct HTTPOperation: Hashable, Sendable {
  /// The method. GET also answers HEAD.
  package let method: HTTPRequest.Method

  /// Such as `/v1/webhooks/{kind}`.
  package let pattern: String
}

enum RouteMatch {
  /// The route, and the values of its parameters.
  case found(HTTPRoute, [String])
  /// The path has no such method. With the value for Allow.
  case methodNotAllowed(allow: String)
  case notFound
}
