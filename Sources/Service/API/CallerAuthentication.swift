internal import FoundationEssentials
internal import HTTP1
internal import HTTPServing
internal import HTTPTypes
internal import Logging
internal import Reactors

/// Answers the request of a client whose user is known.
typealias ClientHandler = @Sendable (UUID, HTTPServerRequest, isolated Reactor) async throws -> HTTPServerResponse

/// Who may call the operations of apps and of other servers: the proof is a bearer token (RFC 6750).
public struct CallerAuthentication: Sendable {
  private let clients: (any ClientVerifier)?
  private let services: BearerKeys

  /// - Parameters:
  ///   - clients: whose tokens apps show; nil turns the operations for clients off.
  ///   - services: the keys of other servers; none turns the operations for services off.
  public init(clients: (any ClientVerifier)?, services: BearerKeys) {
    self.clients = clients
    self.services = services
  }

  /// The user who calls.
  ///
  /// A token that is not valid counts against nobody: signatures cannot be guessed, and apps show expired tokens as a
  /// matter of course, many of them from behind one address.
  func client(
    _ request: HTTPServerRequest, _ logger: Logger, on reactor: isolated Reactor
  ) async throws(ProblemDetails) -> UUID {
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

  /// Lets another server in.
  func service(_ request: HTTPServerRequest, _ failures: FailureGate) throws(ProblemDetails) {
    guard !services.isEmpty else { throw .off("SERVICE_KEY is not set") }
    guard let key = request.head.fields.bearerToken else {
      throw .unproven(challenge: "Bearer", "The service key is required.")
    }
    guard services.accepts(key) else {
      throw failures.noteFailure(of: request.client)
        ?? .unproven(challenge: #"Bearer error="invalid_token""#, "This is not the service key.")
    }
  }
}

extension HTTPFields {
  /// What stands behind `Bearer` in Authorization, and is not empty.
  var bearerToken: String? {
    guard let parts = self[.authorization]?.split(separator: " ", maxSplits: 1), parts.count == 2,
      parts[0].lowercased() == "bearer"
    else { return nil }
    return String(parts[1])
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
