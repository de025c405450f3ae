internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import PushRules
internal import PushStore
internal import TemporalReferences

enum RequestContent {
  /// A JSON document. Refused are U+0000, which PostgreSQL stores nowhere, in any of its strings, and integers beyond 64 bits, which
  /// would lose digits.
  /// - Throws: a problem whose `field` names the path of what is wrong, e.g. `record.id` or `list[0].id`; nil when the
  ///   whole body is.
  /// - Parameters:
  ///   - idTypes: of the ids in it.
  ///   - limits: before anything of it is decoded.
  static func decode<Document: Decodable>(
    _ type: Document.Type = Document.self, from bytes: [UInt8], idTypes: IDTypes = IDTypes(),
    limits: JSONLimits = .client
  ) throws(ProblemDetails) -> Document {
    try read(bytes, idTypes: idTypes, limits: limits, Document.init(from:))
  }

  /// The same, of a document that ``decode(_:from:idTypes:limits:)`` has no type for.
  static func read<Document>(
    _ bytes: [UInt8], idTypes: IDTypes = IDTypes(), limits: JSONLimits = .client,
    _ document: (any Decoder) throws -> Document
  ) throws(ProblemDetails) -> Document {
    do {
      let value = try PayloadValue(json: bytes, limits: limits)
      return try document(PayloadDecoder(value, userInfo: [.idTypes: idTypes]))
    } catch let problem as ProblemDetails {
      throw problem
    } catch let error as DecodingError {
      throw ProblemDetails(error)
    } catch let fault as JSONFault {
      throw ProblemDetails(fault, limits)
    } catch {
      throw .content(nil, "The body is not valid JSON.")
    }
  }
}

extension CodingUserInfoKey {
  /// The types of a document's ids. The name is not empty, so making it cannot fail.
  fileprivate static let idTypes = CodingUserInfoKey(rawValue: "tacet.id_types")!
}

extension IDTypes.IDType {
  func id(_ text: String, named name: String) throws(ProblemDetails) -> HostID {
    guard let id = id(text) else { throw .content(name, "\(name) must be \(noun).") }
    return id
  }
}

extension HTTPServerRequest {
  /// The user that the query's `user_id` names, its only parameter.
  func namedUser(_ services: PushServices) throws(ProblemDetails) -> HostID? {
    try StrictQuery(head, known: ["user_id"]).id("user_id", of: services.idTypes.users)
  }

  /// The id that the path has at the pattern's `{name}`.
  func id(_ name: String, of type: IDTypes.IDType) throws(ProblemDetails) -> HostID {
    try type.id(parameter(name), named: name)
  }

  /// The id of a row of Tacet's own that the path has at the pattern's `{name}`.
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

  /// 422 for well-formed but meaningless content, such as an unknown time zone.
  static func unprocessable(_ field: String, _ detail: String) -> ProblemDetails {
    ProblemDetails(.unprocessableContent, detail: detail, extensions: [("field", .string(field))])
  }

  /// 400 for content that is no JSON, or none that is read.
  fileprivate init(_ fault: JSONFault, _ limits: JSONLimits) {
    let place = fault.fieldPath
    let whose = place ?? "The body"
    switch fault.code {
    case .malformed: self = .content(nil, "The body is not valid JSON.")
    case .tooDeep:
      self = .content(place, "The body has more than \(limits.depthMax) arrays and objects inside each other.")
    case .tooManyElements: self = .content(nil, "The body has more than \(limits.elementsMax) values.")
    case .numberTooLarge: self = .content(place, "\(whose) has a number that is too large.")
    case .nullCharacter: self = .content(place, "\(whose) must not contain U+0000.")
    case .tooManyMarks:
      self = .content(place, "\(whose) has more than \(JSONLimits.marksMax) combining marks in a row.")
    }
  }

