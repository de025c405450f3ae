import FoundationEssentials
import TemporalReferences
import Testing

@testable import Campaigns

private func outcome(_ happenings: Happening...) -> LayerOutcome {
  CampaignLayer.event.outcome(Sample.events(happenings))
}

private func eventWord(_ outcome: LayerOutcome) -> String? { outcome.finding?.found["event"] }

@Suite("The layer of events")
struct EventLayerTests {
  @Test(
    "an event counts when some of it lies after the moment and no more than 24 hours ahead",
    arguments: [
      (0.0, 0.0, LayerRule?.some(.eventOver)),
      (0.001, 0.0, nil),
      (day, 0.0, nil),
      (day + 0.001, 0.0, .eventTooFar),
      (30 * day, day, .eventTooFar),
      (-hour, hour, .eventOver),
      (-hour, hour + 0.001, nil),
      (-hour, 2 * hour, nil),
      (day, day, nil),
      (-day, 0.0, .eventOver),
    ])
  func horizon(ahead: Double, length: Double, missing: LayerRule?) {
    #expect(outcome(Sample.happening(Sample.span(ahead, lasting: length))).note?.rule == missing)
  }

  @Test(
    "a reading counts from a confidence of 0.7",
    arguments: [
      (0.7, true), (0.70001, true), (1, true), (7, true), (0.69999, false), (0, false), (-1, false), (.nan, false),
    ])
  func confidence(confidence: Double, isHit: Bool) {
    let outcome = outcome(Sample.happening(Sample.span(hour), confidence: confidence))
    #expect((outcome.finding != nil) == isHit)
    #expect(isHit || outcome.note?.rule == .eventConfidenceLow)
  }

  @Test(
    "a message counts for seven days, the last instant included, and one written during the run counts as well",
    arguments: [(-1.0, true), (0, true), (7 * day, true), (7 * day + 0.001, false), (30 * day, false)])
  func messageAge(age: Double, isHit: Bool) {
    let outcome = outcome(Sample.happening(Sample.span(hour), age: age))
    #expect((outcome.finding != nil) == isHit)
    #expect(isHit || outcome.note?.rule == .noUpcomingEvent)
  }

  @Test(
    "the newest message about an event replaces what older ones said",
    arguments: [
      (TemporalStanding.cancelled, Double?.none, LayerRule?.some(.eventCancelled)),
      (.cancelled, hour, .eventCancelled),
      (.cancelled, 20 * day, .eventCancelled),
      (.past, nil, .eventOver),
      (.past, -hour, .eventOver),
      (.upcoming, 3 * day, .eventTooFar),
      (.upcoming, -hour, .eventOver),
      (.upcoming, 2 * hour, nil),
      (.upcoming, nil, nil),
    ])
  func replacement(standing: TemporalStanding, ahead: Double?, missing: LayerRule?) {
    let older = Sample.happening(Sample.span(hour), age: 2 * day)
    let newer = Sample.happening(ahead.map { Sample.span($0) }, age: day, standing: standing)
    #expect(outcome(older, newer).note?.rule == missing)
    #expect(outcome(newer, older).note?.rule == missing)
  }

  @Test("an older cancellation does not take back what was said later")
  func revival() {
    let cancelled = Sample.happening(nil, age: 2 * day, standing: .cancelled)
    #expect(outcome(cancelled, Sample.happening(Sample.span(hour))).finding != nil)
  }

  @Test("a newer reading that is not sure also replaces a sure one")
  func unsureReplacement() {
    let older = Sample.happening(Sample.span(hour), confidence: 1, age: 2 * day)
    let newer = Sample.happening(Sample.span(2 * hour), confidence: 0.4, age: day)
    #expect(outcome(older, newer).note?.rule == .eventConfidenceLow)
  }

  @Test("another event is not touched by a cancellation")
  func otherEvent() {
    let cancelled = Sample.happening(nil, of: "presentation", age: hour, standing: .cancelled)
    #expect(eventWord(outcome(Sample.happening(Sample.span(hour), of: "flight"), cancelled)) == "flight")
  }

