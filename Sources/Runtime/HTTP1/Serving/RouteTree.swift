internal import HTTPTypes

/// The patterns of all routes, segment by segment.
///
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
