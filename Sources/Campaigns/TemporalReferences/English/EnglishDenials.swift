/// English words for what will not be, or not when it was to be.
enum EnglishDenials {
  static let vocabulary: [(meaning: WordMeaning, phrases: [String])] = [
    (
      .cancellation,
      [
        "cancelled", "canceled", "called off", "fell through", "scrapped", "is off", "not happening",
        "isn't happening", "won't happen", "won't be happening", "not going to happen", "not gonna happen",
        "no longer happening", "no longer on", "cancelled on", "canceled on", "got axed", "withdrew from",
        "dropped out of", "backed out of", "fallen through", "calling off", "called it off", "pulled out of",
        "is not on anymore", "turned down", "isn't on anymore", "not taking place",
      ]
    ),
    (
      .postponement,
      [
        "postponed", "rescheduled", "delayed", "pushed back", "pushed to", "pushed", "moved to", "moved it to",
        "moved up", "was moved", "got moved", "been moved", "is moved", "moved from", "moved up to", "moved the",
        "put off", "brought forward", "shifted to", "deferred", "on hold", "moved my", "moved our", "changed to",
        "switched to", "postponing", "pushed it to", "moving it to", "moved until", "pushed out",
      ]
    ),
    (
      .negation,
      [
        "no", "not", "isn't", "is not", "don't have", "do not have", "doesn't have", "dont have", "no longer have",
        "no more", "not having", "not going to", "won't have", "wont have", "won't be", "aren't", "wasn't",
        "without", "never", "can't make", "cannot make", "can't make it to", "won't make", "won't make it to",
        "don't have to go to", "don't need to go to", "there's no", "there is no", "got out of", "skipping",
        "never had", "didn't have", "don't have any", "haven't got", "no longer", "not attending", "missing",
        "excused from",
      ]
    ),
    (
      .determiner,
      [
        "my", "our", "any", "another", "more", "big", "important", "scheduled", "this", "that", "actual", "real",
        "to", "today", "go to", "first",
      ]
    ),
  ]
}
