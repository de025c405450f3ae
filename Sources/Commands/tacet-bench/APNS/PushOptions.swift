import APNS
import APNSCore
import ArgumentParser
import Crypto
import FoundationEssentials

/// What the pushes say of themselves.
struct PushOptions: ParsableArguments {
  /// Devices when no file names any.
  private static let devices = 64

  @Option(help: "The app's bundle identifier.")
  var bundle = "com.example.app"

  @Option(help: "A file with one device token per line, which take turns; random ones when left out.")
  var deviceTokens: String?

  @Option(help: "A .p8 file that signs the provider token; a key of its own when left out.")
  var key: String?

  @Option(help: "The key's identifier.")
  var keyID = "BENCHKEY01"

  @Option(help: "The team's identifier.")
  var teamID = "BENCHTEAM1"

  func credentials() throws -> ProviderCredentials {
    try ProviderCredentials(
      keyIdentifier: keyID, teamIdentifier: teamID,
      privateKey: key.map { try Self.text(of: $0) } ?? P256.Signing.PrivateKey().pemRepresentation)
  }

  func series() throws -> PushSeries {
    let tokens = try deviceTokens.map { try Self.lines(of: $0) } ?? (0..<Self.devices).map { _ in Self.randomToken() }
    guard !tokens.isEmpty else { throw ValidationError("--device-tokens names an empty file") }
    return try PushSeries(to: tokens, ofApp: BundleIdentifier(bundle))
  }

  private static func lines(of path: String) throws -> [String] {
    try text(of: path).split(whereSeparator: \.isNewline).map(String.init)
  }

  private static func text(of path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
  }

  /// 64 digits, as most tokens have.
  private static func randomToken() -> String {
    (0..<64).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
  }
}
