import Callers
import FoundationEssentials
import Reactors

/// Clients' tokens that are just the id of their user; `unavailable` plays keys that cannot be had.
struct PlainTokens: ClientVerifier {
  func userID(of token: String, on reactor: isolated Reactor) async throws(ClientTokenError) -> UUID {
    if token == "unavailable" { throw ClientTokenError(.unavailable, "no keys") }
    guard let user = UUID(uuidString: token) else { throw ClientTokenError(.invalid, "it is no token") }
    return user
  }
}
