internal import DequeModule
internal import FoundationEssentials
internal import HTTP1
internal import Reactors

/// The certificate of a simulator's listeners.
package enum SimulatorIdentity: Sendable {
  /// A private authority is made at the start, for `localhost`, 127.0.0.1 and ::1.
  case privateAuthority
  /// PEM text: the certificate followed by its intermediates, and its unencrypted key.
  case pem(certificate: String, key: String)

  /// - Returns: the certificate and its key, and the PEM text that a client must trust, if an authority was made.
  func issue(by name: String) throws -> (certificate: String, key: String, authority: String?) {
    switch self {
    case .pem(let certificate, let key): return (certificate, key, nil)
    case .privateAuthority:
      let authority = try CertificateAuthority(name: name)
      let identity = try authority.issue(for: ["localhost", "127.0.0.1", "::1"])
      return (identity.certificate, identity.key, authority.certificate)
    }
  }
}

extension SocketAddress {
  /// A free port of 127.0.0.1.
  static var anyLoopback: SocketAddress {
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else {
      preconditionFailure("127.0.0.1 is no numeric address")
    }
    return address
  }
}

/// Those who wait until so many requests have come. Scripts and tests await requests with it instead of sleeping.
struct ArrivalWaiters {
  private var waiting: [(total: Int, signal: ReactorBound<Signal>)] = []

  mutating func add(_ signal: ReactorBound<Signal>, until wanted: Int, total: Int) {
    waiting.append((wanted, signal))
    tell(total)
  }

  mutating func tell(_ total: Int) {
    guard !waiting.isEmpty else { return }
    for waiter in waiting where waiter.total <= total { waiter.signal.submit { $0.signal(on: $1) } }
    waiting.removeAll { $0.total <= total }
  }
}

/// The latest entries; the oldest are dropped.
struct LatestEntries<Entry: Sendable>: Sendable {
  private let capacity: Int
  private var kept: Deque<Entry> = []

  init(capacity: Int) {
    self.capacity = max(1, capacity)
  }

  /// Oldest first.
  var all: [Entry] { Array(kept) }

  mutating func append(_ entry: Entry) {
    if kept.count == capacity { kept.removeFirst() }
    kept.append(entry)
  }

  mutating func removeAll() { kept.removeAll() }
}

/// A record that has the number of its request, from 1 without gaps.
package protocol NumberedRecord: Sendable {
  var number: Int { get set }
}

/// The received requests: the newest in full, and the number of all.
package struct RecordLog<Record: NumberedRecord>: Sendable {
  private let capacity: Int
  private var kept: Deque<Record> = []
  private var removed = 0

  /// Requests since the start or the last ``removeAll()``, including evicted ones.
  package private(set) var total = 0

  /// - Parameter capacity: records kept in full, at least 1.
  init(capacity: Int) {
    self.capacity = max(1, capacity)
  }

  /// Oldest first.
  package var all: [Record] { Array(kept) }

  /// The number of the next record.
  var nextNumber: Int { removed + kept.count + 1 }

  /// Adds a record under its number, and evicts the oldest when the log is full.
  mutating func append(_ record: Record) {
    var record = record
    record.number = nextNumber
    total += 1
    if kept.count == capacity {
      kept.removeFirst()
      removed += 1
    }
    kept.append(record)
  }

  /// Changes a record. Does nothing to an evicted one.
  mutating func update(_ number: Int, _ change: (inout Record) -> Void) {
    let index = number - removed - 1
    if kept.indices.contains(index) { change(&kept[index]) }
  }

  /// The matching records with a higher number, oldest first.
  /// - Returns: `next` is the `after` of the next query, the last number searched.
  package func records(
    after number: Int, limit: Int, where matches: (Record) -> Bool
  ) -> (records: [Record], next: Int) {
    var found: [Record] = []
    var index = max(0, number - removed)
    while index < kept.count, found.count < limit {
      if matches(kept[index]) { found.append(kept[index]) }
      index += 1
    }
    return (found, max(number, removed + min(index, kept.count)))
  }

  /// Numbers continue.
  mutating func removeAll() {
    removed += kept.count
    kept.removeAll()
    total = 0
  }
}

/// A counter for each kind of entry, and the latest 1000: enough to show a pattern, of which the counters show how common it is.
package struct CountedLog<Kind: Hashable & Sendable, Entry: Sendable>: Sendable {
  /// Including evicted ones.
  package private(set) var counts: [Kind: Int] = [:]

  private var kept = LatestEntries<Entry>(capacity: 1000)

  /// The latest, oldest first.
  package var entries: [Entry] { kept.all }

  mutating func append(_ entry: Entry, as kind: Kind) {
    counts[kind, default: 0] += 1
    kept.append(entry)
  }
}

/// The number of each outcome, such as `200` or `400 BadDeviceToken`.
struct OutcomeCounts: Sendable {
  /// Scripted answers may invent reasons; further ones count as `other`.
  private static let outcomesMax = 256

  private(set) var counts: [String: Int] = [:]

  mutating func count(_ status: Int, _ reason: String?) {
    let outcome = status == 0 ? "dropped" : reason.map { "\(status) \($0)" } ?? "\(status)"
    counts[counts[outcome] != nil || counts.count < Self.outcomesMax ? outcome : "other", default: 0] += 1
  }
}

/// A fault that lets some requests pass and hits some then. Requests are counted over all connections, so "let 100 pass, then
/// break 3" does not depend on how they are spread.
package protocol CountedFault {
  /// Requests that pass before it.
  var skipsLeft: Int { get set }
  /// Requests that it hits then.
  var timesLeft: Int { get set }
}

extension Array where Element: CountedFault {
  static var faultsMax: Int { 10_000 }

  /// Appends a fault.
  /// - Returns: false when too many are waiting.
  @discardableResult
  package mutating func arrange(_ fault: Element) -> Bool {
    guard count < Self.faultsMax else { return false }
    if fault.timesLeft > 0 { append(fault) }
    return true
  }

  /// The fault of the next request, of those that concern it; nil when it passes.
  mutating func next(where concerns: (Element) -> Bool) -> Element? {
    guard let place = firstIndex(where: concerns) else { return nil }
    if self[place].skipsLeft > 0 {
      self[place].skipsLeft -= 1
      return nil
    }
    let fault = self[place]
    self[place].timesLeft -= 1
    if self[place].timesLeft == 0 { remove(at: place) }
    return fault
  }
}

/// A JSON value. Of members with one name, one remains.
enum JSONValue: Equatable, Codable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// - Returns: nil for anything but JSON, and for JSON nested deeper than 512.
  init?(_ bytes: [UInt8]) {
    guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)) else { return nil }
    self = value
  }

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let truth = try? value.decode(Bool.self) {
      self = .boolean(truth)
    } else if let number = try? value.decode(Int64.self) {
      self = .integer(number)
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if let values = try? value.decode([JSONValue].self) {
      self = .array(values)
    } else if let members = try? value.decode([String: JSONValue].self) {
      self = .object(members)
    } else {
      self = .number(try value.decode(Double.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .boolean(let truth): try container.encode(truth)
    case .integer(let number): try container.encode(number)
    case .number(let number): try container.encode(number)
    case .string(let text): try container.encode(text)
    case .array(let values): try container.encode(values)
    case .object(let members): try container.encode(members)
    }
  }
}
