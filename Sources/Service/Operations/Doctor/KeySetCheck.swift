internal import FoundationEssentials
internal import HTTPTransfers
internal import HTTPTypes
internal import Reactors
internal import Settings

/// What came of fetching the key set.
enum KeySetAnswer: Equatable, Sendable {
  case answered(status: Int, body: [UInt8])
  /// It did not, in words without the URL.
  case failed(String)
}

/// Whether the keys of clients' tokens are available.
enum KeySetCheck {
  static let name = "jwks"

  static let notUsed = CheckFinding(name, .skipped, "JWKS_URL is not set")

  private struct Document: Decodable {
    struct Key: Decodable {
      let kty: String
    }

    let keys: [Key]
  }

  static func judge(_ answer: KeySetAnswer) -> CheckFinding {
    switch answer {
    case .failed(let words):
      return CheckFinding(
        name, .failure, "the key set cannot be fetched: \(words)",
        remedy: "see whether JWKS_URL and JWKS_CA_FILE are right and the host can be reached from here")
    case .answered(200, let body): return judge(body)
    case .answered(let status, _):
      return CheckFinding(name, .failure, "the answer is status \(status)", remedy: "correct JWKS_URL")
    }
  }

  private static func judge(_ body: [UInt8]) -> CheckFinding {
    guard let document = try? JSONDecoder().decode(Document.self, from: Data(body)) else {
      return CheckFinding(name, .failure, "the answer is no key set", remedy: "correct JWKS_URL")
    }
    guard !document.keys.isEmpty else {
      return CheckFinding(
        name, .failure, "the key set has no key", remedy: "add an asymmetric signing key where clients log in")
    }
    let types = Set(document.keys.map { printable($0.kty) }).sorted().joined(separator: ", ")
    return CheckFinding(name, .ok, "\(document.keys.count) keys (\(types))")
  }

  private static func printable(_ text: String) -> String {
    text.prefix(8).filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
  }
}

/// Fetches the key set once.
enum KeySetProbe {
  /// As long as the service waits.
  private static let limit = Duration.seconds(5)
  private static let documentBytesMax = 256 * 1024

  static func ask(_ url: String, certificates: String?, on reactor: isolated Reactor) async -> KeySetAnswer {
    var configuration = HTTPTransferConfiguration()
    if let certificates { configuration.trust = .only(certificates) }
    let client = HTTPTransferClient(configuration, on: reactor)
    defer { client.close(on: reactor) }
    do throws(HTTPTransferError) {
      let response = try await client.send(
        HTTPTransferRequest(
          url: url, fields: [.accept: "application/json"], deadline: limit, bodyBytesMax: documentBytesMax),
        on: reactor)
      return .answered(status: response.status.code, body: response.body)
    } catch {
      return .failed(error.debugDescription)
    }
  }
}
