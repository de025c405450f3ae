package import FoundationEssentials
internal import HTTPServing
internal import HTTPTypes

/// Reads what callers send.
enum RequestContent {
  /// A JSON document.
  /// - Throws: a problem whose `field` names the path of what is wrong, e.g. `record.id` or `list[0].id`; nil when the
  ///   whole body is.
  static func decode<Document: Decodable>(
    _ type: Document.Type = Document.self, from bytes: [UInt8]
  ) throws(ProblemDetails) -> Document {
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch let problem as ProblemDetails {
      throw problem
    } catch let error as DecodingError {
      throw ProblemDetails(error)
    } catch {
      throw .content(nil, "The body is not valid JSON.")
    }
  }
}

extension HTTPServerRequest {
  /// The UUID that the path has at the pattern's `{name}`.
  func uuid(_ name: String) throws(ProblemDetails) -> UUID {
    guard let id = UUID(hyphenated: parameter(name)) else { throw .content(name, "\(name) must be a UUID.") }
    return id
  }
}

extension ProblemDetails {
  /// 400 for content that cannot be used.
  /// - Parameters:
  ///   - field: as a path; nil when the whole body is to blame. detail: for the caller to read; nothing of the body.
  static func content(_ field: String?, _ detail: String) -> ProblemDetails {
    ProblemDetails(.badRequest, detail: detail, extensions: field.map { [("field", .string($0))] } ?? [])
  }

  /// 422 for content of the right form that cannot be meant, such as a time zone that nobody knows.
  static func unprocessable(_ field: String, _ detail: String) -> ProblemDetails {
    ProblemDetails(.unprocessableContent, detail: detail, extensions: [("field", .string(field))])
  }

  fileprivate init(_ error: DecodingError) {
    switch error {
    case .keyNotFound(let key, let context):
      self = .fault(context.codingPath + [key], "is missing")
    case .typeMismatch(_, let context):
      self = .fault(context.codingPath, "has the wrong type")
    case .valueNotFound(_, let context):
      self = .fault(context.codingPath, "must not be null")
    case .dataCorrupted(let context) where !context.codingPath.isEmpty:
      self = .fault(context.codingPath, context.debugDescription)
    default:
      self = .content(nil, "The body is not valid JSON.")
    }
  }

  private static func fault(_ path: [any CodingKey], _ fault: String) -> ProblemDetails {
    path.fieldPath.map { .content($0, "\($0) \(fault).") } ?? .content(nil, "The body must be a JSON object.")
  }
}

extension [any CodingKey] {
  /// As a problem's `field` names it, such as `list[0].id`; nil for the whole body.
  var fieldPath: String? {
    isEmpty
      ? nil
      : reduce("") { field, key in
        if let index = key.intValue { return "\(field)[\(index)]" }
        return field.isEmpty ? key.stringValue : "\(field).\(key.stringValue)"
      }
  }
}

extension UUID {
  /// The text form of RFC 9562, in either case, and nothing else: `init(uuidString:)` also takes texts in which other
  /// characters stand where digits should, or that go on behind the last one.
  package init?(hyphenated text: String) {
    guard text.utf8.count == 36, let id = UUID(uuidString: text),
      id.uuidString.lowercased() == text.lowercased()
    else { return nil }
    self = id
  }
}

extension KeyedDecodingContainer {
  /// A UUID in its text form.
  func decodeUUID(forKey key: Key) throws -> UUID {
    guard let id = UUID(hyphenated: try decode(String.self, forKey: key)) else {
      throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "must be a UUID")
    }
    return id
  }

  /// A UUID in its text form; nil when it is absent or null.
  func decodeUUIDIfPresent(forKey key: Key) throws -> UUID? {
    try contains(key) && !decodeNil(forKey: key) ? decodeUUID(forKey: key) : nil
  }
}
