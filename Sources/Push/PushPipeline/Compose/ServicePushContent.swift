internal import APNSCore
internal import FoundationEssentials
internal import PushStore

/// The content of a push that another server asks for, shown uncut.
public struct ServicePushContent: Decodable, Equatable, Sendable {
  /// The most Unicode scalars of a title.
  public static let titleScalarsMax = 256
  /// The most Unicode scalars of a body.
  public static let bodyScalarsMax = 2048
  /// The most bytes of the data as compact JSON.
  public static let dataBytesMax = 2048

  /// Kinds with another meaning.
  private static let reservedKinds: Set<String> = ["message", "messages", "pushes", "read_sync"]
  /// Members that the payload sets itself.
  private static let reservedNames = ["aps", "type", "push_log_id", "subject_id"]

  /// As ledger and payload name it.
  public let kind: String
  /// The first line, not empty.
  public let title: String
  /// The text; may be empty.
  public let body: String
  private let object: PayloadObject

  /// The app's own data as compact JSON; nil without any.
  public var data: String? { object.members.isEmpty ? nil : String(decoding: object.encoded(), as: UTF8.self) }

  /// Whether a text can be a collapse identifier.
  public static func canCollapse(_ text: String) -> Bool { (try? CollapseIdentifier(text)) != nil }

  private enum Key: String, CodingKey, CaseIterable {
    case kind, title, body, data
  }

  /// The members of an object that it reads.
  public static let memberNames = Set(Key.allCases.map(\.rawValue))

  /// Reads the members `kind` (`push` without it), `title`, `body` and `data` (an object, optional) of a JSON object.
  /// - Throws: `DecodingError` that names the member which cannot be used, `body` for a push larger than APNs takes.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    kind = try container.decodeIfPresent(String.self, forKey: .kind) ?? "push"
    title = try container.decode(String.self, forKey: .title)
    body = try container.decode(String.self, forKey: .body)
    object = try container.decodeIfPresent(PayloadObject.self, forKey: .data) ?? [:]
    for (key, fault) in faults {
      throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: fault)
    }
  }

  /// - Throws: `DecodingError` for data that is not a JSON object, which no stored push has.
  init(_ notice: EventNotice, kind: String) throws {
    self.kind = kind
    title = notice.title
    body = notice.body
    object = try notice.data.map { try JSONDecoder().decode(PayloadObject.self, from: Data($0.utf8)) } ?? [:]
  }

  /// The payload of the push with this id.
  func payload(of id: UUID, badge: Int?) throws(PushRequestError) -> AlertPayload {
    var custom = object
    custom["type"] = .string(kind)
    custom["subject_id"] = .string(id.lowercased)
    return try AlertPayload(
      title: .verbatim(title), body: .verbatim(body), badge: badge, sound: .default, custom: custom)
  }

  /// The faults of the members, in their order.
  private var faults: [(Key, String)] {
    var faults: [(Key, String)] = []
    if !PushSubject.canBeKind(kind) || Self.reservedKinds.contains(kind) { faults.append((.kind, "cannot be a kind")) }
    if !(1...Self.titleScalarsMax).contains(title.unicodeScalars.count) {
      faults.append((.title, "must have 1 to \(Self.titleScalarsMax) characters"))
    }
    if title.unicodeScalars.contains("\0") { faults.append((.title, "must not contain U+0000")) }
    if body.unicodeScalars.count > Self.bodyScalarsMax {
      faults.append((.body, "must have \(Self.bodyScalarsMax) characters at most"))
    }
    if body.unicodeScalars.contains("\0") { faults.append((.body, "must not contain U+0000")) }
    if let name = Self.reservedNames.first(where: { object[$0] != nil }) {
      faults.append((.data, "must not have a member \(name)"))
    }
    if object.hasZero { faults.append((.data, "must not contain U+0000")) }
    if object.encoded().count > Self.dataBytesMax { faults.append((.data, "has more than \(Self.dataBytesMax) bytes")) }
    if faults.isEmpty, !fits { faults.append((.body, "makes the push larger than the 4096 bytes that APNs takes")) }
    return faults
  }

  /// Whether the whole document fits APNs' limit with any badge.
  private var fits: Bool {
    guard let payload = try? payload(of: UUID(), badge: .max) else { return false }
    return payload.encoded().count <= MessageComposer.alertBytesMax
  }
}

extension PayloadObject {
  /// Whether any text in it has the character that the database's texts cannot hold.
  fileprivate var hasZero: Bool {
    members.contains { $0.key.unicodeScalars.contains("\0") || $0.value.hasZero }
  }
}

extension PayloadValue {
  fileprivate var hasZero: Bool {
    switch self {
    case .string(let text): text.unicodeScalars.contains("\0")
    case .array(let values): values.contains(where: \.hasZero)
    case .object(let object): object.hasZero
    case .integer, .number, .boolean, .null: false
    }
  }
}
