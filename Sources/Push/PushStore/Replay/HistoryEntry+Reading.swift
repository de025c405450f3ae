internal import FoundationEssentials
internal import Postgres

/// The history of a row without the attempts at devices.
struct ReplayedHistory: PostgresDecodable {
  /// The oldest first; nil when it cannot be read.
  let entries: [HistoryEntry]?
  /// The first digits of the surface's digest, of the newest entry that has it.
  let surface: String?
  /// Whether the push was to sound, of the newest entry that says so; nil when nothing folded.
  let sounds: Bool?

  init?(_ field: PostgresField) {
    guard let bytes = field.bytes else { return nil }
    self.init(bytes)
  }

  init(_ bytes: UnsafeRawBufferPointer) {
    var (burst, entries) = (HistoryEntry.Burst(), [] as [HistoryEntry])
    var reader = LedgerJSONReader(bytes)
    let isRead = reader.elements { reader in
      guard let entry = HistoryEntry(&reader, &burst) else { return false }
      entries.append(entry)
      return true
    }
    (surface, sounds) = (burst.surface, burst.sounds)
    self.entries =
      isRead && reader.isAtEnd ? entries : try? JSONDecoder().decode([HistoryEntry].self, from: Data(bytes))
  }
}

extension HistoryEntry {
  /// What entries say of bursts.
  fileprivate struct Burst {
    var surface: String?
    var sounds: Bool?
  }

  private static let keys = Dictionary(uniqueKeysWithValues: CodingKeys.allCases.map { ($0.stringValue, $0) })

  /// Reads what ``init(from:)`` reads, except for the attempts.
  fileprivate init?(_ reader: inout LedgerJSONReader, _ burst: inout Burst) {
    var (claim, at, instance, cause) = (nil as Int?, 0 as Int64, nil as String?, nil as String?)
    var (releasedBy, releasedAt, due) = (nil as String?, nil as Int64?, nil as Int64?)
    var (situation, decision) = (nil as Situation?, nil as OutcomeDecision?)
    var (reason, remaining) = (nil as String?, nil as String?)
    let isRead = reader.members { name, reader in
      func word(_ value: inout String?) -> Bool {
        value = reader.word()
        return value != nil
      }
      switch Self.keys[name] {
      case .claim: claim = reader.integer().flatMap(Int.init(exactly:))
      case .claimedAt: return reader.read(&at)
      case .instance: return word(&instance)
      case .wokenBy: return word(&cause)
      case .releasedBy: return word(&releasedBy)
      case .releasedAt: return reader.read(&releasedAt)
      case .situation: situation = Situation(&reader)
      case .decision: decision = reader.word().flatMap(OutcomeDecision.init)
      case .reason: return word(&reason)
      case .dueMicroseconds: return reader.read(&due)
      case .remaining: return word(&remaining)
      default: return burst.read(name, &reader)
      }
      return true
    }
    guard isRead, let claim, let instance, let cause, let situation, let decision else { return nil }
    self.init(
      claim: claim, claimedAt: at, instance: instance, wokenBy: cause, releasedBy: releasedBy, releasedAt: releasedAt,
      wokenMicroseconds: 0, decidedMicroseconds: 0, situation: situation, decision: decision, reason: reason,
      dueMicroseconds: due, remaining: remaining, attempts: [])
  }
}

extension HistoryEntry.Burst {
  /// Reads a member of an entry, or passes over it.
  fileprivate mutating func read(_ name: String, _ reader: inout LedgerJSONReader) -> Bool {
    switch name {
    case "surface":
      surface = reader.word()
      return surface != nil
    case "fold":
      return reader.members { name, reader in
        guard name == "sound" else { return reader.skip() }
        sounds = reader.truth()
        return sounds != nil
      }
    default: return reader.skip()
    }
  }
}

extension HistoryEntry.Situation {
  private static let keys = Dictionary(uniqueKeysWithValues: CodingKeys.allCases.map { ($0.stringValue, $0) })

  fileprivate init?(_ reader: inout LedgerJSONReader) {
    self.init()
    guard reader.members({ name, reader in Self.keys[name].map { read($0, &reader) } ?? reader.skip() }) else {
      return nil
    }
  }

  private mutating func read(_ key: CodingKeys, _ reader: inout LedgerJSONReader) -> Bool {
    switch key {
    case .isParticipant: return reader.read(&isParticipant)
    case .messageAge: return reader.read(&messageAge)
    case .heldFor: return reader.read(&heldFor)
    case .isDeleted: return reader.read(&isDeleted)
    case .isCancelled: return reader.read(&isCancelled)
    case .isCapped: return reader.read(&isCapped)
    case .life: return reader.read(&life)
    case .hasRead: return reader.read(&hasRead)
    case .lastSeenAge: return reader.read(&lastSeenAge)
    case .sawAfterMessage: return reader.read(&sawAfterMessage)
    case .hasLeft: return reader.read(&hasLeft)
    case .newestOtherReadAge: return reader.read(&newestOtherReadAge)
    case .isOptedOut: return reader.read(&isOptedOut)
    case .isMuted: return reader.read(&isMuted)
    case .wantsMentionsOnly: return reader.read(&wantsMentionsOnly)
    case .isMentioned: return reader.read(&isMentioned)
    case .quietHoursRemaining: return reader.read(&quietHoursRemaining)
    case .quietHoursPolicy:
      quietHoursPolicy = reader.word()
      return quietHoursPolicy != nil
    case .deviceCount:
      guard let count = reader.integer().flatMap(Int.init(exactly:)) else { return false }
      deviceCount = count
      return true
    case .window: return reader.read(&window)
    case .timeToLive: return reader.read(&timeToLive)
    }
  }
}

extension LedgerJSONReader {
  fileprivate mutating func read(_ value: inout Bool) -> Bool {
    guard let truth = truth() else { return false }
    value = truth
    return true
  }

  fileprivate mutating func read(_ value: inout Int64) -> Bool {
    guard let number = integer() else { return false }
    value = HistoryEntry.bounded(number)
    return true
  }

  fileprivate mutating func read(_ value: inout Int64?) -> Bool {
    guard let number = integer() else { return false }
    value = HistoryEntry.bounded(number)
    return true
  }
}