  @Test("within one message an end takes back only what is at its time, or everything when it names none")
  func sameMessage() {
    let today = Sample.happening(Sample.span(hour))
    let later = Sample.happening(Sample.span(5 * hour))
    let notToday = Sample.happening(Sample.span(0, lasting: 2 * hour), standing: .cancelled)
    #expect(outcome(today, notToday, later).finding?.values["when"] == "this afternoon")
    #expect(outcome(today, notToday).note?.rule == .eventCancelled)
    #expect(outcome(today, later, Sample.happening(nil, standing: .cancelled)).note?.rule == .eventCancelled)
  }

  @Test("the soonest wins, then the surest, then the one written of last")
  func best() {
    let soon = Sample.happening(Sample.span(hour), of: "exam", confidence: 0.7, age: 3 * day)
    let sure = Sample.happening(Sample.span(2 * hour), of: "flight", confidence: 0.95, age: 3 * day)
    let late = Sample.happening(Sample.span(2 * hour), of: "meeting", confidence: 0.95, age: day)
    let unsure = Sample.happening(Sample.span(2 * hour), of: "interview", confidence: 0.8, age: hour)
    #expect(eventWord(outcome(late, sure, soon, unsure)) == "exam")
    #expect(eventWord(outcome(sure, unsure)) == "flight")
    #expect(eventWord(outcome(sure, late)) == "meeting")
    #expect(eventWord(outcome(late, sure)) == "meeting")
  }

  @Test("a far or unsure event does not hide a near and sure one")
  func others() {
    let near = Sample.happening(Sample.span(3 * hour), of: "exam")
    let far = Sample.happening(Sample.span(3 * day), of: "flight")
    let unsure = Sample.happening(Sample.span(hour), of: "meeting", confidence: 0.1)
    #expect(eventWord(outcome(far, unsure, near)) == "exam")
  }

  @Test("a miss is told in numbers")
  func figures() throws {
    let far = try #require(outcome(Sample.happening(Sample.span(3 * day))).note)
    #expect(far.figures == ["count": 1, "ahead_seconds": 3 * day, "ahead_seconds_max": day])
    let unsure = try #require(outcome(Sample.happening(Sample.span(hour), confidence: 0.5)).note)
    #expect(unsure.figures == ["count": 1, "confidence": 0.5, "confidence_needed": 0.7])
  }

  @Test("what lowered a confidence is named, the graver doubts only")
  func doubts() throws {
    var unsure = Sample.happening(Sample.span(hour), confidence: 0.6)
    unsure.doubts = [.noVerb, .unreadWord]
    #expect(outcome(unsure).note?.doubts == [.unreadWord])
    var sure = Sample.happening(Sample.span(hour), confidence: 0.8)
    sure.doubts = [.noVerb]
    #expect(outcome(sure).finding?.doubts == [.noVerb])
  }

  @Test("another person's event is no reason to write, and does not replace the user's own")
  func doubtful() throws {
    var anothers = Sample.happening(Sample.span(hour), of: "exam", confidence: 0.3)
    anothers.standing = .anothers
    anothers.doubts = [.anothers]
    #expect(outcome(anothers).note?.rule == .eventConfidenceLow)
    #expect(outcome(anothers).note?.doubts == [.anothers])
    var own = Sample.happening(Sample.span(2 * hour), of: "exam")
    own.writtenAt = anothers.writtenAt.addingTimeInterval(-60)
    #expect(eventWord(outcome(own, anothers)) == "exam")
  }

  @Test("without the messages nothing is known")
  func missingSource() {
    var material = Sample.events([Sample.happening(Sample.span(hour))])
    material.missingSources = [.messages]
    #expect(CampaignLayer.event.outcome(material).note?.rule == .messageSourceMissing)
  }

  @Test("the domain is the last conversation's")
  func domain() {
    var material = Sample.events([Sample.happening(Sample.span(hour))])
    material.lastConversation = LastConversation(domain: "health", texts: [])
    #expect(CampaignLayer.event.outcome(material).finding?.domain == "health")
  }
}

private func words(
  at moment: Double, start: Double, lasting length: Double = 0, isDayOnly: Bool = false,
  in localTime: LocalTime = LocalTime()
) -> String {
  let midnight = noon.addingTimeInterval(-12 * hour)
  let begin = midnight.addingTimeInterval(start * hour)
  let span = EventSpan(start: begin, end: begin.addingTimeInterval(length * hour), isDayOnly: isDayOnly)
  return span.words(at: midnight.addingTimeInterval(moment * hour), in: localTime)
}

