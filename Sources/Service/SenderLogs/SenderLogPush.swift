internal import PushKinds

/// A push, as the log of its sender has it.
public struct SenderLogPush: Equatable, Sendable {
  /// What it was about, and whom it was for, as the log writes their ids; not empty.
  public let subject, user: String

  /// When it was sent; microseconds since 1970.
  public let sentAt: Int64

  /// Its kind.
  public let kind: String

  /// The sender's word for a push that failed, at most 64 characters; nil for one that was sent.
  public let outcome: String?
}

/// What one record of a log has brought.
public enum SenderLogEntry: Equatable, Sendable {
  /// A push.
  case push(SenderLogPush, line: Int)
  /// Nothing that can be used.
  case fault(String, line: Int)
}

/// The names of a log's columns, or of the members of its objects.
public struct SenderLogColumns: Equatable, Sendable {
  /// The event's id; either of two names unless one is chosen.
  public var subject = ["message_id", "subject_id"]
  /// The recipient's id.
  public var user = "user_id"
  /// When it was sent.
  public var time = "sent_at"
  /// The kind; a log without is of messages.
  public var kind = "kind"
  /// What became of it; a log without has sent all.
  public var outcome = "outcome"

  /// The usual names.
  public init() {}
}

extension SenderLogPush {
  /// Outcomes of a push that was sent, in small letters.
  public static let pushedWords = [
    "", "sent", "success", "succeeded", "ok", "delivered", "accepted", "true", "t", "1", "200",
  ]

  private static let outcomeCharactersMax = 64

  /// Reads a record by its columns.
  /// - Throws: ``SenderLogFault`` for what is missing or cannot be.
  init(
    _ columns: SenderLogColumns, _ value: (String) throws(SenderLogFault) -> String?
  ) throws(SenderLogFault) {
    func required(_ names: [String]) throws(SenderLogFault) -> String {
      for name in names {
        if let text = try value(name), !text.isEmpty { return text }
      }
      throw SenderLogFault("\(names[0]) is missing")
    }
    subject = try required(columns.subject)
    user = try required([columns.user])
    guard let sentAt = SenderLogTime.microseconds(of: try required([columns.time])) else {
      throw SenderLogFault("\(columns.time) is no time")
    }
    self.sentAt = sentAt
    let kind = try value(columns.kind) ?? ""
    guard kind.isEmpty || PushSubject.canBeKind(kind) else { throw SenderLogFault("\(columns.kind) is no kind") }
    self.kind = kind.isEmpty ? MessagePush.name : kind
    let outcome = try value(columns.outcome) ?? ""
    guard !outcome.contains("\0") else { throw SenderLogFault("\(columns.outcome) has a zero byte") }
    self.outcome =
      Self.pushedWords.contains(outcome.lowercased()) ? nil : String(outcome.prefix(Self.outcomeCharactersMax))
  }
}

/// Why a record cannot be used; says nothing of its content.
struct SenderLogFault: Error {
  let text: String

  init(_ text: String) { self.text = text }
}
