package import HTTPServing
internal import HTTPTypes

extension ProblemDetails {
  /// The request makes no sense; `detail` says to its author why.
  package static func unfit(_ detail: String) -> ProblemDetails {
    ProblemDetails(.badRequest, detail: detail)
  }

  /// A bound is reached.
  package static func full(_ detail: String) -> ProblemDetails {
    ProblemDetails(.serviceUnavailable, detail: detail)
  }
}
