internal import FoundationEssentials
internal import HTTPTypes
internal import PushRules

/// What the token endpoint answers.
///
/// Source: RFC 6749 section 5; Google, "Using OAuth 2.0 for Server to Server Applications".
struct AccessTokenAnswer: Equatable {
  /// The largest answer, in bytes. Google's have about 1 KiB.
  static let bytesMax = 16 * 1024

  /// The longest token, in bytes. Google's have up to 2 KiB.
  private static let tokenBytesMax = 4096

  /// Lifetimes outside this range are brought to its ends, in seconds. Google says 3599.
  private static let lifetimes: ClosedRange<Int64> = 60...3600

  /// Visible ASCII, so that it fits a header field.
  let token: String

  let lifetime: Duration

  /// - Throws: `credentials` for what only an operator can change, which includes a success without an access token:
  ///   the scope is not one of the account's. `unavailable` for 408, 429, 5xx and for a success that is not JSON, which
  ///   does not come from Google.
  init(status: Int, fields: HTTPFields, body: [UInt8]) throws(AccessTokenError) {
    let document = try? JSONDecoder().decode(Document.self, from: Data(body.prefix(Self.bytesMax)))
    guard status == 200 else { throw Self.refusal(status, fields, document) }
    guard let document else { throw AccessTokenError(.unavailable, "invalid_answer", fault: .service) }
    guard let token = document.accessToken else {
      throw AccessTokenError(.credentials, "no_access_token", fault: .configuration)
    }
    guard 1...Self.tokenBytesMax ~= token.utf8.count, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw AccessTokenError(.unavailable, "invalid_answer", fault: .service)
    }
    self.token = token
    let seconds = document.expiresIn ?? Self.lifetimes.upperBound
    lifetime = .seconds(min(max(seconds, Self.lifetimes.lowerBound), Self.lifetimes.upperBound))
  }

  private static func refusal(_ status: Int, _ fields: HTTPFields, _ document: Document?) -> AccessTokenError {
    let word = document?.error.flatMap { AnswerWord($0)?.text } ?? "http_\(status)"
    let message = document?.errorDescription ?? ""
    guard status == 408 || status == 429 || status >= 500 else {
      return AccessTokenError(.credentials, word, message, fault: .configuration)
    }
    var error = AccessTokenError(.unavailable, word, message, fault: status == 429 ? .throttle : .service)
    error.askedWait = RetryAfter.wait(fields) ?? .zero
    return error
  }

  /// A member of a wrong type counts as missing.
  private struct Document: Decodable {
    let accessToken: String?
    let expiresIn: Int64?
    let error: String?
    let errorDescription: String?

    enum CodingKeys: String, CodingKey {
      case error
      case accessToken = "access_token"
      case expiresIn = "expires_in"
      case errorDescription = "error_description"
    }

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      accessToken = try? values.decode(String.self, forKey: .accessToken)
      expiresIn = try? values.decode(Int64.self, forKey: .expiresIn)
      error = try? values.decode(String.self, forKey: .error)
      errorDescription = try? values.decode(String.self, forKey: .errorDescription)
    }
  }
}

/// A code word of an answer: 1 to 64 letters, digits and underscores. Anything else in its place is ignored.
struct AnswerWord: Equatable {
  private static let bytesMax = 64

  let text: String

  init?(_ text: String) {
    guard 1...Self.bytesMax ~= text.utf8.count, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
    self.text = text
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
