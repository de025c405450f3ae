/// Recognises temporal phrases among the lexemes of one sentence.
///
/// Each rule maps an index to the phrase that begins there and its end. A rule looks at a bounded number of lexemes
/// ahead and at one behind.
struct PhraseGrammar {
  let lexemes: [Lexeme]
  let order: NumericDateOrder
  let hasTwentyFourHours: Bool

  /// All phrases, in order and without overlap.
  func phrases() -> [TemporalPhrase] {
    var phrases: [TemporalPhrase] = []
    var index = 0
    while index < lexemes.count {
      guard let phrase = phrase(at: index) else {
        index += 1
        continue
      }
      phrases.append(phrase)
      index = phrase.lexemes.upperBound
    }
    return phrases
  }

  /// A phrase: a day, a clock time and a part of the day in any order, each at most once.
  private func phrase(at start: Int) -> TemporalPhrase? {
    var phrase = TemporalPhrase(lexemes: start..<start)
    while let longer = component(at: phrase.lexemes.upperBound, addedTo: phrase) { phrase = longer.value }
    return phrase.isEmpty ? nil : phrase
  }

  /// One more part of a phrase. A pause is only allowed between a day and its time.
  private func component(at index: Int, addedTo phrase: TemporalPhrase) -> Parsed<TemporalPhrase>? {
    if let component = dayComponent(at: index, addedTo: phrase) { return component }
    if let component = timeComponent(at: index, addedTo: phrase) { return component }
    guard phrase.day != nil, self[index]?.isPause == true else { return nil }
    return timeComponent(at: index + 1, addedTo: phrase)
  }

  private func dayComponent(at index: Int, addedTo phrase: TemporalPhrase) -> Parsed<TemporalPhrase>? {
    guard phrase.day == nil, !isDated(phrase, before: index) else { return nil }
    var phrase = phrase
    let start = isPreposition(index, continuing: !phrase.isEmpty) ? index + 1 : index
    if phrase.part == nil, let (part, offset) = self[start]?.partOfDay {
      // In "end of day tomorrow" the named day counts.
      let day = singleDay(at: start + 1) ?? Parsed(.offset(offset), end: start + 1)
      (phrase.day, phrase.part) = (day.value, part)
      return extended(phrase, to: day.end)
    }
    guard let day = day(at: start) else { return nil }
    phrase.day = day.value
    return extended(phrase, to: day.end)
  }

  private func timeComponent(at index: Int, addedTo phrase: TemporalPhrase) -> Parsed<TemporalPhrase>? {
    if case .elapsed = phrase.day { return nil }
    var phrase = phrase
    if phrase.clock == nil, let clock = clock(at: index, besideDay: phrase.day != nil) {
      phrase.clock = clock.value
      return extended(phrase, to: clock.end)
    }
    if phrase.part == nil, let part = part(at: index, besideTime: !phrase.isEmpty) {
      phrase.part = part.value
      return extended(phrase, to: part.end)
    }
    return nil
  }

  /// A count from now cannot extend another time.
  private func isDated(_ phrase: TemporalPhrase, before index: Int) -> Bool {
    !phrase.isEmpty && self[index]?.means(.ahead) == true
  }

  private func isPreposition(_ index: Int, continuing: Bool) -> Bool {
    guard let lexeme = self[index] else { return false }
    return lexeme.means(.on) || lexeme.means(.from) || lexeme.means(.between) || continuing && lexeme.means(.of)
  }

  private func extended(_ phrase: TemporalPhrase, to end: Int) -> Parsed<TemporalPhrase> {
    var phrase = phrase
    phrase.lexemes = phrase.lexemes.lowerBound..<end
    return Parsed(phrase, end: end)
  }
}

extension PhraseGrammar {
  subscript(index: Int) -> Lexeme? { lexemes.indices.contains(index) ? lexemes[index] : nil }

  func means(_ sense: WordSense, at index: Int) -> Bool { self[index]?.means(sense) == true }

  func skipping(_ sense: WordSense, at index: Int) -> Int { means(sense, at: index) ? index + 1 : index }

  func skippingPause(at index: Int) -> Int { self[index]?.isPause == true ? index + 1 : index }
}
