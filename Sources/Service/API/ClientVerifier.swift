public import FoundationEssentials
public import Reactors

/// Knows whose token a client shows.
public protocol ClientVerifier: Sendable {
  /// The user a token was issued to: its `sub`.
  /// - Parameter token: as it stands behind `Bearer`.
  func userID(of token: String, on reactor: isolated Reactor) async throws(ClientTokenError) -> UUID
}

/// Why a client's token proves nothing.
public struct ClientTokenError: Error, Sendable, Equatable {
  /// The kinds of failure.
  public enum Code: Sendable, Equatable {
    /// The token is not one of ours, not valid now, or not for us.
    case invalid
    /// The keys to verify it with cannot be had at the moment.
    case unavailable
  }

  /// The kind of failure.
  public let code: Code

  /// What exactly, for an engineer; nothing of the token.
  public let detail: String

  /// Describes a failure.
  public init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }
}
