internal import Foundation

/// Why a call came to nothing.
public struct PushServiceError: Error, Hashable, Sendable {
  /// The kinds of failure, by what the app can do about them.
  public enum Code: Hashable, Sendable {
    /// No answer came: the network or the service is away. Trying again later may help.
    case unreachable
    /// The service has too much to do, or its database is away. Trying again later may help.
    case unavailable
    /// The token is not valid: the user must log in again, or the token be renewed.
    case unauthorized
    /// The user does not take part in what they asked for.
    case forbidden
    /// There is no such thing.
    case notFound
    /// The service does not take the request as it is: a mistake of the app, or versions that do not fit.
    case refused
    /// The token could not be had from the app itself.
    case noToken
  }

  /// The kind of failure.
  public let code: Code

  /// The HTTP status; nil when no answer came.
  public var status: Int?

  /// What the service says of it, for a developer to read.
  public var detail: String?

  /// The member of the request's content that is to blame.
  public var field: String?

  /// How long the service wants to be left alone.
  public var retryAfter: Duration?

  /// Whether the same call may succeed later.
  public var isTemporary: Bool { code == .unreachable || code == .unavailable || code == .noToken }

  init(_ code: Code) { self.code = code }

  /// What an answer that is no success means.
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
