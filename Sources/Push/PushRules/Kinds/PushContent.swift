internal import FoundationEssentials

/// What the event of one kind of push says, and everything in which kinds differ: its name, how its content is read, what its
/// push says and how it is shown, and what explanations call it.
///
/// A new kind is a type here, an entry in ``KnownKinds/all``, and a file `db/functions/kind_….sql` that registers the same name.
package protocol PushContent: Sendable {
  /// As `tacet.push_kinds` and claims name the kind.
  static var name: String { get }

  /// The kind of its events in inbox and ledger; nil for a kind whose events have names that hosts or servers choose.
  static var eventKind: String? { get }

  /// What explanations call its events.
  static var words: KindWords { get }

  /// Reads what a claim has returned.
  /// - Throws: `DecodingError` for a document of another kind.
  init(_ claimed: ClaimedContent) throws

  /// What its recipients may be looking at; nil for nothing.
  var surfaceID: HostID? { get }

  /// Whose name its pushes may show where they show nothing else; nil for an event without a sender.
  var sender: String? { get }

  /// What the ledger keeps of its words; nil for those that are the host's.
  var ledgerText: String? { get }

  /// Where its pushes go; nil for each recipient's own targets.
  var targets: [PushTarget]? { get }

  /// What it says in other locales; nil for one text for all.
  var localised: LocalisedTexts? { get }

  func inLocale(_ locale: LocaleTag) -> Self

  /// The push, encoded as far as its recipients share it.
  /// - Throws: ``PushRequestError`` when the content fits no push.
  func push(about subject: PushSubject) throws(PushRequestError) -> PreparedPush

  /// What it shows to a browser that has got it without content, and asks; nil for nothing.
  /// - Throws: as ``push(about:)``.
  func alert(about subject: PushSubject) throws(PushRequestError) -> PreparedPush?
}

extension PushContent {
  package static var eventKind: String? { nil }

  package static var words: KindWords { KindWords() }

  package var surfaceID: HostID? { nil }

  package var sender: String? { nil }

  package var ledgerText: String? { nil }

  package var targets: [PushTarget]? { nil }

  /// The same in the words for a device's locale, or its own where there are none.
  package func suited(to locale: LocaleTag?) -> Self {
    localised?.choice(for: locale).map { inLocale($0.shown) } ?? self
  }

  package var localised: LocalisedTexts? { nil }

  package func inLocale(_ locale: LocaleTag) -> Self { self }

  package func alert(about subject: PushSubject) throws(PushRequestError) -> PreparedPush? {
    let push = try push(about: subject)
    return push.alert == nil ? nil : push
  }
}

/// What a claim returns of an event's content: columns for a message, which the database need not encode, and one document for
/// all other kinds.
package struct ClaimedContent: Sendable {
  package var surfaceID: HostID?

  /// The sender's name as the host shows it, at most its first 1024 characters; nil when unknown.
  package var senderName: String?

  /// The message's text, at most its first 4096 characters; nil without any.
  package var text: String?

  /// A JSON object of at most 64 KiB; nil for a message.
  package var document: String?

  package init(surfaceID: HostID?, senderName: String? = nil, text: String? = nil, document: String? = nil) {
    self.surfaceID = surfaceID
    self.senderName = senderName
    self.text = text
    self.document = document
  }
}

