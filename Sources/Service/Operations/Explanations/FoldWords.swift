internal import PushStore

/// What a message did in its burst, in words.
enum FoldWords {
  /// The decision about a push to which no rule objects.
  static func verdict(_ entry: HistoryEntry) -> String {
    guard let fold = entry.fold else { return "decided: send, because no rule objects" }
    if entry.decision == .skipped {
      return "decided: no push (folded): the notification of its burst shows a newer message; +\(fold.more) more"
    }
    if entry.remaining == "held", let due = entry.dueMicroseconds {
      return "decided: held for \(TimeText.span(due)) (folding): it follows others of the burst that message"
        + " \(fold.burst) began"
    }
    return fold.sounds
      ? "decided: send with sound, because no rule objects; it begins a burst"
      : "decided: send without sound, as an update of the notification of message \(fold.burst): +\(fold.more) more"
  }

  /// The subject of a sentence about a push that was sent.
  static func push(_ entry: HistoryEntry?) -> String {
    guard let fold = entry?.fold, !fold.sounds else { return "A push" }
    return "A silent update of the notification of its burst (+\(fold.more) more)"
  }
}