private func localTime(_ zone: String) throws -> LocalTime {
  let rules = try #require(ZoneDirectory.system.rules(of: zone))
  return LocalTime(zone: rules)
}

@Suite("When an event is, in words")
struct EventWordingTests {
  @Test(
    "a time of day is told by the user's day and its part",
    arguments: [
      (10.0, 11.99, "this morning"), (10, 12, "this afternoon"), (10, 17.99, "this afternoon"), (10, 18, "tonight"),
      (10, 23.99, "tonight"), (10, 24, "tonight"), (10, 28.99, "tonight"), (10, 29, "tomorrow morning"),
      (10, 34, "tomorrow morning"), (13, 36, "tomorrow afternoon"), (20, 42, "tomorrow evening"),
      (23, 25, "tonight"), (2, 3, "tonight"), (2, 5, "this morning"), (2, 20, "tonight"),
    ])
  func times(moment: Double, start: Double, expected: String) {
    #expect(words(at: moment, start: start) == expected)
    #expect(words(at: moment, start: start, lasting: 1) == expected)
  }

  @Test(
    "a day is today or tomorrow, whatever the hour",
    arguments: [
      (0.0, 0.0, "today"), (10, 0, "today"), (23.99, 0, "today"), (0.01, 24, "tomorrow"), (23.99, 24, "tomorrow"),
    ])
  func days(moment: Double, start: Double, expected: String) {
    #expect(words(at: moment, start: start, lasting: 24, isDayOnly: true) == expected)
  }

  @Test("more than a day is told vaguely", arguments: [(0.0, "these days"), (20, "in the coming days")])
  func periods(start: Double, expected: String) {
    #expect(words(at: 10, start: start, lasting: 168, isDayOnly: true) == expected)
    #expect(words(at: 10, start: start, lasting: 25.01) == expected)
  }

  @Test(
    "the day is that of the user's clock",
    arguments: [
      ("Etc/UTC", "tonight"), ("Asia/Karachi", "tomorrow morning"), ("Etc/GMT+9", "this afternoon"),
      ("Etc/GMT-3", "tonight"),
    ])
  func offsets(zone: String, expected: String) throws {
    // 10:00 and 24:30 UTC; five hours east the latter is 5:30 of the next day.
    #expect(words(at: 10, start: 24.5, in: try localTime(zone)) == expected)
  }

  @Test("a change of the offset counts from its instant")
  func change() throws {
    // Berlin's clocks go from 2 to 3 at 01:00 UTC of the 29th of March, 24 days and 13 hours after noon of the 4th.
    let berlin = try localTime("Europe/Berlin")
    let spring = noon.addingTimeInterval(24 * day + 13 * hour)
    #expect(berlin.hour(of: spring.addingTimeInterval(-1)) == 1)
    #expect(berlin.hour(of: spring) == 3)
    let five = EventSpan(start: spring.addingTimeInterval(2 * hour), end: spring.addingTimeInterval(3 * hour))
    let four = EventSpan(start: spring.addingTimeInterval(2 * hour - 1), end: spring.addingTimeInterval(3 * hour))
    let evening = spring.addingTimeInterval(-5 * hour)
    #expect(five.words(at: evening, in: berlin) == "tomorrow morning")
    #expect(four.words(at: evening, in: berlin) == "tonight")
  }

  @Test(
    "days are counted from 1970 and also before",
    arguments: [(-1.0, -1, 23), (0, 0, 0), (86_399.5, 0, 23), (86_400, 1, 0), (-86_400, -1, 0), (-86_401, -2, 23)])
  func civil(seconds: Double, day: Int, hour: Int) {
    let instant = Date(timeIntervalSince1970: seconds)
    #expect(LocalTime().day(of: instant) == day)
    #expect(LocalTime().hour(of: instant) == hour)
  }

  @Test("the grain follows from the length and from what was named")
  func grains() {
    #expect(Sample.span(0).grain == .instant)
    #expect(Sample.span(0, lasting: hour).grain == .partOfDay)
    #expect(Sample.span(0, lasting: day, isDayOnly: true).grain == .day)
    #expect(Sample.span(0, lasting: 25 * hour, isDayOnly: true).grain == .day)
    #expect(Sample.span(0, lasting: 25 * hour + 1, isDayOnly: true).grain == .period)
    #expect(Sample.span(0, lasting: -5).grain == .instant)
  }
}
