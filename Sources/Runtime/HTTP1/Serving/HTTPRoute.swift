internal import HTTPTypes
package import Reactors

/// Answers a request, on the reactor of its connection.
///
/// A thrown `ProblemDetails` is the answer. ``HTTPHangUp`` closes the connection without one. Other errors are logged and
/// answered with 500. The next request of the connection begins after this answer.
package typealias HTTPHandler = @Sendable (HTTPServerRequest, isolated Reactor) async throws -> HTTPServerResponse

/// Answers a request without waiting. Needs no task, so it is the cheapest kind of ``HTTPHandler``.
package typealias HTTPImmediateHandler = @Sendable (HTTPServerRequest, isolated Reactor) throws -> HTTPServerResponse

/// Identifies the caller by the request's head, before its content is read, so that the content of strangers takes no memory.
///
/// The request has no content. A thrown error is answered as in an ``HTTPHandler``.
package typealias HTTPAdmission = @Sendable (HTTPServerRequest, isolated Reactor) async throws -> HTTPAdmitted

/// The handler for an admitted request.
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
