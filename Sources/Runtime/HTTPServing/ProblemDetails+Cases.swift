internal import HTTPTypes

// What the service itself answers.

extension ProblemDetails {
  static var notFound: ProblemDetails { ProblemDetails(.notFound, detail: "Nothing is at this path.") }

  /// RFC 9110 section 15.5.6 requires Allow.
  static func methodNotAllowed(_ allowed: String) -> ProblemDetails {
    ProblemDetails(
      .methodNotAllowed, detail: "The resource does not support this method.", fields: [.allow: allowed])
  }

  static var contentTooLarge: ProblemDetails { ProblemDetails(.contentTooLarge, detail: "The content is too large.") }

  /// RFC 9110 section 15.5.16 suggests Accept.
  static func unsupportedMediaType(_ accepted: [String]) -> ProblemDetails {
    let list = accepted.joined(separator: ", ")
    return ProblemDetails(
      .unsupportedMediaType, detail: "The content must be one of: \(list).", fields: [.accept: list])
  }

  static var internalServerError: ProblemDetails {
    ProblemDetails(.internalServerError, detail: "The request could not be processed.")
  }
}