  /// 400 for content that cannot be decoded.
  init(_ error: DecodingError) {
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

/// Names that a problem tells of, and the most of each in Unicode scalars: the caller chose both.
private let (namesToldMax, nameScalarsMax) = (8, 64)

extension String {
  /// The beginning of a name that a caller chose.
  fileprivate var told: String { String(String.UnicodeScalarView(unicodeScalars.prefix(nameScalarsMax))) }
}

extension JSONFault {
  /// As a problem's `field` names it; nil for the whole body.
  fileprivate var fieldPath: String? {
    path.isEmpty
      ? nil
      : path.prefix(namesToldMax).map(\.told).reduce("") { field, name in
        field.isEmpty || name.hasPrefix("[") ? field + name : "\(field).\(name)"
      }
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

extension KeyedDecodingContainer {
  /// An id as text; an integer may also be a number, as webhooks of databases write it.
  /// - Parameter kind: what it is an id of.
  func decodeID(_ kind: KeyPath<IDTypes, IDTypes.IDType>, forKey key: Key) throws -> HostID {
    let types = try superDecoder(forKey: key).userInfo[.idTypes] as? IDTypes ?? IDTypes()
    let type = types[keyPath: kind]
    let number = type == .uuid ? nil : try? decode(Int64.self, forKey: key)
    guard let id = type.id(try number.map { String($0) } ?? decode(String.self, forKey: key)) else {
      throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "must be \(type.noun)")
    }
    return id
  }

  /// The same; nil when it is absent or null.
  func decodeIDIfPresent(_ kind: KeyPath<IDTypes, IDTypes.IDType>, forKey key: Key) throws -> HostID? {
    try contains(key) && !decodeNil(forKey: key) ? decodeID(kind, forKey: key) : nil
  }

  /// Refuses a list or an object that has more values than it may, before any of them is decoded.
  func requireFew(_ key: Key, _ countMax: Int, _ noun: String) throws {
    let count =
      switch try? decodeIfPresent(PayloadValue.self, forKey: key) {
      case .array(let values): values.count
      case .object(let object): object.members.count
      default: 0
      }
    try require(count <= countMax, key, "must not have more than \(countMax) \(noun)")
  }
}

extension Decoder {
  /// The members of an object that has no others than these: a misspelt one would silently do nothing.
  /// - Throws: 400 that names the others.
  func members(_ names: String..., besides others: [String] = []) throws -> Members {
    try members(of: others + names)
  }

  func members(of known: [String]) throws -> Members {
    let members = try container(keyedBy: MemberName.self)
    let unknown = members.allKeys.map(\.stringValue).filter { name in !known.contains { $0.hasSameBytes(as: name) } }
    guard unknown.isEmpty else {
      // In the order of bytes, which costs less than that of texts.
      let sorted = unknown.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      throw ProblemDetails.unknownMembers(sorted, at: codingPath)
    }
    return members
  }
}

extension HTTPServerResponse {
  init(status: HTTPResponse.Status = .ok, _ document: PayloadObject) {
    self.init(status: status, json: document.encoded())
  }
}

extension ProblemDetails {
  fileprivate static func unknownMembers(_ names: [String], at path: [any CodingKey]) -> ProblemDetails {
    let place = path.fieldPath.map { $0 + "." } ?? ""
    let told = names.prefix(namesToldMax).map { place + $0.told }
    let more = names.count > namesToldMax ? " and \(names.count - namesToldMax) more" : ""
    return .content(told[0], "Unknown members: \(told.joined(separator: ", "))\(more).")
  }
}

/// The parameters of a query, each at most once, and no unknown one: a misspelt parameter would change what is asked.
struct StrictQuery {
  private let values: [String: String]

  init(_ head: RequestHead, known names: [String]) throws(ProblemDetails) {
    let parameters = head.queryParameters
    let sent = (head.query ?? "").split(separator: "&").count
    let unknown = parameters.first { !names.contains($0.name) }?.name
    guard parameters.count == sent, unknown == nil else {
      throw .content(unknown, "The parameters are \(Self.list(names)).")
    }
    for name in names where parameters.count(where: { $0.name == name }) > 1 {
      throw .content(name, "\(name) must come once.")
    }
    var values: [String: String] = [:]
    for name in names { values[name] = head.queryValue(name) }
    self.values = values
  }

  subscript(name: String) -> String? { values[name] }

  func id(_ name: String, of type: IDTypes.IDType) throws(ProblemDetails) -> HostID? {
    guard let text = values[name] else { return nil }
    return try type.id(text, named: name)
  }

  /// A kind's or a campaign's name.
  func name(_ name: String) throws(ProblemDetails) -> String? {
    guard values[name].map(PushSubject.canBeKind) != false else {
      throw .content(name, "\(name) must be 1 to 63 small letters, digits and underscores, a letter first.")
    }
    return values[name]
  }

  private static func list(_ names: [String]) -> String {
    names.count == 1 ? names[0] : names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
  }
}

/// The outer form of BCP 47 language tags: letters, then parts of letters and digits, 1 to 8 of them each, with hyphens
/// between. Whether a tag exists is not checked.
enum LanguageTag {
  /// The most bytes taken; RFC 5646 section 4.4.1 finds 35 enough for every tag in use.
  static let bytesMax = 85

  /// A tag as apps write it: also as POSIX and Java do, `zh_Hans` and `de_DE.UTF-8@euro`. Nil for what is none.
  static func read(_ text: String) -> String? {
    let bare = text.utf8.prefix { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "@") }
    guard bare.count <= bytesMax, let tag = String(bare)?.replacing("_", with: "-") else { return nil }
    return isWellFormed(tag) ? tag : nil
  }

  static func isWellFormed(_ text: String) -> Bool {
    guard text.utf8.count <= bytesMax else { return false }
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return parts.allSatisfy { (1...8).contains($0.count) && $0.allSatisfy(\.isLetterOrDigit) }
      && parts[0].allSatisfy(\.isLetter)
  }
}

/// The outer form of time zones' names, which begin with a letter. Which of them exist is asked of PostgreSQL.
enum TimeZoneName {
  static func isWellFormed(_ text: String) -> Bool {
    text.utf8.first?.isLetter == true && ZoneName.hasSyntax(text)
  }
}

extension UInt8 {
  fileprivate var isLetter: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
  }

  fileprivate var isLetterOrDigit: Bool { isLetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
