internal import FoundationEssentials
internal import HTTPTransfers
internal import HTTPTypes

/// What became of a fetch, as metrics and `tacet.notif_contents` name it.
enum ContentCode: String {
  /// 200 with a document.
  case stored = "FETCH_STORED"
  case notModified = "ETAG_NOT_MODIFIED"
  /// No whole answer in time.
  case timedOut = "FETCH_TIMEOUT"
  /// Any other status, redirects included.
  case status = "FETCH_STATUS"
  case tooLarge = "FETCH_TOO_LARGE"
  /// Not a JSON object of strings.
  case malformed = "FETCH_MALFORMED"
  case forbidden = "FETCH_FORBIDDEN_ADDRESS"
  /// The URL of the campaign, or with this user's id, cannot be requested.
  case unusableURL = "FETCH_UNUSABLE_URL"
  /// No answer for another reason.
  case unreachable = "FETCH_UNREACHABLE"
}

enum ContentAnswer: Equatable {
  /// A document, as JSON with sorted members, and its version.
  case document(String, etag: String?)
  case unchanged
  /// The stored document stays.
  case failure(ContentCode)

  /// The longest version that is kept, in bytes. Those of common servers have some 40.
  static let etagBytesMax = 512

  /// - Parameter isConditional: whether the request named a version; otherwise 304 says nothing.
  init(_ response: HTTPTransferResponse, isConditional: Bool) {
    switch response.status.code {
    case 200:
      guard let document = ContentDocument(response.body) else {
        self = .failure(.malformed)
        return
      }
      self = .document(document.text, etag: response.fields[.eTag].flatMap(Self.usable))
    case 304 where isConditional: self = .unchanged
    default: self = .failure(.status)
    }
  }

  init(_ error: HTTPTransferError) {
    let code: ContentCode =
      switch error.code {
      case .timedOut: .timedOut
      case .tooLarge: .tooLarge
      case .forbidden: .forbidden
      case .invalidRequest: .unusableURL
      default: .unreachable
      }
    self = .failure(code)
  }

  var code: ContentCode {
    switch self {
    case .document: .stored
    case .unchanged: .notModified
    case .failure(let code): code
    }
  }

  /// Visible ASCII, which is sent back as it is.
  private static func usable(_ etag: String) -> String? {
    (1...etagBytesMax).contains(etag.utf8.count) && etag.utf8.allSatisfy { (0x20...0x7e).contains($0) } ? etag : nil
  }
}

/// A JSON object whose members are all strings.
struct ContentDocument {
  /// The same object with sorted members, no longer than the answer.
  let text: String

  init?(_ body: [UInt8]) {
    guard Self.endsAsObject(body), let values = try? JSONDecoder().decode([String: String].self, from: Data(body)),
      // PostgreSQL's texts have no such character.
      !values.contains(where: { $0.key.utf8.contains(0) || $0.value.utf8.contains(0) })
    else { return nil }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(values) else { return nil }
    text = String(decoding: data, as: UTF8.self)
  }

  /// Whether a string or nothing is before the last brace: the decoder takes a comma there, and other encodings than UTF-8, and a byte order mark.
  private static func endsAsObject(_ body: [UInt8]) -> Bool {
    let white: Set<UInt8> = [0x20, 0x09, 0x0a, 0x0d]
    var rest = body[...]
    func takeLast() -> UInt8? {
      while let last = rest.last, white.contains(last) { rest.removeLast() }
      return rest.popLast()
    }
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    guard String(validating: body, as: UTF8.self) != nil, !body.starts(with: mark), takeLast() == UInt8(ascii: "}")
    else { return false }
    let last = takeLast()
    return last == UInt8(ascii: "\"") || last == UInt8(ascii: "{")
  }
}
