import API
import FoundationEssentials
import PushRules
import Reactors
import TestIDs

/// Clients' tokens that are just the id of their user; `unavailable` plays keys that cannot be had.
struct PlainTokens: ClientVerifier {
  func userID(of token: String, on reactor: isolated Reactor) async throws(ClientTokenError) -> String {
    if token == "unavailable" { throw ClientTokenError(.unavailable, "no keys") }
    guard let user = IDTypes.tested.users.id(token) else { throw ClientTokenError(.invalid, "it is no token") }
    return user.text
  }
}
