internal import CampaignRules
internal import Foundation
internal import TemporalReferences

/// What a user's messages say about events, as the rules take it.
struct HappeningFinder {
  let zone: TimeZone
  private let finder = TemporalReferenceFinder()
  private let dateOrder: NumericDateOrder

  /// - Parameters:
  ///   - zoneName: as the database knows it. locale: as the app told it; nil for the usual order of numeric dates.
  /// Nil for a zone that only the database knows: nobody can say then when tomorrow is.
  init?(zoneName: String, locale: String?) {
    guard let zone = TimeZone(identifier: zoneName) else { return nil }
    self.zone = zone
    dateOrder = NumericDateOrder(localeIdentifier: locale ?? "en_US")
  }

  /// Everything that the messages say about events whose name is known, upcoming or not.
  func happenings(in messages: [WrittenMessage]) -> [Happening] {
    messages.flatMap { message in
      let reading = finder.reading(
        of: message.text, writtenAt: message.writtenAt, zone: zone, dateOrder: dateOrder)
      let calledOff = reading.calledOff.sorted().map {
        Happening(event: $0, span: nil, confidence: 1, writtenAt: message.writtenAt, standing: .cancelled)
      }
      return reading.references.compactMap(Happening.init) + calledOff
    }
  }

  /// What the user's clock shows around a moment.
  func localTime(at moment: Date) -> LocalTime {
    let change = zone.nextDaylightSavingTimeTransition(after: moment).flatMap { instant -> LocalTime.Change? in
      guard instant.timeIntervalSince(moment) <= 2 * 86_400 else { return nil }
      return LocalTime.Change(at: instant, to: zone.secondsFromGMT(for: instant))
    }
    return LocalTime(secondsFromUTC: zone.secondsFromGMT(for: moment), change: change)
  }
}

extension Happening {
  /// Nil for a time at which nothing is said to happen, or something of somebody else's or only possible.
  fileprivate init?(_ reference: TemporalReference) {
    guard let event = reference.event, reference.standing != .anothers, reference.standing != .hypothetical else {
      return nil
    }
    self.init(
      event: event,
      span: EventSpan(
        start: reference.start, end: reference.end, isDayOnly: reference.grain != .minute && reference.grain != .dayPart
      ),
      confidence: reference.confidence, writtenAt: reference.writtenAt,
      standing: reference.standing == .cancelled ? .cancelled : reference.standing == .past ? .over : .upcoming)
  }
}
