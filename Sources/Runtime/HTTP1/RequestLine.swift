internal import HTTPTypes

/// The parts of a request line (RFC 9112 section 3): `method SP request-target SP HTTP-version`.
struct RequestLine {
  let method: HTTPRequest.Method
  let target: RequestTarget
  let version: HTTPVersion

  /// Splits the line at its two single spaces; RFC 9112 section 3 lets a server be lenient about other white space, and
  /// names the security trouble that follows.
  init(_ line: Range<Int>, of bytes: Span<UInt8>) throws(RequestRefusal) {
    guard let methodEnd = bytes.firstIndex(of: .space, from: line.lowerBound), methodEnd < line.upperBound,
      let targetEnd = bytes.firstIndex(of: .space, from: methodEnd + 1), targetEnd < line.upperBound
    else { throw .malformedRequestLine }
    method = try Self.method(bytes.extracting(line.lowerBound..<methodEnd))
    version = try HTTPVersion(bytes.extracting(targetEnd + 1..<line.upperBound))
    guard method != .connect else { throw .connectRefused }
    target = try RequestTarget(methodEnd + 1..<targetEnd, of: bytes, isOptions: method == .options)
  }

  /// The method; the common ones cost no allocation and no validation.
  private static func method(_ bytes: Span<UInt8>) throws(RequestRefusal) -> HTTPRequest.Method {
    switch bytes.count {
    case 3 where bytes.hasPrefix("GET"): return .get
    case 3 where bytes.hasPrefix("PUT"): return .put
    case 4 where bytes.hasPrefix("POST"): return .post
    default: break
    }
    guard bytes.consists(of: .token), let method = HTTPRequest.Method(String(bytes)) else { throw .malformedMethod }
    return method
  }
}

extension String {
  /// The bytes as UTF-8, invalid sequences repaired.
  init(_ bytes: Span<UInt8>) {
    self = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
  }
}
