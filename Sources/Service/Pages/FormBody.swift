internal import HTTP1

/// The content of a form as browsers send it: `application/x-www-form-urlencoded`, a few short fields.
struct FormBody: Equatable {
  /// The most fields that a form of ours has.
  static let fieldsMax = 8

  /// The most bytes that are read: a key of a kilobyte, every character of it encoded.
  static let bytesMax = 4096

  private let fields: [String: String]

  /// Reads a form; nil when there are too many fields or bytes, or one of them is not UTF-8 or comes twice.
  ///
  /// A percent sign that encodes nothing stands for itself, as the URL Standard has it.
  init?(_ body: [UInt8]) {
    guard body.count <= Self.bytesMax else { return nil }
    let pairs = body.split(separator: UInt8(ascii: "&"))
    guard pairs.count <= Self.fieldsMax else { return nil }
    var fields: [String: String] = [:]
    for pair in pairs {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count > 1 ? parts[1] : []),
        fields.updateValue(value, forKey: name) == nil
      else { return nil }
    }
    self.fields = fields
  }

  /// The value of a field; nil without it.
  subscript(name: String) -> String? { fields[name] }

  private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
    PercentEncoding.decode(Array(bytes).span, plusIsSpace: true)
  }
}
