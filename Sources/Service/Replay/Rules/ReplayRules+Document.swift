internal import Explanations
internal import FoundationEssentials
internal import PushKinds
internal import PushRules
internal import TimeZones

extension ReplayRules {
  /// The most bytes of a document: more than 200 kinds with all members.
  public static let bytesMax = 65_536

  /// Reads rules from JSON.
  /// - Throws: ``ReplayRulesError`` that names the first mistake. An unknown member is one, because a misspelt rule would
  ///   silently change nothing.
  public init(json: [UInt8]) throws(ReplayRulesError) {
    guard json.count <= Self.bytesMax else { throw ReplayRulesError(nil, "have more than \(Self.bytesMax) bytes") }
    do {
      let document = try JSONDecoder().decode(RulesDocument.self, from: Data(json))
      (general, kinds) = (document.general, document.kinds)
    } catch let error as ReplayRulesError {
      throw error
    } catch let error as DecodingError {
      throw ReplayRulesError(error)
    } catch {
      throw ReplayRulesError(nil, "are not valid JSON")
    }
  }
}

private struct RulesDocument: Decodable {
  var general: RuleChange
  var kinds: [String: RuleChange] = [:]

  private enum Key: String, CodingKey, CaseIterable { case kinds }

  init(from decoder: any Decoder) throws {
    general = try RuleChange(decoder, besides: Key.allCases.map(\.rawValue))
    let members = try decoder.container(keyedBy: Key.self)
    guard members.contains(.kinds) else { return }
    kinds = try members.decode([String: ChangeDocument].self, forKey: .kinds).mapValues(\.change)
    if let name = kinds.keys.sorted().first(where: { !PushSubject.canBeKind($0) }) {
      throw ReplayRulesError("kinds", "has a name that cannot be a kind of event: \(name.prefix(64))")
    }
  }
}

private struct ChangeDocument: Decodable {
  let change: RuleChange

  init(from decoder: any Decoder) throws { change = try RuleChange(decoder) }
}

extension RuleChange {
  fileprivate enum Key: String, CodingKey, CaseIterable {
    case windowSeconds = "window_seconds"
    case timeToLiveSeconds = "message_ttl_seconds"
    case quietHours = "quiet_hours"
    case mentions
    case foldWindowSeconds = "fold_window_seconds"
  }

  /// The bounds are those of the settings.
  fileprivate init(_ decoder: any Decoder, besides others: [String] = []) throws {
    self.init()
    let members = try decoder.members(Key.self, besides: others)
    window = try members.seconds(.windowSeconds, in: 0...3600)
    timeToLive = try members.seconds(.timeToLiveSeconds, in: 1...2_592_000)
    foldWindow = try members.seconds(.foldWindowSeconds, in: 0...3600)
    if members.contains(.quietHours) {
      let hours = try members.decodeIfPresent(QuietHoursDocument.self, forKey: .quietHours)
      quietHours = hours.map { .daily($0.hours) } ?? .off
    }
    guard members.contains(.mentions) else { return }
    let mentions = try members.decode(MentionsDocument.self, forKey: .mentions)
    (mentionBreaksMute, mentionBreaksQuietHours) = (mentions.breakMute, mentions.breakQuietHours)
  }
}

private struct MentionsDocument: Decodable {
  let breakMute: Bool?
  let breakQuietHours: Bool?

  private enum Key: String, CodingKey, CaseIterable {
    case breakMute = "break_mute"
    case breakQuietHours = "break_quiet_hours"
  }

  init(from decoder: any Decoder) throws {
    let members = try decoder.members(Key.self)
    breakMute = try members.contains(.breakMute) ? members.decode(Bool.self, forKey: .breakMute) : nil
    breakQuietHours = try members.contains(.breakQuietHours) ? members.decode(Bool.self, forKey: .breakQuietHours) : nil
  }
}

private struct QuietHoursDocument: Decodable {
  let hours: DailyQuietHours

  private enum Key: String, CodingKey, CaseIterable {
    case from, until
    case timeZone = "time_zone"
    case policy
  }

  init(from decoder: any Decoder) throws {
    let members = try decoder.members(Key.self)
    func minute(_ key: Key) throws -> Int {
      guard let minute = TimeText.minutes(ofDay: try members.decode(String.self, forKey: key)) else {
        throw members.fault(key, "must be a time of the day like 22:00")
      }
      return minute
    }
    let name = try members.decode(String.self, forKey: .timeZone)
    guard let zone = ZoneDirectory.system.rules(of: name) else {
      throw members.fault(.timeZone, "must be a time zone like Europe/Berlin")
    }
    let policy = try members.decodeIfPresent(String.self, forKey: .policy) ?? QuietHoursPolicy.hold.rawValue
    guard let policy = QuietHoursPolicy(rawValue: policy) else { throw members.fault(.policy, "must be hold or drop") }
    hours = DailyQuietHours(
      from: try minute(.from), until: try minute(.until), zoneName: name, zone: zone, policy: policy)
  }
}

extension KeyedDecodingContainer {
  fileprivate func seconds(_ key: Key, in range: ClosedRange<Int64>) throws -> Duration? {
    guard contains(key) else { return nil }
    guard let seconds = try? decode(Int64.self, forKey: key), range.contains(seconds) else {
      throw fault(key, "must be a whole number of seconds, \(range.lowerBound) to \(range.upperBound)")
    }
    return .seconds(seconds)
  }

  fileprivate func fault(_ key: Key, _ fault: String) -> ReplayRulesError {
    ReplayRulesError((codingPath + [key]).path, fault)
  }
}

extension Decoder {
  /// The members of an object that has no others than these.
  fileprivate func members<Key: CodingKey & CaseIterable>(
    _ keys: Key.Type, besides others: [String] = []
  ) throws -> KeyedDecodingContainer<Key> {
    let known = Key.allCases.map(\.stringValue) + others
    let names = try container(keyedBy: AnyMember.self).allKeys.map(\.stringValue)
    if let stranger = names.sorted().first(where: { !known.contains($0) }) {
      let stranger = String(String.UnicodeScalarView(stranger.unicodeScalars.prefix(64)))
      throw ReplayRulesError(
        (codingPath + [AnyMember(stringValue: stranger)]).path,
        "is unknown; known are \(known.joined(separator: ", "))")
    }
    return try container(keyedBy: keys)
  }
}

/// A member by any name.
private struct AnyMember: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }

  init?(intValue: Int) { nil }
}

extension ReplayRulesError {
  fileprivate init(_ error: DecodingError) {
    switch error {
    case .keyNotFound(let key, let context): self.init((context.codingPath + [key]).path, "is missing")
    case .typeMismatch(_, let context): self.init(context.codingPath.path, "has the wrong type")
    case .valueNotFound(_, let context): self.init(context.codingPath.path, "must not be null")
    case .dataCorrupted(let context): self.init(context.codingPath.path, "cannot be read as JSON")
    @unknown default: self.init(nil, "cannot be read")
    }
  }
}

extension [any CodingKey] {
  /// Nil for the whole document.
  fileprivate var path: String? { isEmpty ? nil : map(\.stringValue).joined(separator: ".") }
}
