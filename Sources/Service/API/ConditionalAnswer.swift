internal import Cryptography
internal import HTTP1
internal import HTTPTypes

extension HTTPServerRequest {
  /// A JSON document with a strong entity tag; 304 for a client that has it (RFC 9110, section 13.1.2).
  func conditionalAnswer(_ json: [UInt8]) -> HTTPServerResponse {
    let tag = "\"\(SHA256.hash(json).hexadecimal(bytes: 16))\""
    var fields: HTTPFields = [.eTag: tag, .cacheControl: "private, no-cache"]
    if Self.isNamed(tag, by: head.fields[.ifNoneMatch]) {
      return HTTPServerResponse(status: .notModified, fields: fields)
    }
    fields[.contentType] = "application/json"
    return HTTPServerResponse(status: .ok, fields: fields, body: json)
  }

  /// Whether a list of entity tags has this one. Tags of this service have no comma. Weak ones name it too.
  private static func isNamed(_ tag: String, by list: String?) -> Bool {
    (list ?? "").split(separator: ",").contains { element in
      let element = element.drop { $0 == " " || $0 == "\t" }
      let known = (element.hasPrefix("W/") ? element.dropFirst(2) : element).prefix { $0 != " " && $0 != "\t" }
      return known == tag || known == "*"
    }
  }
}
