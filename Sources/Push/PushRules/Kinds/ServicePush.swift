internal import FoundationEssentials

/// A row of `tacet.pushes`: a push that a server has asked for, shown uncut, or that a campaign has written for one user.
/// ``ServicePushRequest`` has checked the former before it was stored.
package struct StoredPush: PushKind, Decodable {
  package static let name = "stored_push"

  let title: String
  let body: String
  let data: PayloadObject?
  let presentation: StoredPresentation?

  var shown: PushPresentation { presentation?.presentation ?? PushPresentation() }

  package var isLocalised: Bool { shown.localised != nil }

  /// The words are ours to keep.
  package var ledgerText: String? { "\(title)\n\(body)" }

  package func choice(for locale: LocaleTag?) -> LocaleChoice? { shown.localised?.choice(for: locale) }

  package func inLocale(_ locale: LocaleTag) -> StoredPush {
    var (title, body) = (title, body)
    let presentation = shown.inLocale(locale, &title, &body)
    return StoredPush(
      title: title, body: body, data: data, presentation: StoredPresentation(presentation: presentation))
  }

  package func push(about subject: PushSubject) throws(PushRequestError) -> Push { try push(about: subject, as: shown) }

  /// The same words, also of a push that only wakes the app.
  package func alert(about subject: PushSubject) throws(PushRequestError) -> Push? {
    var shown = shown
    shown.channel = .alert
    return try push(about: subject, as: shown)
  }

  /// Its words and data as they were given.
  private func push(about subject: PushSubject, as shown: PushPresentation) throws(PushRequestError) -> Push {
    var custom = data ?? [:]
    custom["type"] = .string(subject.kind)
    custom["subject_id"] = .string(subject.id.text)
    return try shown.push(title: title, body: body, thread: nil, custom: custom, about: subject)
  }

  /// Whether APNs takes it uncut, with any badge.
  func isWhole(about subject: PushSubject) throws(PushRequestError) -> Bool {
    let payload = try push(about: subject).payload
    if case .alert(let alert) = payload { return alert.isWhole }
    return try payload.encoded(badge: nil, logID: "").count <= PushType.bodyBytesMax
  }
}

extension StoredPush {
  /// Reads `title`, `body`, `data` and `presentation`.
  package init(_ claimed: ClaimedContent) throws { self = try claimed.decode() }
}

/// A push that another server asks for: its words are shown uncut, so what does not fit is refused.
package struct ServicePushRequest: Decodable, Equatable, Sendable {
  package static let titleScalarsMax = 256
  package static let bodyScalarsMax = 2048
  /// The most bytes of the data as compact JSON.
  package static let dataBytesMax = 2048
  package static let cancelKeyScalarsMax = 255
  /// How far ahead a push may be asked for, in seconds.
  package static let waitSecondsMax = 31 * 86_400
  /// The longest life, in seconds: as long as APNs keeps a push.
  package static let lifeSecondsMax = 30 * 86_400

  /// Kinds with another meaning.
  private static let reservedKinds = KnownKinds.eventKinds.union(["messages", "pushes"])
  /// Members that the payload sets itself, or by which apps are told to do something.
  private static let reservedNames = ["aps", "type", "push_log_id", "subject_id", "image_url", "sealed"]

  /// As ledger and payload name it.
  package let kind: String
  /// The first line, not empty. A push that shows nothing has it in the ledger only.
  package let title: String
  /// The text; may be empty.
  package let body: String
  package let presentation: PushPresentation
  /// How long it may be sent, in seconds; nil for the service's setting.
  package let expiresIn: Int?
  /// When to send it, microseconds since 1970; nil for now.
  package let sendAt: Int64?
  package let cancelKey: String?
  /// The group of which a user gets one push a day; nil for no cap.
  package let capGroup: String?
  private let object: PayloadObject

  /// The app's own data as compact JSON; nil without any.
  package var data: String? { object.members.isEmpty ? nil : String(decoding: object.encoded(), as: UTF8.self) }

  private enum Key: String, CodingKey, CaseIterable {
    case kind, title, body, data
    case expiresIn = "expires_in"
    case sendAt = "send_at"
    case cancelKey = "cancel_key"
    case capGroup = "cap_group"
  }

  package static let memberNames = Key.allCases.map(\.rawValue) + PushPresentation.memberNames

  /// Reads `kind` (`push` without it), `title`, `body`, `data` (an object), `expires_in` (seconds), `send_at` (RFC 3339),
  /// `cancel_key`, `cap_group`, and the members of ``PushPresentation``.
  /// - Throws: `DecodingError` that names the member which cannot be used, `body` for a push larger than APNs takes.
  package init(from decoder: any Decoder) throws {
    presentation = try PushPresentation(from: decoder)
    let container = try decoder.container(keyedBy: Key.self)
    kind = try container.decodeIfPresent(String.self, forKey: .kind) ?? "push"
    title = try container.decode(String.self, forKey: .title)
    body = try container.decode(String.self, forKey: .body)
    object = try container.decodeIfPresent(PayloadObject.self, forKey: .data) ?? [:]
    expiresIn = try container.decodeIfPresent(Int.self, forKey: .expiresIn)
    cancelKey = try container.text(.cancelKey, scalarsMax: Self.cancelKeyScalarsMax)
    capGroup = try container.decodeIfPresent(String.self, forKey: .capGroup)
    let moment = try container.decodeIfPresent(String.self, forKey: .sendAt)
    sendAt = moment.flatMap(InstantText.microseconds)
    try container.require((moment == nil) == (sendAt == nil), .sendAt, "must be a time as RFC 3339 writes it")
    for (key, fault) in faults {
      throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: fault)
    }
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
    if expiresIn.map({ (1...Self.lifeSecondsMax).contains($0) }) == false {
      faults.append((.expiresIn, "must be from 1 to \(Self.lifeSecondsMax) seconds"))
    }
    if let sendAt, Double(sendAt) / 1_000_000 > Date().timeIntervalSince1970 + Double(Self.waitSecondsMax) {
      faults.append((.sendAt, "must be within \(Self.waitSecondsMax / 86_400) days"))
    }
    if capGroup.map(PushSubject.canBeKind) == false { faults.append((.capGroup, "cannot be a cap group")) }
    if capGroup != nil, sendAt != nil {
      faults.append((.capGroup, "counts today's pushes, so it cannot come with send_at"))
    }
    if cancelKey?.isEmpty == true { faults.append((.cancelKey, "must not be empty")) }
    if faults.isEmpty, !fits { faults.append((.body, "makes the push larger than the 4096 bytes that APNs takes")) }
    return faults
  }

  /// Whether the whole document fits APNs' limit with any badge, in each locale.
  private var fits: Bool {
    let subject = PushSubject(id: HostID(UUID()), kind: kind)
    let stored = StoredPush(
      title: title, body: body, data: object, presentation: StoredPresentation(presentation: presentation))
    let translated = (presentation.localised?.texts.keys).map { $0.map(stored.inLocale) } ?? []
    return ([stored] + translated).allSatisfy { (try? $0.isWhole(about: subject)) == true }
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
