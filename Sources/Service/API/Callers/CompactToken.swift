internal import Cryptography
internal import FoundationEssentials

/// A signed token in the compact form of RFC 7515 section 7.1, taken apart: nothing in it is believed yet.
struct CompactToken {
  let header: TokenHeader
  let payload: [UInt8]
  let signature: [UInt8]
  /// What the signature is over: the first two parts as they came.
  let signed: [UInt8]

  init(_ text: String) throws(ClientTokenError) {
    let bytes = Array(text.utf8)
    let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .invalid("it has not three parts") }
    guard let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
      let signature = Base64URL.decode(parts[2])
    else { throw .invalid("it is not base64url") }
    self.header = try TokenHeader.read(header)
    self.payload = payload
    self.signature = signature
    signed = Array(bytes[..<parts[1].endIndex])
  }
}

/// The header of RFC 7515 section 4, as far as it is obeyed. Keys that a token brings along, or names the place of, are not
/// looked at.
struct TokenHeader: Decodable, Equatable {
  let alg: String
  let kid: String?
  /// Whether there are extensions that must be understood.
  let hasCritical: Bool

  private enum Key: String, CodingKey {
    case alg, kid, crit
  }

  init(from decoder: any Decoder) throws {
    let header = try decoder.container(keyedBy: Key.self)
    alg = try header.decode(String.self, forKey: .alg)
    kid = try header.decodeIfPresent(String.self, forKey: .kid)
    hasCritical = header.contains(.crit)
  }

  /// The algorithm, if a token with this header can be verified at all.
  func acceptedAlgorithm() throws(ClientTokenError) -> VerificationKey.Algorithm {
    guard !hasCritical else { throw .invalid("it has critical extensions") }
    guard let algorithm = VerificationKey.Algorithm(rawValue: alg) else {
      throw .invalid("its algorithm is not accepted")
    }
    return algorithm
  }

  static func read(_ bytes: [UInt8]) throws(ClientTokenError) -> TokenHeader {
    do {
      return try JSONDecoder().decode(TokenHeader.self, from: Data(bytes))
    } catch {
      throw .invalid("its header cannot be read")
    }
  }
}
