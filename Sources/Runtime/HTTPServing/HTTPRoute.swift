internal import HTTPTypes
public import Reactors

/// Answers a request, on the reactor its connection lives on.
///
/// A thrown `ProblemDetails` is the answer, and after a thrown ``HTTPHangUp`` there is none; any other error is logged and
/// answered with 500. The next request of the same connection is not begun before this one is answered.
public typealias HTTPHandler = @Sendable (HTTPServerRequest, isolated Reactor) async throws -> HTTPServerResponse

/// Answers a request that needs no wait: without a task of its own, so the cheapest way; the same otherwise.
public typealias HTTPImmediateHandler = @Sendable (HTTPServerRequest, isolated Reactor) throws -> HTTPServerResponse

/// Settles who asks, from the head alone: before any content is read, so that strangers cannot have it kept for them.
///
/// What it throws is the answer, as of an ``HTTPHandler``; the request that it gets has no content.
public typealias HTTPAdmission = @Sendable (HTTPServerRequest, isolated Reactor) async throws -> HTTPAdmitted

/// Who answers a request whose caller is settled.
public struct HTTPAdmitted: Sendable {
  let handler: HTTPHandler
  let bodyBytesMax: Int?
  let isProven: Bool

  /// Lets the request in.
  /// - Parameters:
  ///   - bodyBytesMax: the largest content that this caller may send, in bytes; nil for the route's limit.
  ///   - isProven: whether it is known already who asks, or will be from the content: until then its memory is counted with
  ///     that of strangers.
  public init(bodyBytesMax: Int? = nil, isProven: Bool = true, handler: @escaping HTTPHandler) {
    self.handler = handler
    self.bodyBytesMax = bodyBytesMax
    self.isProven = isProven
  }
}

/// What is known of a method at a path pattern. An object, so that a match hands out a reference.
final class HTTPRoute: Sendable {
  enum Handler: Sendable {
    case immediate(HTTPImmediateHandler)
    case suspending(HTTPHandler)
    case admitting(HTTPAdmission)
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

  /// Whether content of this type is accepted (RFC 9110 section 8.3.1: types compare without case).
  func accepts(contentType: String?) -> Bool {
    guard !mediaTypes.isEmpty else { return true }
    guard let essence = contentType?.prefix(while: { $0 != ";" && $0 != " " && $0 != "\t" }).lowercased() else {
      return false
    }
    return mediaTypes.contains(essence)
  }
}

/// Thrown by a handler to close the connection without an answer, as a server that dies does; nginx has the status 444 for
/// it. Answers to earlier requests of a pipeline that have not been written yet are lost too.
public struct HTTPHangUp: Error, Sendable {
  /// Nothing is said.
  public init() {}
}
