internal import Cryptography
internal import HTTPTypes
internal import PushRules

// What the folders of the channels share.

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
