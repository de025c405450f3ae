package import HTTPTypes
package import Reactors

/// The routes of a service, by path and method.
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

package struct HTTPOperation: Hashable, Sendable {
  /// The method. GET also answers HEAD.
  package let method: HTTPRequest.Method
  /// Such as `/v1/webhooks/{kind}`.
  package let pattern: String
}

enum RouteMatch {
  case found(HTTPRoute, [String])
  /// The path has no such method. With the value for Allow.
  case methodNotAllowed(allow: String)
  case notFound
}

/// Answers a request, on the reactor of its connection.
/// A thrown `ProblemDetails` is the answer. ``HTTPHangUp`` closes the connection without one. Other errors are logged and
/// answered with 500. The next request of the connection begins after this answer.
package typealias HTTPHandler = @Sendable (HTTPServerRequest, isolated Reactor) async throws -> HTTPServerResponse

/// Answers a request without waiting. Needs no task, so it is the cheapest kind of ``HTTPHandler``.
package typealias HTTPImmediateHandler = @Sendable (HTTPServerRequest, isolated Reactor) throws -> HTTPServerResponse

/// Identifies the caller by the request's head, before its content is read, so that the content of strangers takes no memory.
/// The request has no content. A thrown error is answered as in an ``HTTPHandler``.
package typealias HTTPAdmission = @Sendable (HTTPServerRequest, isolated Reactor) async throws -> HTTPAdmitted

package struct HTTPAdmitted: Sendable {
  let handler: HTTPHandler
  let bodyBytesMax: Int?
  let isProven: Bool

  /// Admits the request.
  /// - Parameters:
  ///   - bodyBytesMax: the largest content that this caller may send, in bytes; nil for the route's limit.
  ///   - isProven: whether the caller is known. Until the content proves it, its memory counts with that of strangers.
  package init(bodyBytesMax: Int? = nil, isProven: Bool = true, handler: @escaping HTTPHandler) {
    self.handler = handler
    self.bodyBytesMax = bodyBytesMax
    self.isProven = isProven
  }
}

/// A method at a path pattern, and its handler. An object, so that a match returns a reference.
final class HTTPRoute: Sendable {
  enum Handler: Sendable {
    case immediate(HTTPImmediateHandler)
    case suspending(HTTPHandler)
    case admitting(HTTPAdmission)
  }

  /// The index among the routes of its service.
  let number: Int
  let method: HTTPRequest.Method
  let pattern: String
  let parameterNames: [String]
  /// In lower case, without parameters. Empty accepts any type.
  let mediaTypes: [String]
  /// Nil for the service's limit.
  let bodyBytesMax: Int?
  /// Whether a full service answers it.
  let isHealthCheck: Bool
  let handler: Handler

  init(
    number: Int, method: HTTPRequest.Method, pattern: String, parameterNames: [String], mediaTypes: [String],
    bodyBytesMax: Int?, isHealthCheck: Bool, handler: Handler
  ) {
    self.number = number
    self.method = method
    self.pattern = pattern
    self.parameterNames = parameterNames
    self.mediaTypes = mediaTypes
    self.bodyBytesMax = bodyBytesMax
    self.isHealthCheck = isHealthCheck
    self.handler = handler
  }

  /// Whether the route accepts content of this type. Types compare without case (RFC 9110 section 8.3.1).
  func accepts(contentType: String?) -> Bool {
    guard !mediaTypes.isEmpty else { return true }
    guard let essence = contentType?.prefix(while: { $0 != ";" && $0 != " " && $0 != "\t" }).lowercased() else {
      return false
    }
    return mediaTypes.contains(essence)
  }
}

/// Thrown by a handler to close the connection without an answer, like nginx's status 444. Unsent answers to earlier requests of
/// a pipeline are lost too.
package struct HTTPHangUp: Error, Sendable {
  package init() {}
}

/// The patterns of all routes, segment by segment.
/// Places are indexes of one array, so that following a path copies nothing. Place 0 is before the first segment.
struct RouteTree: Sendable {
  /// The next segments at a place, and the routes that end there.
  private struct Place: Sendable {
    var literals: [(segment: [UInt8], place: Int)] = []
    var parameter: Int?
    var routes: [HTTPRoute] = []
  }

  private var places = [Place()]

  mutating func insert(_ route: HTTPRoute, at segments: [RouteSegment]) {
    var place = 0
    for segment in segments { place = step(from: place, to: segment) }
    let isNew = !places[place].routes.contains { $0.method == route.method }
    precondition(isNew, "\(route.method) \(route.pattern) is added twice")
    places[place].routes.append(route)
  }

  private mutating func step(from place: Int, to segment: RouteSegment) -> Int {
    let next = places.count
    switch segment {
    case .parameter:
      if let known = places[place].parameter { return known }
      places[place].parameter = next
    case .literal(let literal):
      if let known = places[place].literals.first(where: { $0.segment == literal }) { return known.place }
      places[place].literals.append((literal, next))
    }
    places.append(Place())
    return next
  }

  /// Follows the path from the segment at `start`. Goes back from a literal to a parameter when the literal does not match, and
  /// no deeper than the longest pattern.
  /// - Returns: the place where the path ends; nil if no route ends there.
  func find(_ path: Span<UInt8>, from start: Int, at place: Int = 0, _ parameters: inout [String]) -> Int? {
    guard start <= path.count else { return places[place].routes.isEmpty ? nil : place }
    var end = start
    while end < path.count, path[end] != UInt8(ascii: "/") { end += 1 }
    let segment = path.extracting(start..<end)
    for index in places[place].literals.indices where Self.equals(segment, places[place].literals[index].segment) {
      let next = places[place].literals[index].place
      if let found = find(path, from: end + 1, at: next, &parameters) { return found }
    }
    guard let next = places[place].parameter, end > start, let value = PercentEncoding.decode(segment) else {
      return nil
    }
    parameters.append(value)
    if let found = find(path, from: end + 1, at: next, &parameters) { return found }
    parameters.removeLast()
    return nil
  }

  /// The route of a method. HEAD has that of GET.
  func route(for method: HTTPRequest.Method, at place: Int) -> HTTPRoute? {
    let routes = places[place].routes
    return routes.first { $0.method == method } ?? (method == .head ? routes.first { $0.method == .get } : nil)
  }

  func allowedMethods(at place: Int) -> String {
    var methods = Set(places[place].routes.map(\.method.rawValue))
    if methods.contains(HTTPRequest.Method.get.rawValue) { methods.insert(HTTPRequest.Method.head.rawValue) }
    methods.insert(HTTPRequest.Method.options.rawValue)
    return methods.sorted().joined(separator: ", ")
  }

  /// Compares bytes. Decodes a percent-encoded segment first, because `%61` is `a` (RFC 3986 section 6.2.2.2).
  private static func equals(_ segment: Span<UInt8>, _ literal: [UInt8]) -> Bool {
    if segment.count == literal.count {
      for index in 0..<segment.count where segment[index] != literal[index] { return false }
      return true
    }
    guard segment.count > literal.count, PercentEncoding.occurs(in: segment) else { return false }
    return PercentEncoding.decode(segment)?.utf8.elementsEqual(literal) ?? false
  }
}

enum RouteSegment: Sendable {
  case literal([UInt8])
  case parameter(String)

  init(_ text: Substring) {
    if text.hasPrefix("{"), text.hasSuffix("}"), text.count > 2 {
      self = .parameter(String(text.dropFirst().dropLast()))
    } else {
      self = .literal(Array(text.utf8))
    }
  }

  var parameterName: String? {
    if case .parameter(let name) = self { return name }
    return nil
  }
}
