import Foundation
import TemporalReferences

/// What a line of the cases says of one reference.
struct ExpectedReference: Equatable, CustomStringConvertible {
  let start: Date
  let end: Date
  let grain: String
  let event: String?
  let standing: String
  let isSure: Bool
  private let zone: TimeZone

  init(_ text: String, zone: TimeZone) throws {
    var words = text.split(separator: " ").map(String.init)
    guard words.count >= 5 else { throw CaseError("not an expectation: \(text)") }
    let times = words.removeFirst().split(separator: ".", omittingEmptySubsequences: true).map(String.init)
    self.zone = zone
    grain = words.removeFirst()
    isSure = try words.removeLast().isSure
    standing = words.removeLast()
    let event = words.joined(separator: " ")
    self.event = event == "-" ? nil : event
    start = try CivilText.instant(times[0], in: zone)
    end =
      times.count == 2
      ? try CivilText.instant(times[1], in: zone) : grain == "day" ? CivilText.nextDay(after: start, in: zone) : start
  }

  init(_ reference: TemporalReference, zone: TimeZone) {
    start = reference.start
    end = reference.end
    grain = reference.grain.rawValue
    event = reference.event
    standing = reference.standing.rawValue
    isSure = reference.confidence >= 0.7
    self.zone = zone
  }

  var description: String {
    let times = "\(CivilText.text(start, in: zone))..\(CivilText.text(end, in: zone))"
    return "\(times) \(grain) \(event ?? "-") \(standing) \(isSure ? "sure" : "unsure")"
  }
}

extension String {
  fileprivate var isSure: Bool {
    get throws {
      switch self {
      case "sure": true
      case "unsure": false
      default: throw CaseError("neither sure nor unsure: \(self)")
      }
    }
  }
}
