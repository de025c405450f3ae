/// What the answers of one push service mean: its words that say more than their status, and statuses that mean something else than
/// to other services. The channels differ in their rows alone.
package struct AnswerTable: Sendable {
  /// What an answer means.
  package struct Ruling: Equatable, Sendable {
    package var disposition: PushDisposition
    /// Where the fault lies when it concerns the whole route; nil when it concerns the push or its target alone.
    package var fault: DeliveryFault?

    /// - Parameter fault: nil for the one that the disposition implies.
    package init(_ disposition: PushDisposition, fault: DeliveryFault? = nil) {
      self.disposition = disposition
      switch disposition {
      case .fixCredentials: self.fault = fault ?? .configuration
      case .reconnect: self.fault = fault ?? .connection
      default: self.fault = fault
      }
    }

    package static let fixRequest = Ruling(.fixRequest)
    package static let fixCredentials = Ruling(.fixCredentials)
    package static let reconnect = Ruling(.reconnect)
    package static let refreshProviderToken = Ruling(.refreshProviderToken)
    package static let suspectToken = Ruling(.suspectToken)
    package static let never = Ruling(.never)
    /// The target is dead, without a date of the answer.
    package static let dropToken = Ruling(.dropToken(invalidSinceMilliseconds: nil))

    /// Too much was sent, mostly to this one device.
    package static let tooMany = Ruling(.retryLater(minimumWait: PushDisposition.tooManyWait))

    /// The service cannot do its work now.
    package static func outage(_ wait: Duration = PushDisposition.serviceFaultWait) -> Ruling {
      Ruling(.retryLater(minimumWait: wait), fault: .service)
    }
  }

  package struct Row: Sendable {
    fileprivate let statuses: ClosedRange<Int>
    fileprivate let words: [String]
    fileprivate let ruling: Ruling

    /// - Parameter words: those that it is for; none for every answer of the statuses, with or without a word.
    package init(_ statuses: ClosedRange<Int>, _ words: String..., to ruling: Ruling) {
      self.statuses = statuses
      self.words = words
      self.ruling = ruling
    }

    package init(_ status: Int, _ words: String..., to ruling: Ruling) {
      statuses = status...status
      self.words = words
      self.ruling = ruling
    }
  }

  private var wordRows: [String: [Row]] = [:]
  private let statusRows: [Row]

  /// Of rows that fit, those with the answer's word go first, and then the earlier ones.
  package init(_ rows: [Row]) {
    for row in rows {
      for word in row.words { wordRows[word, default: []].append(row) }
    }
    statusRows = rows.filter(\.words.isEmpty)
  }

  package func ruling(onStatus status: Int, word: String?) -> Ruling {
    // The usual answer looks nothing up.
    if status == 200, word == nil { return Ruling(.accepted) }
    let row =
      word.flatMap { wordRows[$0] }?.first { $0.statuses.contains(status) }
      ?? statusRows.first { $0.statuses.contains(status) }
    return row?.ruling ?? Self.usual(status)
  }

  private static func usual(_ status: Int) -> Ruling {
    switch status {
    // Accepted is accepted: resending after any success would show it twice.
    case 200...299: Ruling(.accepted)
    // RFC 9110 §15.5.9 and §15.5.20: the same request may succeed on another connection.
    case 408, 421: .reconnect
    case 413: .never
    case 429: .tooMany
    case 400...499: .fixRequest
    // 5xx, and numbers that are not a status: a fault of the other side, which may pass.
    default: .outage()
    }
  }
}
