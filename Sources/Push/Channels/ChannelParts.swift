internal import Cryptography
internal import HTTPTypes
internal import PushRules

// What the folders of the channels share.

extension PayloadObject {
  /// What a service answered, or an operator's file. Nil for anything but a JSON object.
  init?(reading body: some Collection<UInt8>) {
    guard case .object(let object)? = try? PayloadValue(json: Array(body), limits: .hostRow) else { return nil }
    self = object
  }

  /// Members of a wrong type count as missing, so that a strange answer never hides the words that are there.
  func text(_ name: String) -> String? { self[name]?.text }

  func integer(_ name: String) -> Int64? {
    switch self[name] {
    case .integer(let number): number
    case .number(let number): Int64(exactly: number.value)
    default: nil
    }
  }

  func object(_ name: String) -> PayloadObject? { self[name]?.object }

  func objects(_ name: String) -> [PayloadObject] {
    if case .array(let values)? = self[name] { values.compactMap(\.object) } else { [] }
  }
}

extension PayloadValue {
  var text: String? { if case .string(let text) = self { text } else { nil } }

  fileprivate var object: PayloadObject? { if case .object(let object) = self { object } else { nil } }
}

/// A statement of the sender that a service believes by its signature: a JSON Web Token (RFC 7519).
enum SignedStatement {
  /// - Parameters: both JSON objects.
  static func text<Failure: Error>(
    header: some Collection<UInt8>, claims: some Collection<UInt8>, _ sign: ([UInt8]) throws(Failure) -> [UInt8]
  ) throws(Failure) -> String {
    let signed = Base64URL.encode(header) + "." + Base64URL.encode(claims)
    return signed + "." + Base64URL.encode(try sign(Array(signed.utf8)))
  }
}

extension String {
  /// The longest beginning of whole grapheme clusters and `...` that together take so many bytes less; nil when `...` alone takes more.
  /// - Parameter width: the bytes that one byte of the text takes, such as those of its escape in JSON.
  func shortened(byBytes excess: Int, width: (UInt8) -> Int = { _ in 1 }) -> String? {
    let continuation = "..."
    let room = utf8.reduce(0) { $0 + width($1) } - excess - continuation.utf8.count
    return room < 0 ? nil : beginning(bytesMax: room, width: width) + continuation
  }
}

extension RetryAfter {
  /// The wait that an answer's fields ask for, at most an hour, after which Google says to give up ("Scale FCM"): a longer one would
  /// outlive most pushes, and a broken proxy may ask for years. Nil for a date that has passed.
  static func wait(_ fields: HTTPFields) -> Duration? {
    wait(fields[.retryAfter], date: fields[.date], atMost: .seconds(3600), passed: nil)
  }
}
