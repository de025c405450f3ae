internal import Foundation

/// Why a call failed.
public struct PushServiceError: Error, Hashable, Sendable {
  /// The kind of failure, by the app's possible reaction.
  public enum Code: Hashable, Sendable {
    /// No response: the network or the service is unreachable. Try again later.
    case unreachable
    /// The service is overloaded, or its database is unavailable. Try again later.
    case unavailable
    /// The token is not valid. Renew it, or ask the user to log in again.
    case unauthorized
    /// The user is not a participant.
    case forbidden
    /// The object does not exist.
    case notFound
    /// The service refuses the request: a mistake of the app, or incompatible versions.
    case refused
    /// The app could not provide a token.
    case noToken
  }

  /// The kind of failure.
  public let code: Code

  /// The HTTP status; nil without a response.
  public var status: Int?

  /// The service's explanation for a developer.
  public var detail: String?

  /// The wrong member of the request's content.
  public var field: String?

  /// The wait that the service asks for.
  public var retryAfter: Duration?

  /// Whether the same call may succeed later.
  public var isTemporary: Bool { code == .unreachable || code == .unavailable || code == .noToken }

  init(_ code: Code) { self.code = code }

  /// The error of a response.
  init(status: Int, content: Data, retryAfter: String?) {
    switch status {
    case 401: code = .unauthorized
    case 403: code = .forbidden
    case 404: code = .notFound
    case 408, 429, 500...: code = .unavailable
    default: code = .refused
    }
    self.status = status
    let problem = try? JSONDecoder().decode(Problem.self, from: content)
    detail = problem?.detail ?? problem?.title
    field = problem?.field
    self.retryAfter = retryAfter.flatMap(Int.init).flatMap { $0 >= 0 ? .seconds($0) : nil }
  }

  /// Problem details (RFC 9457).
  private struct Problem: Decodable {
    let title: String?
    let detail: String?
    let field: String?
  }
}
