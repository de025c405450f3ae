internal import FoundationEssentials

/// What an event says: the push for each locale, and what the pipeline asks of it besides.
package protocol PushContent: Sendable {
  /// What its recipients may be looking at; nil for nothing.
  var surfaceID: HostID? { get }

  /// Whose name its pushes may show where they show nothing else; nil for an event without a sender.
  var sender: String? { get }

  /// What the ledger keeps of its words; nil for those that are the host's.
  var ledgerText: String? { get }

  /// Where its pushes go; nil for each recipient's own targets.
  var targets: [PushTarget]? { get }

  /// Whether it has words for other locales than its own. Otherwise nothing is asked of targets.
  var isLocalised: Bool { get }

  /// The locale of the words for a device; nil where its own serve.
  func choice(for locale: LocaleTag?) -> LocaleChoice?

  func inLocale(_ locale: LocaleTag) -> Self

  /// The push, encoded as far as its recipients share it.
  /// - Throws: ``PushRequestError`` when the content fits no push.
  func push(about subject: PushSubject) throws(PushRequestError) -> Push

  /// What it shows to a browser that has got it without content, and asks; nil for nothing.
  /// - Throws: as ``push(about:)``.
  func alert(about subject: PushSubject) throws(PushRequestError) -> Push?

  /// The same in its burst's notification; nil for what never folds.
  /// - Parameters:
  ///   - first: what began the burst, whose notification it replaces. more: how much the burst has besides this.
  func update(of first: PushSubject, sounds: Bool, more: Int, in words: TacetWords) -> (any PushContent)?
}

extension PushContent {
  package var surfaceID: HostID? { nil }

  package var sender: String? { nil }

  package var ledgerText: String? { nil }

  package var targets: [PushTarget]? { nil }

  package var isLocalised: Bool { false }

  package func choice(for locale: LocaleTag?) -> LocaleChoice? { nil }

  package func inLocale(_ locale: LocaleTag) -> Self { self }

  /// The same in the words for a device's locale, or its own where there are none.
  package func suited(to locale: LocaleTag?) -> Self { choice(for: locale).map { inLocale($0.shown) } ?? self }

  package func alert(about subject: PushSubject) throws(PushRequestError) -> Push? {
    let push = try push(about: subject)
    return push.alert == nil ? nil : push
  }

  package func update(
    of first: PushSubject, sounds: Bool, more: Int, in words: TacetWords
  ) -> (any PushContent)? { nil }
}

/// Content of events of one kind, and everything else in which kinds differ: the name, how content is read, and what explanations
/// call it.
///
/// A new kind is a type here, an entry in ``KnownKinds/all``, and a file `db/functions/kind_….sql` that registers the same name.
package protocol PushKind: PushContent {
  /// As `tacet.push_kinds` and claims name the kind.
  static var name: String { get }

  /// The kind of its events in inbox and ledger; nil for a kind whose events have names that hosts or servers choose.
  static var eventKind: String? { get }

  /// What explanations call its events.
  static var words: KindWords { get }

  /// Reads what a claim has returned.
  /// - Throws: `DecodingError` for a document of another kind.
  init(_ claimed: ClaimedContent) throws
}

extension PushKind {
  package static var eventKind: String? { nil }

  package static var words: KindWords { KindWords() }
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

/// What an event says, encoded once for all of its recipients. What each of them gets besides is an ``Addressee``.
package struct Push: Sendable {
  package internal(set) var payload: PushPayload

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

  package var alert: AlertPayload? { if case .alert(let alert) = payload { alert } else { nil } }

  /// Whether it is meant to replace pushes about other subjects, which then need not be delivered any more.
  package func replacesOthers(than subject: PushSubject) -> Bool { collapseIdentifier.text != subject.collapseText }

  init(_ payload: PushPayload, collapsingBy collapseID: String) throws(PushRequestError) {
    self.payload = payload
    collapseIdentifier = try CollapseIdentifier(collapseID)
  }
}

/// Whom a push goes to, and what it brings to no other.
package struct Addressee: Sendable {
  package let target: PushTarget

  package let userID: HostID

  package let subject: PushSubject

  /// The number for the app's icon; nil to leave it.
  package let badge: Int?

  /// The end of the push's life, in seconds since 1970.
  package let expiresAt: Int64

  /// When the event was committed, by the database's clock; microseconds since 1970.
  private let enqueuedAt: Int64

  /// - Parameters:
  ///   - unread: the user's unread messages; the push's own badge wins.
  ///   - expiresAt: the end of the event's life, in seconds since 1970; the push's own wins.
  package init(
    of push: Push, _ target: PushTarget, of userID: HostID, about subject: PushSubject, enqueuedAt: Int64, unread: Int?,
    expiresAt: Int64
  ) {
    self.target = target
    self.userID = userID
    self.subject = subject
    self.enqueuedAt = enqueuedAt
    badge = push.badge ?? unread
    self.expiresAt = push.keptUntil ?? expiresAt
  }

  /// The id of the ledger's row, by which an app reports that the push was opened.
  package var logID: String { subject.logID(of: userID, enqueuedAt: enqueuedAt).lowercased }
}

package enum KnownKinds {
  /// All kinds, the most frequent first.
  package static let all: [any PushKind.Type] = [
    MessagePush.self,
    WatchedRowPush.self,
    StoredPush.self,
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
  let surfaceID: HostID?

  func push(about subject: PushSubject) throws(PushRequestError) -> Push {
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
