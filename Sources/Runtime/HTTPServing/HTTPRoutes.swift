internal import HTTP1
public import HTTPTypes

/// The routes of a service: which handler answers which method at which path.
///
/// A pattern is a path whose segments are literal or `{name}`, which stands for one segment that is not empty. Where both
/// would match, the literal one wins. GET also answers HEAD, and every path answers OPTIONS.
public struct HTTPRoutes: Sendable {
  private var tree = RouteTree()
  private var methods: Set<String> = [HTTPRequest.Method.options.rawValue]

  /// What was added, in its order.
  public private(set) var operations: [HTTPOperation] = []

  /// Makes a table without routes.
  public init() {}

  /// Adds a route. A pattern that does not begin with a slash, and a method and pattern added before, are mistakes of the
  /// caller and trap.
  ///
  /// - Parameters:
  ///   - pattern: such as `/v1/webhooks/{kind}`.
  ///   - mediaTypes: what content must be, such as `application/json`; other content is answered with 415. Empty accepts
  ///     anything.
  ///   - bodyBytesMax: the largest content in bytes; `nil` for the service's own limit.
  ///   - isHealthCheck: whether it is answered even when the service has as many connections as it may have.
  public mutating func add(
    _ method: HTTPRequest.Method, _ pattern: String, mediaTypes: [String] = [], bodyBytesMax: Int? = nil,
    isHealthCheck: Bool = false, handler: @escaping HTTPHandler
  ) {
    insert(method, pattern, mediaTypes, bodyBytesMax, isHealthCheck, .suspending(handler))
  }

  /// Adds a route whose callers are settled before their content is read; see the other `add`.
  public mutating func add(
    _ method: HTTPRequest.Method, _ pattern: String, mediaTypes: [String] = [], bodyBytesMax: Int? = nil,
    admission: @escaping HTTPAdmission
  ) {
    insert(method, pattern, mediaTypes, bodyBytesMax, false, .admitting(admission))
  }

  /// Adds a route whose answer needs no wait; see the other `add`.
  public mutating func add(
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

  /// Every method that some path answers, for Allow.
  var allMethods: String { methods.sorted().joined(separator: ", ") }

  /// Finds who answers a request.
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
public struct HTTPOperation: Hashable, Sendable {
  /// The method as it was added; GET answers HEAD as well.
  public let method: HTTPRequest.Method

  /// Such as `/v1/webhooks/{kind}`.
  public let pattern: String
}

/// What a look for a route found.
enum RouteMatch {
  case found(HTTPRoute, [String])
  /// The path is known; the value for Allow.
  case methodNotAllowed(allow: String)
  case notFound
}