/// A push, encoded once for all recipients of an event.
package struct PreparedPush: Sendable {
  package enum Document: Equatable, Sendable {
    /// An alert, which needs a badge and the id of the ledger's row: encoded for APNs, and as it is for other channels. Indirect,
    /// because each target's push has a copy.
    indirect case alert(PreparedAlert, AlertPayload)
    /// Data that wakes the app. A member `badge` of null becomes the recipient's.
    case background(PayloadObject)
    case liveActivity(LiveActivityPayload)
  }

  package internal(set) var document: Document

  package let collapseIdentifier: CollapseIdentifier

  /// The badge for all recipients; nil for each one's unread messages.
  package var badge: Int?

  /// How urgently it is handed over; nil for what is usual for its push type.
  package var priority: PushPriority?

  /// Until when APNs keeps it, in Unix seconds; nil for the end of the push's life.
  package var keptUntil: Int64?

  /// The locale of its words; nil when it is not known.
  package internal(set) var locale: LocaleTag?

  /// What was kept back of it for its target; nil for nothing.
  package internal(set) var note: ContentNote?

  package var alert: AlertPayload? { if case .alert(_, let alert) = document { alert } else { nil } }

  /// The member with the id of the ledger's row, by which an app reports that the push was opened.
  static let logIDName: StaticString = "push_log_id"

  /// The bytes that APNs leaves for an alert beside that id.
  static let alertBytesMax = PushType.alert.bodyBytesMax - PreparedAlert.bytes(ofIdentifierNamed: logIDName)

  /// An alert, its body shortened until the largest badge fits too.
  /// - Throws: ``PushRequestError`` when no body would fit.
  init(_ payload: AlertPayload, collapsingBy collapseID: String) throws(PushRequestError) {
    var alert = PreparedAlert(payload, identifierName: Self.logIDName)
    if alert.bytes(withBadge: .max) > PushType.alert.bodyBytesMax {
      alert = PreparedAlert(try payload.fitted(to: Self.alertBytesMax), identifierName: Self.logIDName)
    }
    document = .alert(alert, payload)
    collapseIdentifier = try CollapseIdentifier(collapseID)
  }

  init(
    _ payload: LiveActivityPayload, priority: PushPriority, keptUntil: Int64?, collapsingBy collapseID: String
  ) throws(PushRequestError) {
    document = .liveActivity(payload)
    collapseIdentifier = try CollapseIdentifier(collapseID)
    self.priority = priority
    self.keptUntil = keptUntil
  }

  init(waking custom: PayloadObject, collapsingBy collapseID: String) throws(PushRequestError) {
    document = .background(custom)
    collapseIdentifier = try CollapseIdentifier(collapseID)
  }
}

package enum KnownKinds {
  /// All kinds, the most frequent first.
  package static let all: [any PushContent.Type] = [
    MessagePush.self,
    WatchedRowPush.self,
    ServicePush.self,
    CampaignPush.self,
    ReadSyncPush.self,
    LiveActivityPush.self,
  ]

  /// The kinds of events that no host and no server may choose.
  package static let eventKinds = Set(all.compactMap { $0.eventKind })

  package static func content(_ claimed: ClaimedContent, of name: String) -> any PushContent {
    guard let kind = all.first(where: { $0.name == name }), let content = try? kind.init(claimed) else {
      return UnreadablePush(surfaceID: claimed.surfaceID)
    }
    return content
  }

  package static func words(ofEventKind kind: String) -> KindWords {
    all.first { $0.eventKind == kind }?.words ?? KindWords()
  }
}

/// What explanations call an event and its surface.
package struct KindWords: Equatable, Sendable {
  /// The event, without an article.
  package var event = "event"

  /// What its recipients may be looking at, with one.
  package var surface = "what it is about"
}

extension ClaimedContent {
  func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    try JSONDecoder().decode(type, from: Data((document ?? "{}").utf8))
  }
}

/// Content that no kind of this program can read, such as that of a later version: nothing can be sent, and the ledger says so.
struct UnreadablePush: PushContent {
  static let name = "unreadable"

  let surfaceID: HostID?

  init(surfaceID: HostID?) { self.surfaceID = surfaceID }

  init(_ claimed: ClaimedContent) { surfaceID = claimed.surfaceID }

  func push(about subject: PushSubject) throws(PushRequestError) -> PreparedPush {
    throw PushRequestError(.payloadEmpty, "the content cannot be read")
  }
}

/// The kinds whose pushes are decided, composed and recorded as always, and not sent.
package enum ShadowedKinds: Equatable, Sendable {
  case none
  case all
  /// Pushes of these kinds are not sent, as the ledger's `push_type` names them; at least one.
  case only(Set<String>)

  /// The reason in the ledger of a push that would have been sent.
  package static let reason = "shadow"

  package func covers(_ kind: String) -> Bool {
    switch self {
    case .none: false
    case .all: true
    case .only(let kinds): kinds.contains(kind)
    }
  }

  /// A sentence for operators; nil when all is sent.
  package var notice: String? {
    switch self {
    case .none: nil
    case .all: "SHADOW is true: pushes are recorded, none is sent"
    case .only(let kinds):
      "SHADOW is set: pushes of the kinds \(kinds.sorted().joined(separator: ", ")) are recorded, none of them is sent"
    }
  }
}
