import Crypto
import FoundationEssentials

/// What the service needs to run apart from a database: secrets of this run, and where the sink is.
struct ServiceCredentials: Sendable {
  let webhookSecret = Self.secret()
  private let serviceKey = Self.secret()
  private let jwtSecret = Self.secret()
  private let privateKey = P256.Signing.PrivateKey().pemRepresentation
  private let sinkURL: String
  private let authorityFile: String

  /// - Parameter authorityFile: the PEM file of the sink's authority.
  init(sinkURL: String, authorityFile: String) {
    self.sinkURL = sinkURL
    self.authorityFile = authorityFile
  }

  /// The service's environment.
  func settings(database: String, listenAddress: String) -> [String: String] {
    [
      "DATABASE_URL": database, "LISTEN_ADDRESS": listenAddress, "WEBHOOK_SECRET": webhookSecret,
      "SERVICE_KEY": serviceKey, "JWT_SECRET": jwtSecret, "APNS_KEY_ID": "BENCHKEY01", "APNS_TEAM_ID": "BENCHTEAM1",
      "APNS_BUNDLE_ID": "com.example.app", "APNS_PRIVATE_KEY": privateKey, "APNS_URL": sinkURL,
      "APNS_CA_FILE": authorityFile, "LOG_LEVEL": "warning",
    ]
  }

  /// 48 hexadecimal digits.
  private static func secret() -> String {
    SymmetricKey(size: .init(bitCount: 192)).withUnsafeBytes { bytes in
      bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
  }
}
