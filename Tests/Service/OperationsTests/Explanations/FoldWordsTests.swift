import Testing

@testable import Operations
@testable import PushStore

@Suite("What a burst did to a message, in words")
struct FoldWordsTests {
  private func told(_ folds: [HistoryEntry.Fold?], _ last: OutcomeDecision, _ reason: String? = nil) -> Told {
    var told = Told()
    for (place, fold) in folds.enumerated() {
      let isLast = place == folds.count - 1
      told.claim(
        place + 1, at: 2_000 + Int64(place) * 1_000_000, wokenBy: isLast ? "due" : "notify",
        decision: isLast ? last : .held, reason: isLast ? reason : "folding", due: isLast ? nil : 1_000_000,
        remaining: isLast ? nil : "held", attempts: isLast && last == .sent ? [Told.attempt()] : [])
      told.history[place].fold = fold
    }
    told.recipient.ledger?.history = told.history
    return told
  }

  private func fold(_ sounds: Bool, _ more: Int) -> HistoryEntry.Fold {
    .init(sounds: sounds, more: more, burst: "ab12cd34")
  }

  private func verdicts(_ told: Told) -> [String] {
    told.explanation.recipients[0].steps.filter { $0.what == .decided }.map(\.text)
  }

  @Test("the first message sounds")
  func first() {
    let told = told([fold(true, 0)], .sent)
    #expect(verdicts(told) == ["decided: send with sound, because no rule objects; it begins a burst"])
    #expect(told.sentence.hasPrefix("A push was sent: APNs accepted it for 1 device"))
  }

  @Test("a follower waits and becomes the update")
  func update() {
    let told = told([fold(false, 3), fold(false, 4)], .sent)
    #expect(
      verdicts(told) == [
        "decided: held for 1 s (folding): it follows others of the burst that message ab12cd34 began",
        "decided: send without sound, as an update of the notification of message ab12cd34: +4 more",
      ])
    #expect(
      told.sentence.hasPrefix("A silent update of the notification of its burst (+4 more) was sent: APNs accepted"))
    #expect(
      told.sentence.contains(
        "Until then it was held, because the message followed others of a burst, whose notification changes once a second at most"
      ))
  }

  @Test("a follower is shown by the newer push")
  func folded() {
    let told = told([fold(false, 3), fold(false, 4)], .skipped, "folded")
    #expect(
      verdicts(told).last
        == "decided: no push (folded): the notification of its burst shows a newer message; +4 more")
    #expect(
      told.sentence.hasPrefix(
        "No push, because the notification of its burst shows a newer message, and counts this one."))
  }

  @Test("where nothing folds the words are as they were")
  func none() {
    #expect(verdicts(told([nil], .sent)) == ["decided: send, because no rule objects"])
  }
}
