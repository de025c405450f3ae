/// One segment of a pattern.
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
