internal import HTTPTypes
public import Reactors

/// Answers a request, on the reactor its connection lives on.
///
/// A thrown `ProblemDetails` is the answer, and after a thrown ``HTTPHangUp`` there is none; any other error is logged and
/// answered with 500. The next request of the
/// same connection is not begun before this one is answered.
public typealias HTTPHandler = @Sendable (HTTPServerRequest, isolated Reactor) async throws -> HTTPServerResponse

/// Answers a request that needs no wait: without a task of its own, so the cheapest way; the same otherwise.
public typealias HTTPImmediateHandler = @Sendable (HTTPServerRequest, isolated Reactor) throws -> HTTPServerResponse

/// Looks at a request's client before the content is read; what it returns is the answer, and nil lets the request in.
public typealias HTTPAdmission = @Sendable (IPAddress?) -> ProblemDetails?

/// What is known of a method at a path pattern. An object, so that a match hands out a reference.
final class HTTPRoute: Sendable {
  enum Handler: Sendable {
    case immediate(HTTPImmediateHandler)
    case suspending(HTTPHandler)
  }

  /// Its place among the routes of its service.
  let number: Int
  let method: HTTPRequest.Method
  let pattern: String
  let parameterNames: [String]
  /// In lower case, without parameters; empty accepts anything.
  let mediaTypes: [String]
  /// `nil` for the service's own limit.
  let bodyBytesMax: Int?
  /// Whether it is answered even when the service is full.
  let isHealthCheck: Bool
  let admission: HTTPAdmission?
  let handler: Handler

  init(
    number: Int, method: HTTPRequest.Method, pattern: String, parameterNames: [String], mediaTypes: [String],
    bodyBytesMax: Int?, isHealthCheck: Bool, admission: HTTPAdmission?, handler: Handler
  ) {
    self.number = number
    self.method = method
    self.pattern = pattern
    self.parameterNames = parameterNames
    self.mediaTypes = mediaTypes
    self.bodyBytesMax = bodyBytesMax
    self.isHealthCheck = isHealthCheck
    self.admission = admission
    self.handler = handler
  }

  /// Whether content of this type is accepted (RFC 9110 section 8.3.1: types compare without case).
  func accepts(contentType: String?) -> Bool {
    guard !mediaTypes.isEmpty else { return true }
    guard let essence = contentType?.prefix(while: { $0 != ";" && $0 != " " && $0 != "\t" }).lowercased() else {
      return false
    }
    return mediaTypes.contains(essence)
  }
}
