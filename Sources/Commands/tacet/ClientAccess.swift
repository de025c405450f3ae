import API
import HTTPTransfers
import Logging
import Reactors
import Settings

/// How clients prove who they are to this process: the verification of their tokens, and the key set where there is one.
struct ClientAccess: Sendable {
  let verifier: ClientTokenVerifier
  private let keySet: RemoteKeySet?
  private let transfers: ReactorBound<HTTPTransferClient>?

  /// Prepares the verification, and begins to fetch the key set; nil when the settings let no client in.
  /// - Parameters:
  ///   - user: the id of the user whom a token's subject names. reactors: all of the process; the first one fetches.
  init?(
    _ settings: CallerSettings, user: @escaping @Sendable (_ subject: String) -> String?,
    on reactors: [Reactor], logger: Logger
  ) async throws {
    guard settings.acceptsClients else { return nil }
    if let url = settings.keySetURL {
      var configuration = HTTPTransferConfiguration()
      if let certificates = settings.keySetCertificates { configuration.trust = .only(certificates) }
      let transfers = try await reactors[0].perform { [configuration] in
        ReactorBound(HTTPTransferClient(configuration, on: $0), on: $0)
      }
      self.transfers = transfers
      keySet = RemoteKeySet(url: url.exposed, transfers: transfers, logger: logger)
    } else {
      transfers = nil
      keySet = nil
    }
    verifier = try await ClientTokenVerifier(
      TokenRequirements(audiences: settings.audiences, issuer: settings.issuer, user: user),
      secret: settings.jwtSecret?.exposed, keySet: keySet, reactors: reactors)
    keySet?.warmUp()
  }

  /// Whether the key set has ever been had; nil without one. Not to have it is said and makes nothing unready, because
  /// messages are pushed all the same, and another process would not have it either.
  var readiness: ReadinessCheck? {
    keySet.map { ReadinessCheck("jwks", isReady: true, detail: $0.readinessDetail) }
  }

  /// Breaks off a fetch; no more tokens come.
  func close() async {
    await transfers?.perform { $0.close(on: $1) }
  }
}
