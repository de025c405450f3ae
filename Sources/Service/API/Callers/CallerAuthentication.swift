package import HTTP1
internal import HTTPTypes
package import Logging
package import Reactors

/// Who may call the operations of apps and of other servers: the proof is a bearer token (RFC 6750).
package struct CallerAuthentication: Sendable {
  private let clients: (any ClientVerifier)?
  private let services: BearerKeys

  /// - Parameters:
  ///   - clients: verifies the tokens of apps; nil turns the operations for clients off.
  ///   - services: the keys of other servers; without one the operations for services are off.
  package init(clients: (any ClientVerifier)?, services: BearerKeys) {
    self.clients = clients
    self.services = services
  }

  /// The user who calls.
  ///
  /// An invalid token is not counted as a failure of the peer: signatures cannot be guessed, and apps show expired tokens as a
  /// matter of course, many of them from behind one address.
  package func client(
    _ request: HTTPServerRequest, _ logger: Logger, on reactor: isolated Reactor
  ) async throws(ProblemDetails) -> String {
    guard let clients else { throw .off("neither JWT_SECRET nor JWKS_URL is set") }
    guard let token = request.head.fields.bearerToken else {
      throw .unproven(challenge: "Bearer", "A client's token is required.")
    }
    do throws(ClientTokenError) {
      return try await clients.userID(of: token, on: reactor)
    } catch {
      guard error.code == .invalid else {
        throw ProblemDetails(
          .serviceUnavailable, detail: "Tokens cannot be verified at the moment.", fields: [.retryAfter: "5"])
      }
      logger.debug("a client's token is not valid", metadata: ["detail": "\(error.detail)"])
      throw .unproven(challenge: #"Bearer error="invalid_token""#, "The token is not valid: \(error.detail).")
    }
  }

  /// Lets another server in, or counts its failure.
  package func service(_ request: HTTPServerRequest, _ failures: FailureGate) throws(ProblemDetails) {
    guard !services.isEmpty else { throw .off("SERVICE_KEY is not set") }
    guard let key = request.head.fields.bearerToken else {
      throw .unproven(challenge: "Bearer", "The service key is required.")
    }
    guard services.accepts(key) else {
      throw failures.recordFailure(of: request.client)
        ?? .unproven(challenge: #"Bearer error="invalid_token""#, "This is not the service key.")
    }
  }
}

extension ProblemDetails {
  fileprivate static func unproven(challenge: String, _ detail: String) -> ProblemDetails {
    ProblemDetails(.unauthorized, detail: detail, fields: [.wwwAuthenticate: challenge])
  }

  fileprivate static func off(_ reason: String) -> ProblemDetails {
    ProblemDetails(.notFound, detail: "This operation is off: \(reason).")
  }
}

package protocol ClientVerifier: Sendable {
  /// The user a token was issued to: its `sub`.
  /// - Parameter token: the text behind `Bearer`.
  func userID(of token: String, on reactor: isolated Reactor) async throws(ClientTokenError) -> String
}

package struct ClientTokenError: Error, Sendable, Equatable {
  package enum Code: Sendable, Equatable {
    /// The token is forged, not valid now, or for another audience.
    case invalid
    /// The keys to verify it with are not available at the moment.
    case unavailable
  }

  package let code: Code

  /// What exactly, for an engineer; nothing of the token.
  package let detail: String

  package init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }
}
